/* What this bwrap can do: the options that it lists itself. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_bwrap.h"
#include "runtime.h"
#include "sys.h"

enum { HELP_MAX = 32 * 1024 }; /* 0.11.1 prints 6 KiB */

/* In the child: stdin and stderr lead nowhere, stdout is the pipe. */
static _Noreturn void exec_help(const struct rt_run *run, int out)
{
    static const char *const ARGV[] = {"bwrap", "--help", NULL};
    static char *const NO_ENVIRONMENT[] = {NULL};
    sigset_t none;
    sigemptyset(&none);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0 ||
        sigprocmask(SIG_SETMASK, &none, NULL))
        _exit(127);
    syscall(SYS_execveat, run->tool_fd, "", ARGV, NO_ENVIRONMENT, SYS_AT_EMPTY_PATH);
    _exit(127);
}

/* Reads until the end; a tool that prints more than HELP_MAX is not bwrap. */
static bool read_all(int fd, char *text, size_t cap)
{
    size_t len = 0;
    while (len < cap) {
        ssize_t n = read(fd, text + len, cap - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (!n) {
            text[len] = '\0';
            return true;
        }
        len += (size_t)n;
    }
    return false;
}

const char *bwrap_help(struct rt_run *run)
{
    char *text = rt_alloc(run, HELP_MAX, 1);
    int ends[2];
    if (!text)
        return NULL;
    if (pipe2(ends, O_CLOEXEC)) {
        rt_fail_errno(run, errno, "bwrap", "no pipe");
        return NULL;
    }
    pid_t pid = fork();
    if (!pid)
        exec_help(run, ends[1]);
    close(ends[1]);
    bool whole = pid > 0 && read_all(ends[0], text, HELP_MAX);
    close(ends[0]);
    int status = -1;
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    if (whole && status == 0)
        return text;
    rt_fail(run, "bwrap", "%s --help does not work", run->tool);
    return NULL;
}

bool bwrap_help_has(const char *help, const char *option)
{
    size_t n = strlen(option);
    while (help) {
        help += strspn(help, " \n");
        if (!strncmp(help, option, n) && (help[n] == ' ' || help[n] == '\n'))
            return true;
        help = strchr(help, '\n');
    }
    return false;
}
