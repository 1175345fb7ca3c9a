/* The command's environment: empty, then what may pass, then what is set. */
#include <string.h>

#include "runtime.h"

static const char FIXED_PATH[] = "/usr/local/bin:/usr/bin:/bin";

/* Names that make a loader, a shell or libc run or read a file of the caller's choice: never by a pattern. */
static const char *const LOADER_NAMES[] = {ARTIFACT_LOADER_NAMES};
/* Names with a value of ours. */
static const char *const OWN_NAMES[] = {ARTIFACT_OWN_NAMES};

static bool matches(const char *pattern, const char *name, size_t len)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return len >= n - 1 && !memcmp(pattern, name, n - 1);
    return len == n && !memcmp(pattern, name, n);
}

static bool in_table(const char *const *table, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (matches(table[i], name, len))
            return true;
    return false;
}
#define IN_TABLE(table, name, len) in_table(table, sizeof table / sizeof *table, name, len)

static bool may_pass(const struct rt_policy *p, const char *name, size_t len)
{
    if (matches("TMPDIR", name, len))
        return false; /* always the private one */
    bool exact_only = IN_TABLE(LOADER_NAMES, name, len) || IN_TABLE(OWN_NAMES, name, len);
    for (size_t i = 0; i < p->env_pass.n; i++) {
        const char *pattern = p->env_pass.items[i];
        bool exact = strlen(pattern) == len && !memcmp(pattern, name, len);
        if (exact || (!exact_only && matches(pattern, name, len)))
            return true;
    }
    return false;
}

/* The entry of a name in the first n of a vector, or n. */
static size_t find(char *const *envp, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(envp[i], name, len) && envp[i][len] == '=')
            return i;
    return n;
}

static size_t name_len(const char *entry)
{
    const char *equals = strchr(entry, '=');
    return equals ? (size_t)(equals - entry) : 0;
}

static bool put(struct rt_run *run, char **envp, size_t *n, const char *entry, bool replace)
{
    size_t at = find(envp, *n, entry, name_len(entry));
    if (at < *n && !replace)
        return true;
    if (!(envp[at] = rt_strn(run, entry, strlen(entry))))
        return false;
    if (at == *n)
        ++*n;
    return true;
}

static bool put_own(struct rt_run *run, char **envp, size_t *n)
{
    char *path = rt_printf(run, "PATH=%s", FIXED_PATH);
    if (!path || !put(run, envp, n, path, false))
        return false;
    if (!run->tmpdir)
        return true;
    char *tmpdir = rt_printf(run, "TMPDIR=%s", run->tmpdir);
    char *home = rt_printf(run, "HOME=%s/home", run->tmpdir);
    return tmpdir && home && put(run, envp, n, tmpdir, true) && put(run, envp, n, home, false);
}

bool rt_environment(struct rt_run *run)
{
    const struct rt_policy *p = &run->policy;
    size_t n_caller = 0, n = 0;
    while (run->caller_env[n_caller])
        n_caller++;
    char **envp =
        rt_alloc(run, n_caller + p->env_set.n + sizeof OWN_NAMES / sizeof *OWN_NAMES + 1, sizeof *envp);
    if (!envp)
        return false;
    /* An entry without name or `=` is nobody's variable; of two of one name getenv() sees the first. */
    for (size_t i = 0; i < n_caller; i++) {
        const char *entry = run->caller_env[i];
        size_t len = name_len(entry);
        if (len && (!p->confine || may_pass(p, entry, len)) && !put(run, envp, &n, entry, false))
            return false;
    }
    if (p->confine && !put_own(run, envp, &n))
        return false;
    for (size_t i = 0; i < p->env_set.n; i++)
        if (!put(run, envp, &n, p->env_set.items[i], true))
            return false;
    run->envp = envp;
    return true;
}

const char *rt_env_get(char *const *envp, const char *name)
{
    size_t n = 0, len = strlen(name);
    while (envp[n])
        n++;
    size_t at = find(envp, n, name, len);
    return at < n ? envp[at] + len + 1 : NULL;
}
