/* Landlock: applied by sbxrun itself, without a tool.
 *
 *   sbxrun      opens every grant, checks it and puts it into one ruleset (owners can be judged only here)
 *    `- stage   pid 1 of own PID, mount and IPC namespaces (and of a user namespace, where the caller lacks
 *       |       CAP_SYS_ADMIN): makes the view, adds the rules for what stands only there, relays
 *       `- command   drops capabilities, sets no_new_privs, enforces Landlock, installs the filter, executes
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"
#include "stage.h"
#include "sys.h"
#include "view.h"

struct own {
    int abi;
    struct sys_landlock_attr handled;
    int ruleset;
    struct view view;
    const void *filter;
    uint32_t n_filter;
    bool user_namespace;
    uid_t uid;
    gid_t gid;
};

static struct own *own_of(struct rt_run *run)
{
    return run->own;
}

/* ---- Check ------------------------------------------------------------------------------------------- */

static bool check_needs(struct rt_run *run)
{
    const struct ll_header *h = ll_header(&run->artifact);
    const struct own *own = own_of(run);
    unsigned have = LL_BY_PID_NAMESPACE; /* start() fails without */
    if (own->filter)
        have |= LL_BY_FILTER;
    if (h->flags & LL_VIEW)
        have |= LL_BY_VIEW;
    for (uint32_t i = 0; i < h->needs.count; i++) {
        const struct ll_need *n = &ll_needs(&run->artifact)[i];
        if (n->mechanisms & have || (n->min_abi && own->abi >= n->min_abi))
            continue;
        const char *what = ll_string(&run->artifact, n->clause);
        if (n->min_abi)
            return rt_fail(run, "host", "`%s` needs Landlock ABI %u; this kernel has %d", what, n->min_abi,
                           own->abi);
        return rt_fail(run, "host", "`%s` needs what this artifact does not bring for this machine", what);
    }
    return true;
}

static bool check(struct rt_run *run)
{
    struct own *own = rt_alloc(run, 1, sizeof *own);
    if (!own)
        return false;
    run->own = own;
    own->ruleset = -1;
    own->uid = geteuid();
    own->gid = getegid();
    own->user_namespace = !sys_capable(SYS_CAP_SYS_ADMIN);
    if (!run->policy.confine)
        return true;
    own->abi = sys_landlock_abi();
    if (own->abi < 0)
        return rt_fail_errno(run, errno, "host", "this kernel has no Landlock (%s)",
                             errno == EOPNOTSUPP ? "built, but not enabled at boot by lsm=" : "not built in");
    const struct ll_header *h = ll_header(&run->artifact);
    const struct sys_landlock_attr known = sys_landlock_known(own->abi);
    own->handled = (struct sys_landlock_attr){h->handled_fs & known.handled_fs,
                                              h->handled_net & known.handled_net, h->scoped & known.scoped};
    own->filter = ll_filter(&run->artifact, &own->n_filter);
    if (!own->filter)
        return rt_fail(run, "host", "the artifact holds no filter for this machine's system calls");
    return check_needs(run);
}

/* ---- Place ------------------------------------------------------------------------------------------- */

static bool sees(struct rt_run *run, const char *path)
{
    const struct ll_rule *r = ll_rules(&run->artifact);
    if (!run->policy.confine)
        return true;
    for (uint32_t i = 0; i < ll_header(&run->artifact)->rules.count; i++)
        if (r[i].root == LL_ROOT_SLASH && !(r[i].flags & (LL_PRIVATE | LL_PROC)) &&
            rt_grant_shows(path, ll_string(&run->artifact, r[i].path)))
            return true;
    return false;
}

static bool place(struct rt_run *run)
{
    return rt_place_on_host(run, sees);
}

/* ---- Prepare ----------------------------------------------------------------------------------------- */

/* A rule's rights on one object: those of a file if it is no folder, of those the ones that are handled. */
static uint64_t rights(const struct own *own, const struct ll_rule *r, const struct stat *st)
{
    uint64_t access = r->access & own->handled.handled_fs;
    return S_ISDIR(st->st_mode) ? access : access & LL_FS_OF_FILE;
}

/* False if nothing of the rule can be told to the kernel for this object, for the better. */
static bool add(const struct own *own, const struct ll_rule *r, const struct stat *st, int fd)
{
    uint64_t access = rights(own, r, st);
    return !access || !sys_landlock_add_path(own->ruleset, access, fd);
}

static bool keep(struct rt_run *run, const struct ll_rule *r, const struct stat *st)
{
    struct view *v = &own_of(run)->view;
    size_t index = (size_t)(r - ll_rules(&run->artifact));
    const struct view_object o = {ll_string(&run->artifact, r->path), st->st_dev, st->st_ino, index, -1};
    if (r->flags & LL_PRIVATE) {
        v->private[v->n_private++] = o;
        return true;
    }
    if (v->n_writable == LL_WRITABLE_MAX)
        return rt_fail(run, "view", "%s: more than %d write grants", ll_clause(run, r), (int)LL_WRITABLE_MAX);
    v->writable[v->n_writable++] = o;
    return rt_check_grant(run, st, ll_clause(run, r));
}

static bool is_missing(const struct ll_rule *r, int error)
{
    /* A link of a preset that someone else than root could have made is as good as none. */
    return (r->flags & LL_OPTIONAL && (error == ENOENT || error == ENOTDIR)) ||
           (r->flags & LL_OPTIONAL && r->flags & LL_FOLLOW && (error == ELOOP || error == EACCES));
}

static bool add_opened(struct rt_run *run, const struct ll_rule *r, int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return rt_fail_errno(run, errno, "grant", "%s", ll_clause(run, r));
    bool folder = S_ISDIR(st.st_mode);
    if ((r->type == LL_TYPE_DIR || r->flags & LL_PRIVATE) && !folder)
        return rt_fail(run, "grant", "%s is no folder here", ll_clause(run, r));
    if (r->type == LL_TYPE_FILE && folder)
        return rt_fail(run, "grant", "%s is a folder here, and was a file when compiled", ll_clause(run, r));
    if (r->flags & LL_WRITABLE && !keep(run, r, &st))
        return false;
    /* The rule for a private folder belongs to the tmpfs that will stand there. */
    if (!(r->flags & LL_PRIVATE) && !add(own_of(run), r, &st, fd))
        return rt_fail_errno(run, errno, "landlock", "%s", ll_clause(run, r));
    return true;
}

static bool add_rule(struct rt_run *run, const struct ll_rule *r)
{
    if (r->root != LL_ROOT_SLASH || r->flags & LL_PROC)
        return true; /* stands only inside the view */
    int fd = rt_open_grant(ll_string(&run->artifact, r->path), r->flags & LL_FOLLOW);
    if (fd < 0)
        return is_missing(r, errno) || rt_grant_failed(run, errno, ll_clause(run, r));
    bool ok = add_opened(run, r, fd);
    close(fd);
    return ok;
}

static bool prepare(struct rt_run *run)
{
    struct own *own = own_of(run);
    const struct ll_header *h = ll_header(&run->artifact);
    own->view.confine = run->policy.confine;
    own->view.read_only = h->flags & LL_VIEW;
    own->view.tmpdir = run->tmpdir;
    if (!run->policy.confine)
        return true;
    own->view.writable = rt_alloc(run, h->rules.count, sizeof *own->view.writable);
    own->view.private = rt_alloc(run, h->rules.count, sizeof *own->view.private);
    if (!own->view.writable || !own->view.private)
        return false;
    own->ruleset = sys_landlock_create(&own->handled);
    if (own->ruleset < 0)
        return rt_fail_errno(run, errno, "landlock", "no ruleset can be made");
    for (uint32_t i = 0; i < h->rules.count; i++)
        if (!add_rule(run, &ll_rules(&run->artifact)[i]))
            return false;
    return true;
}

/* ---- In the stage ------------------------------------------------------------------------------------ */

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

/* The caller's own ids and no others: all that an ordinary user may map. */
static bool map_ids(const struct own *own)
{
    char uid[64], gid[64];
    snprintf(uid, sizeof uid, "%lu %lu 1\n", (unsigned long)own->uid, (unsigned long)own->uid);
    snprintf(gid, sizeof gid, "%lu %lu 1\n", (unsigned long)own->gid, (unsigned long)own->gid);
    /* Without, /proc/self belongs to root where ids were changed or the program file may not be read. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", uid) &&
           write_file("/proc/self/gid_map", gid);
}

/* The rule of something that stands beneath a new root of the view: path is relative to it, "" is it. */
static bool add_inside(const struct rt_run *run, const struct ll_rule *r, int root, const char *path,
                       int control)
{
    const struct own *own = run->own;
    struct stat st;
    size_t detail = (size_t)(r - ll_rules(&run->artifact)) + 1;
    if (!*path) {
        if (fstat(root, &st) || !add(own, r, &st, root))
            return stage_report(control, STAGE_RULE, errno, detail);
        return true;
    }
    int fd = sys_openat2(root, path, O_PATH | O_CLOEXEC, SYS_RESOLVE_NO_SYMLINKS);
    bool ok = fd >= 0 ? !fstat(fd, &st) && add(own, r, &st, fd) : is_missing(r, errno);
    int error = errno;
    if (fd >= 0)
        close(fd);
    return ok || stage_report(control, STAGE_RULE, error, detail);
}

static bool add_rules_inside(const struct rt_run *run, int control)
{
    const struct own *own = run->own;
    const struct ll_rule *r = ll_rules(&run->artifact);
    for (uint32_t i = 0; i < ll_header(&run->artifact)->rules.count; i++) {
        const char *path = ll_string(&run->artifact, r[i].path);
        if (r[i].root == LL_ROOT_TMPDIR) {
            if (!add_inside(run, &r[i], own->view.tmpdir_fd, *path ? path + 1 : path, control))
                return false;
        } else if (r[i].flags & LL_PROC && !add_inside(run, &r[i], own->view.proc_fd, "", control)) {
            return false;
        }
    }
    for (size_t i = 0; i < own->view.n_private; i++)
        if (!add_inside(run, &r[own->view.private[i].rule], own->view.private[i].fd, "", control))
            return false;
    return true;
}

/* In the command's process. */
static bool confine(void *ctx, int control)
{
    const struct own *own = ((struct rt_run *)ctx)->own;
    if (!sys_drop_capabilities())
        return stage_report(control, STAGE_CAPS, errno, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return stage_report(control, STAGE_NNP, errno, 0);
    if (sys_landlock_restrict(own->ruleset))
        return stage_report(control, STAGE_LANDLOCK, errno, 0);
    if (sys_seccomp(own->filter, own->n_filter))
        return stage_report(control, STAGE_SECCOMP, errno, 0);
    return true;
}

/* Sees to it that the death of sbxrun ends this process, whenever it comes. */
static bool tie_to_parent(int control)
{
    struct pollfd fd = {.fd = control};
    /* Death before prctl sends no signal; but then the other end of the socket is closed. */
    return !prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) && !poll(&fd, 1, 0);
}

static _Noreturn void stage(struct rt_run *run, int control)
{
    struct own *own = own_of(run);
    const struct stage_plan plan = {run->argv, run->envp, run->workdir, stage_flags(run)};
    close(run->control);
    setpgid(0, 0); /* what is sent to sbxrun's whole job is not for us: we are told */
    /* The mapping changes credentials, which would clear the death signal. */
    if (own->user_namespace && !map_ids(own))
        stage_report(control, STAGE_IDS, errno, 0);
    else if (!tie_to_parent(control))
        stage_report(control, STAGE_PARENT, errno, 0);
    else if (view_make(&own->view, control) && (!run->policy.confine || add_rules_inside(run, control)))
        stage_run(&plan, control, run->policy.confine ? confine : NULL, run);
    _exit(RT_EXIT_REFUSED);
}

/* ---- Start ------------------------------------------------------------------------------------------- */

static bool start(struct rt_run *run)
{
    const struct own *own = own_of(run);
    int other;
    if (!rt_control(run, &other))
        return false;
    unsigned long namespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
    pid_t pid = sys_clone(namespaces | (own->user_namespace ? CLONE_NEWUSER : 0u));
    int error = errno;
    if (!pid)
        stage(run, other);
    close(other);
    if (own->ruleset >= 0)
        close(own->ruleset);
    if (pid < 0)
        return rt_fail_errno(run, error, "cannot-kill-all",
                             "no PID namespace can be made%s, so processes could outlive the run",
                             own->user_namespace ? " (no user namespace for an ordinary user)" : "");
    run->child = pid;
    return true;
}

static const char *detail(struct rt_run *run, uint32_t number)
{
    if (!run->policy.confine || number > ll_header(&run->artifact)->rules.count)
        return "";
    return ll_clause(run, &ll_rules(&run->artifact)[number - 1]);
}

const struct rt_engine rt_engine_landlock = {
    .target = "landlock",
    .load = ll_load,
    .check = check,
    .place = place,
    .prepare = prepare,
    .start = start,
    .detail = detail,
};
