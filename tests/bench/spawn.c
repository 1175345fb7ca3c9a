/* Runs commands in turn, again and again, and prints for each the least wall time and the largest resident
 * set.
 *
 * Usage: spawn ROUNDS -- COMMAND... [-- COMMAND...]...
 * prints a line for each command: NANOSECONDS KIBIBYTES STATUS. The commands' streams are /dev/null. They
 * take turns, so that a busy machine slows all of them alike; the least of several times is what the work
 * itself takes. */
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"

enum { MAX_COMMANDS = 64 };

struct command {
    char **argv;
    uint64_t ns;
    long kib;
    int status;
};

extern char **environ;

static void run(struct command *c, const posix_spawn_file_actions_t *streams)
{
    pid_t pid;
    struct rusage used;
    int status;
    uint64_t start = bench_now_ns();
    if (posix_spawn(&pid, c->argv[0], streams, NULL, c->argv, environ) || wait4(pid, &status, 0, &used) < 0) {
        perror(c->argv[0]);
        exit(2);
    }
    uint64_t ns = bench_now_ns() - start;
    if (!c->ns || ns < c->ns)
        c->ns = ns;
    if (used.ru_maxrss > c->kib)
        c->kib = used.ru_maxrss;
    c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    static struct command commands[MAX_COMMANDS];
    size_t n = 0;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--") != 0)
            continue;
        argv[i] = NULL;
        if (n == MAX_COMMANDS || i + 1 == argc)
            return 2;
        commands[n++].argv = &argv[i + 1];
    }
    posix_spawn_file_actions_t streams;
    posix_spawn_file_actions_init(&streams);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&streams, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    for (int rounds = argc > 1 ? atoi(argv[1]) : 0; rounds > 0; rounds--)
        for (size_t i = 0; i < n; i++)
            run(&commands[i], &streams);
    posix_spawn_file_actions_destroy(&streams);
    for (size_t i = 0; i < n; i++)
        printf("%llu %ld %d\n", (unsigned long long)commands[i].ns, commands[i].kib, commands[i].status);
    return n ? 0 : 2;
}
