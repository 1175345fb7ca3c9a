/* bubblewrap: the words of the artifact, checked, and handed on in another form.
 *
 * bwrap resolves the source of a bind by path and follows links, so the file is never given to it as it is.
 * sbxrun opens every source itself and passes --bind-fd and --ro-bind-fd; bwrap checks that it mounted that
 * very object. What bwrap starts is not the command but sbxrun's own stage, as pid 1: bwrap ends with 1 for
 * everything that goes wrong, the stage tells what it was, passes signals on, and takes the environment and
 * the command line from a memory file, so that neither shows in /proc of the host. bwrap itself runs with an
 * empty environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../artifact.h"
#include "../filters.h"
#include "engine_bwrap.h"
#include "runtime.h"
#include "stage.h"
#include "sys.h"

/* Descriptors inside bwrap, besides the stage's and BWRAP_FILTER_FD. */
enum { ARGS_FD = 12, FIRST_GRANT_FD = 16 };
#define ARGS_FD_TEXT "12"

/* One bind of the file. */
struct grant {
    enum bw_word word;
    const char *dest;
    int fd;    /* O_PATH; -1: optional, and not there */
    int as_fd; /* its number inside bwrap */
};

struct own {
    struct bwrap_words words;
    struct grant *grants;
    size_t n_grants;
    const char *home; /* $TMPDIR/home */
    struct rt_fd *fds;
    size_t n_fds;
};

static const char *const PLACES[] = {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", NULL};

static const char *const TEXT[BW_WORD_COUNT] = {
#define X(id, word, first, second, place, confined, core) [id] = word,
    BWRAP_WORDS(X)
#undef X
};

/* ---- Load -------------------------------------------------------------------------------------------- */

static bool load(struct rt_run *run)
{
    struct own *own = rt_alloc(run, 1, sizeof *own);
    if (!own)
        return false;
    run->own = own;
    const char *data = (const char *)run->artifact.data;
    const char *wrong = bwrap_check(data, run->artifact.len, &own->words);
    if (!wrong)
        wrong = bwrap_check_counts(&own->words, run->policy.confine, !strcmp(run->policy.network, "none"));
    /* Both readers must have found the same end of the words. */
    if (!wrong && own->words.end != data + run->artifact.body_end)
        wrong = "the run section begins in two places";
    if (wrong)
        return rt_fail(run, "artifact", "not a file that sbxc wrote: %s", wrong);
    return true;
}

/* ---- Check ------------------------------------------------------------------------------------------- */

static bool needs(const struct own *own, int word)
{
    return own->words.n_of[word] && word != BW_SETENV && !bwrap_is_bind((enum bw_word)word);
}

static bool check(struct rt_run *run)
{
    struct own *own = run->own;
    const char *help = bwrap_help(run);
    if (!help)
        return false;
    /* The version says little: Debian 12's 0.8.0 has what came with 0.10.0. */
    if (!bwrap_help_has(help, "--bind-fd") || !bwrap_help_has(help, "--ro-bind-fd"))
        return rt_fail(run, "bwrap",
                       "%s has no --bind-fd (0.10.0): a granted path could be exchanged before it is mounted",
                       run->tool);
    static const char *const ALWAYS[] = {"--args", "--as-pid-1", "--dev-bind"};
    for (size_t i = 0; i < sizeof ALWAYS / sizeof *ALWAYS; i++)
        if (!bwrap_help_has(help, ALWAYS[i]))
            return rt_fail(run, "bwrap", "%s has no %s", run->tool, ALWAYS[i]);
    for (int i = 0; i < BW_WORD_COUNT; i++)
        if (needs(own, i) && !bwrap_help_has(help, TEXT[i]))
            return rt_fail(run, "bwrap", "%s has no %s", run->tool, TEXT[i]);
    if (run->policy.confine && !filter_find(run->policy.network, SYS_AUDIT_ARCH))
        return rt_fail(run, "seccomp", "no filter is built in for network %s", run->policy.network);
    return true;
}

/* ---- Grants ------------------------------------------------------------------------------------------ */

static bool is_optional(enum bw_word word)
{
    return word == BW_BIND_TRY || word == BW_RO_BIND_TRY || word == BW_DEV_BIND_TRY;
}

static bool is_dev(enum bw_word word)
{
    return word == BW_DEV_BIND || word == BW_DEV_BIND_TRY;
}

static bool is_read(enum bw_word word)
{
    return word == BW_RO_BIND || word == BW_RO_BIND_TRY;
}

static const char *clause(struct rt_run *run, const struct bwrap_item *item)
{
    const char *text = rt_printf(run, "%s \"%s\"", is_read(item->word) ? "read" : "write", item->second);
    return text ? text : "a grant";
}

/* What a grant was when it was compiled it must still be: a file that has become a folder would grant more.
 */
static bool check_type(struct rt_run *run, const struct bwrap_item *item, const struct stat *st, bool any)
{
    size_t n = strlen(item->first);
    bool folder = item->first[n - 1] == '/';
    if (is_dev(item->word) && !folder && !S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode))
        return rt_fail(run, "grant", "%s: it is no device", clause(run, item));
    if (folder && !S_ISDIR(st->st_mode))
        return rt_fail(run, "grant", "%s: it is no folder any more", clause(run, item));
    if (!folder && !any && S_ISDIR(st->st_mode))
        return rt_fail(run, "grant", "%s: it has become a folder", clause(run, item));
    return true;
}

static bool open_grant(struct rt_run *run, const struct bwrap_item *item, struct grant *g)
{
    size_t n = strlen(item->second);
    /* Presets are read, optional, and were not looked at when compiling: no final slash. They may be links.
     */
    bool preset = item->word == BW_RO_BIND_TRY && !item->first[n];
    *g = (struct grant){.word = item->word, .dest = item->second, .fd = rt_open_grant(item->second, preset)};
    if (g->fd < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        if ((is_optional(item->word) && missing) || (preset && (errno == ELOOP || errno == EACCES)))
            return true;
        return rt_grant_failed(run, errno, clause(run, item));
    }
    struct stat st;
    if (fstat(g->fd, &st))
        return rt_fail_errno(run, errno, "grant", "%s", clause(run, item));
    if (!check_type(run, item, &st, preset))
        return false;
    if (is_read(item->word) || !run->policy.confine)
        return true;
    return rt_check_grant(run, &st, clause(run, item));
}

static size_t count_binds(const struct own *own)
{
    size_t n = 0;
    for (int i = 0; i < BW_WORD_COUNT; i++)
        if (bwrap_is_bind((enum bw_word)i))
            n += own->words.n_of[i];
    return n;
}

/* Every grant is a descriptor here and, for a moment, three in the child. Only a policy of hundreds of grants
 * gets here; its command then sees the higher soft limit too. */
static bool raise_limit(struct rt_run *run, size_t n)
{
    struct rlimit limit;
    rlim_t need = 3 * n + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return rt_fail_errno(run, errno, "grant", "the limit of open files cannot be read");
    if (limit.rlim_cur >= need)
        return true;
    if (limit.rlim_max < need)
        return rt_fail(run, "grant", "%zu grants need %llu open files, the hard limit is %llu", n,
                       (unsigned long long)need, (unsigned long long)limit.rlim_max);
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return rt_fail_errno(run, errno, "grant", "the limit of open files cannot be raised");
    return true;
}

static bool open_grants(struct rt_run *run)
{
    struct own *own = run->own;
    size_t n = count_binds(own);
    own->grants = rt_alloc(run, n + 1, sizeof *own->grants);
    if (!own->grants || !raise_limit(run, n))
        return false;
    struct bwrap_words words = own->words;
    struct bwrap_item item;
    while (bwrap_next(&words, &item)) {
        if (!bwrap_is_bind(item.word))
            continue;
        struct grant *g = &own->grants[own->n_grants++];
        if (!open_grant(run, &item, g))
            return false;
        g->as_fd = FIRST_GRANT_FD + (int)(g - own->grants);
    }
    return true;
}

/* ---- Place ------------------------------------------------------------------------------------------- */

static bool sees(struct rt_run *run, const char *path)
{
    const struct own *own = run->own;
    for (size_t i = 0; i < own->n_grants; i++)
        if (own->grants[i].fd >= 0 && rt_grant_shows(path, own->grants[i].dest))
            return true;
    return false;
}

static bool place(struct rt_run *run)
{
    return open_grants(run) && rt_place_on_host(run, sees);
}

/* ---- Words for bwrap --------------------------------------------------------------------------------- */

struct out {
    char *data;
    size_t len, cap;
};

static void put(struct out *o, const char *word)
{
    size_t n = strlen(word) + 1;
    if (o->len + n <= o->cap)
        memcpy(o->data + o->len, word, n);
    o->len += n;
}

static void put_grant(struct out *o, const struct grant *g)
{
    char number[16];
    if (g->fd < 0)
        return;
    /* There is no --dev-bind-fd. Devices stand where only root can exchange them. */
    if (is_dev(g->word)) {
        put(o, "--dev-bind");
        put(o, g->dest);
    } else {
        snprintf(number, sizeof number, "%d", g->as_fd);
        put(o, is_read(g->word) ? "--ro-bind-fd" : "--bind-fd");
        put(o, number);
    }
    put(o, g->dest);
}

static void put_private(struct out *o, const char *mode, const char *word, const char *dest)
{
    put(o, "--perms");
    put(o, mode);
    put(o, word);
    put(o, dest);
}

/* The private TMPDIR goes where it was placed for this run, after all grants: none lies there, but "/" may be
 * one. */
static void put_tmpdir(struct rt_run *run, struct out *o)
{
    const struct own *own = run->own;
    put_private(o, "0700", "--tmpfs", run->tmpdir);
    put_private(o, "0700", "--dir", own->home);
}

/* What is not handed on:
 *   - the file's own TMPDIR, since it may be elsewhere for this run;
 *   - a new session where there is a terminal: the command stays, and the filter refuses what it could do to
 * it;
 *   - die-with-parent. The stage ends with the control socket, and everything with the stage. A signal at the
 *     death of sbxrun could hit bwrap between clone and the first word to its child (as of 0.8.0), which
 *     would then wait for that word for ever. */
static bool is_replaced(const struct rt_run *run, const struct bwrap_item *item)
{
    if (item->word == BW_TMPFS)
        return run->policy.tmpdirs.n && !strcmp(item->first, run->policy.tmpdirs.items[0]);
    return item->word == BW_DIR || item->word == BW_DIE_WITH_PARENT ||
           (item->word == BW_NEW_SESSION && run->terminal);
}

static void put_item(struct out *o, const struct bwrap_item *item, const char *mode)
{
    if (item->word == BW_TMPFS) {
        put_private(o, mode, TEXT[item->word], item->first);
        return;
    }
    put(o, TEXT[item->word]);
    if (item->first)
        put(o, item->first);
    if (item->second)
        put(o, item->second);
}

/* Everything of the file but the environment, which the stage sets. */
static bool write_words(struct rt_run *run, struct out *o)
{
    struct own *own = run->own;
    struct bwrap_words words = own->words;
    struct bwrap_item item;
    const struct grant *g = own->grants;
    const char *mode = NULL;
    bool placed = !run->policy.confine;
    put(o, "--as-pid-1");
    while (bwrap_next(&words, &item)) {
        if (!placed && (item.word == BW_SYMLINK || item.word == BW_REMOUNT_ROOT)) {
            put_tmpdir(run, o);
            placed = true;
        }
        if (item.word == BW_PERMS)
            mode = item.first;
        else if (bwrap_is_bind(item.word))
            put_grant(o, g++);
        else if (item.word != BW_SETENV && !is_replaced(run, &item))
            put_item(o, &item, mode);
    }
    if (!placed)
        put_tmpdir(run, o);
    if (o->len > o->cap)
        return rt_fail(run, "bwrap", "the words do not fit");
    return true;
}

static int words_fd(struct rt_run *run)
{
    struct own *own = run->own;
    struct out o = {0};
    own->home = rt_printf(run, "%s/home", run->tmpdir ? run->tmpdir : "");
    if (!own->home)
        return -1;
    /* A bind grows by the option's name and a number, but loses its source; TMPDIR comes anew. */
    o.cap = run->artifact.len + own->words.n_words * 16 + 2 * strlen(own->home) + 128;
    o.data = rt_alloc(run, o.cap, 1);
    if (!o.data || !write_words(run, &o))
        return -1;
    return rt_memfd(run, "sbx-words", o.data, o.len);
}

/* ---- Device sinks ------------------------------------------------------------------------------------ */

static bool make_read_only(int object)
{
    int tree = sys_clone_tree(object);
    bool ok = tree >= 0 && !sys_mount_setattr(tree, "", SYS_ATTR_RDONLY, 0) && !sys_put_tree(tree, object);
    int error = errno;
    if (tree >= 0)
        close(tree);
    errno = error;
    return ok;
}

/* Who owns the node of a sink could change its mode or owner, and that for the whole host: as root, the command.
 * A device on a read-only mount is written all the same, but bwrap makes nodev what it makes read-only. What a
 * mount is already stays when bwrap copies it: so each sink becomes one, in a namespace of sbxrun's own. */
static bool keep_sinks(struct rt_run *run)
{
    static const char *const SINKS[] = {ARTIFACT_SINKS};
    bool apart = false;
    for (size_t i = 0; i < sizeof SINKS / sizeof *SINKS; i++) {
        struct stat st;
        int fd = open(SINKS[i], O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue; /* not granted either */
        bool ok = !fstat(fd, &st);
        if (ok && st.st_uid == geteuid()) {
            if (!apart)
                apart = ok = !unshare(CLONE_NEWNS) && !sys_mount_setattr(AT_FDCWD, "/", 0, MS_PRIVATE);
            /* Opened anew: the first one stands in the namespace that was left. */
            close(fd);
            fd = ok ? open(SINKS[i], O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
            ok = fd >= 0 && make_read_only(fd);
        }
        int error = errno;
        if (fd >= 0)
            close(fd);
        if (!ok)
            return rt_fail_errno(run, error, "view", "the mode and owner of %s cannot be kept from the command", SINKS[i]);
    }
    return true;
}

/* ---- Prepare and start ------------------------------------------------------------------------------- */

static bool pass(struct rt_run *run, int from, int to)
{
    struct own *own = run->own;
    if (from < 0)
        return false;
    own->fds[own->n_fds++] = (struct rt_fd){from, to};
    return true;
}

static bool pass_filter(struct rt_run *run)
{
    if (!run->policy.confine)
        return true;
    const struct filter_program *f = filter_find(run->policy.network, SYS_AUDIT_ARCH);
    /* An element is a struct sock_filter: little-endian, as on both architectures. */
    return pass(run, rt_memfd(run, "sbx-filter", f->code, f->count * sizeof *f->code), BWRAP_FILTER_FD);
}

static bool prepare(struct rt_run *run)
{
    struct own *own = run->own;
    const unsigned seal = run->policy.confine ? STAGE_SEALED : 0u;
    const struct stage_plan plan = {run->argv, run->envp, run->workdir, stage_flags(run) | seal};
    own->fds = rt_alloc(run, own->n_grants + 8, sizeof *own->fds);
    if (!own->fds || (run->policy.confine && !keep_sinks(run)))
        return false;
    int other;
    if (!rt_control(run, &other) || !pass(run, other, STAGE_CONTROL_FD))
        return false;
    if (!pass(run, stage_plan_fd(run, &plan), STAGE_PLAN_FD) || !pass(run, rt_self(run), STAGE_EXEC_FD))
        return false;
    if (!pass_filter(run) || !pass(run, words_fd(run), ARGS_FD))
        return false;
    for (size_t i = 0; i < own->n_grants; i++) {
        const struct grant *g = &own->grants[i];
        if (g->fd >= 0 && !is_dev(g->word) && !pass(run, g->fd, g->as_fd))
            return false;
    }
    return true;
}

static bool start(struct rt_run *run)
{
    static const char *const ARGV[] = {"bwrap",         "--args",   ARGS_FD_TEXT, "--",
                                       STAGE_EXEC_PATH, STAGE_NAME, NULL};
    static char *const NO_ENVIRONMENT[] = {NULL};
    const struct own *own = run->own;
    bool ok =
        rt_spawn(run, run->tool_fd, run->tool, (char *const *)ARGV, NO_ENVIRONMENT, own->fds, own->n_fds);
    /* Of the control socket only the stage's copy may stay open: its end is how the other side is missed. */
    close(own->fds[0].from);
    return ok;
}

/* bwrap and what it has forked are one process group (rt_spawn), until the stage gets a session of its own: that
 * one finds the control socket shut before it starts anything. */
static void kill_all(struct rt_run *run)
{
    siginfo_t info;
    if (run->control >= 0)
        shutdown(run->control, SHUT_WR);
    if (run->stage >= 0)
        sys_pidfd_kill(run->stage, SIGKILL);
    /* Not yet waited for: the number is still its own. */
    if (run->child > 0 && !waitid(P_PID, (id_t)run->child, &info, WEXITED | WNOHANG | WNOWAIT))
        kill(-run->child, SIGKILL);
}

const struct rt_engine rt_engine_bwrap = {
    .target = "bwrap",
    .places = PLACES,
    .load = load,
    .check = check,
    .place = place,
    .prepare = prepare,
    .start = start,
    .kill = kill_all,
};
