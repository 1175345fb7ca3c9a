"""A shell with job control, as small as can be, and what it sees of sbxrun as its job.

    job.py SCENARIO SBXRUN ARTIFACT

Prints nothing if all is as it should be, else why not. Bounded by an alarm.
"""
import fcntl
import os
import pty
import signal
import sys
import termios
import time

LIMIT = 20
LINE = ["/bin/sh", "-c", "echo ready; read line; echo got $line"]


class Shell:
    """Leader of a session with a terminal of its own; it types into that terminal too."""

    def __init__(self, sbxrun, artifact):
        self.sbxrun, self.artifact = sbxrun, artifact
        os.setsid()
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        os.set_blocking(self.master, False)
        os.dup2(slave, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        self.seen = b""

    def start(self, command, options=(), foreground=True, own_group=True):
        pid = os.fork()
        if not pid:
            if own_group:
                os.setpgid(0, 0)
                if foreground:
                    os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.dup2(0, 1)
            os.dup2(0, 2)
            os.execv(self.sbxrun, [self.sbxrun, *options, self.artifact, "--", *command])
        return pid

    def type(self, keys):
        os.write(self.master, keys)

    def wait_for(self, text):
        while text not in self.seen:
            try:
                self.seen += os.read(self.master, 4096)
            except BlockingIOError:
                time.sleep(0.01)
        self.seen = b""

    def take_terminal(self):
        os.tcsetpgrp(0, os.getpgrp())

    def has_terminal(self):
        return os.tcgetpgrp(0) == os.getpgrp()

    def resume(self, pid):
        os.tcsetpgrp(0, pid)
        os.killpg(pid, signal.SIGCONT)


def state(pid):
    """Its end or stop, as the status of a shell."""
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return "stopped"
    return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def want(what, got, wanted):
    if got != wanted:
        raise AssertionError("%s: %s, not %s" % (what, got, wanted))


def stop_and_go_on(shell):
    """Ctrl-Z stops the job, `fg` goes on with it, twice; then its end gives the terminal back."""
    pid = shell.start(LINE)
    shell.wait_for(b"ready")
    for _ in range(2):
        shell.type(b"\x1a")
        want("after Ctrl-Z", state(pid), "stopped")
        shell.take_terminal()
        shell.resume(pid)
        time.sleep(0.2)
    shell.type(b"word\n")
    shell.wait_for(b"got word")
    want("the end", state(pid), 0)


def interrupt(shell):
    # exec: dash loses a signal that comes while it forks.
    pid = shell.start(["/bin/sh", "-c", "echo ready; exec sleep 60"])
    shell.wait_for(b"ready")
    shell.type(b"\x03")
    want("after Ctrl-C", state(pid), 130)


def stop_by_itself(shell):
    """SIGSTOP stops the job, since there is a shell to continue it."""
    pid = shell.start(["/bin/sh", "-c", "kill -STOP $$; exit 7"])
    want("after SIGSTOP", state(pid), "stopped")
    shell.take_terminal()
    shell.resume(pid)
    want("the end", state(pid), 7)


def deadline_while_stopped(shell):
    """A job that is stopped ends at its deadline, and leaves the terminal to whoever has it."""
    pid = shell.start(["/bin/sh", "-c", "kill -STOP $$; exit 7"], ["--timeout", "1s"])
    want("after SIGSTOP", state(pid), "stopped")
    shell.take_terminal()
    want("at the deadline", state(pid), 124)
    want("the shell has the terminal", shell.has_terminal(), True)


def deadline_while_sbxrun_is_stopped(shell):
    """By someone else, alone."""
    pid = shell.start(["/bin/sh", "-c", "echo ready; sleep 60"], ["--timeout", "1s"])
    shell.wait_for(b"ready")
    os.kill(pid, signal.SIGSTOP)
    want("after SIGSTOP", state(pid), "stopped")
    want("at the deadline", state(pid), 124)


def background(shell):
    """A job in the background that reads is stopped, and takes the terminal from nobody."""
    shell.take_terminal()
    pid = shell.start(LINE, foreground=False)
    want("when it reads", state(pid), "stopped")
    want("the shell has the terminal", shell.has_terminal(), True)
    shell.resume(pid)
    time.sleep(0.2)
    shell.type(b"word\n")
    shell.wait_for(b"got word")
    want("the end", state(pid), 0)


def killed_while_stopped(shell):
    pid = shell.start(["/bin/sh", "-c", "setsid sleep 60.%d & kill -STOP $$" % os.getpid()])
    want("after SIGSTOP", state(pid), "stopped")
    os.kill(pid, signal.SIGKILL)
    want("the end", state(pid), 137)


def orphan(shell):
    """Nobody could continue it: Ctrl-Z is as good as ignored, and a deadline is kept whatever is stopped."""
    pid = shell.start(LINE, own_group=False)
    shell.wait_for(b"ready")
    shell.type(b"\x1a")
    time.sleep(0.3)
    shell.type(b"word\n")
    shell.wait_for(b"got word")
    want("the end", state(pid), 0)
    begun = time.monotonic()
    pid = shell.start(["/bin/sh", "-c", "kill -STOP $$"], ["--timeout", "1s"], own_group=False)
    want("at the deadline", state(pid), 124)
    want("in time", time.monotonic() - begun < 6, True)
    pid = shell.start(["/bin/sh", "-c", "echo ready; kill -STOP $$; exit 7"], own_group=False)
    shell.wait_for(b"ready")
    time.sleep(0.3)
    os.kill(pid, signal.SIGWINCH)  # no reason to go on
    time.sleep(0.3)
    os.kill(pid, signal.SIGTERM)
    want("after SIGTERM", state(pid), 143)


SCENARIOS = [stop_and_go_on, interrupt, stop_by_itself, deadline_while_stopped, deadline_while_sbxrun_is_stopped,
             background, killed_while_stopped, orphan]


def main():
    scenario = {s.__name__: s for s in SCENARIOS}[sys.argv[1]]
    # The session's leader is orphaned like its group: its parent is of another session.
    pid = os.fork()
    if pid:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
        signal.alarm(LIMIT)
        status = os.waitpid(pid, 0)[1]
        if os.WIFSIGNALED(status):
            print("no end within %d s" % LIMIT)
        return
    said = os.dup(1)
    try:
        scenario(Shell(*sys.argv[2:]))
    except AssertionError as e:
        os.write(said, str(e).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
