#include "backend.h"

#include <string.h>

const struct backend *const backends[] = {
    &be_seatbelt,
    &be_bwrap,
    &be_landlock,
    &be_docker,
};
const size_t n_backends = sizeof backends / sizeof *backends;

const struct backend *be_find(const char *name, size_t len)
{
    for (size_t i = 0; i < n_backends; i++)
        if (strlen(backends[i]->name) == len && !memcmp(backends[i]->name, name, len))
            return backends[i];
    return NULL;
}

/* What `trust core` does without: nothing is confined then. Limits, descriptors and the like it still asks
 * for. */
enum {
    CONFINES = 1 << IR_NEEDS_DENY | 1 << IR_NEEDS_READ_ONLY | 1 << IR_NEEDS_WRITE_ONLY |
               1 << IR_NEEDS_EXEC_LIST | 1 << IR_NEEDS_PATTERN | 1 << IR_NEEDS_STUB | 1 << IR_NEEDS_FLOOR |
               1 << IR_NEEDS_TMPDIR_RULE | 1 << IR_NEEDS_LATE | 1 << IR_NEEDS_LOOPBACK |
               1 << IR_NEEDS_LOOPBACK_HOST | 1 << IR_NEEDS_NETWORK_ALLOW | 1 << IR_NEEDS_UNIX_SOCKET |
               1 << IR_NEEDS_LISTEN,
};

static bool refuse(const struct backend *b, const struct ir_policy *p, struct diag_list *diags)
{
    struct ir_need needs[IR_FEATURE_COUNT];
    uint32_t held = b->holds | (p->core ? (uint32_t)CONFINES : 0);
    bool refused = false;
    ir_features(p, needs);
    for (size_t i = 0; i < IR_FEATURE_COUNT; i++) {
        if (!needs[i].needed || held & UINT32_C(1) << i)
            continue;
        diag_add(diags, DIAG_CANNOT, needs[i].at, "%s does not hold %s", b->name,
                 ir_feature_words((enum ir_feature)i));
        refused = true;
    }
    return refused;
}

bool be_emit(const struct backend *b, const struct ir_policy *p, struct arena *a, struct diag_list *diags,
             struct buf *out)
{
    if (refuse(b, p, diags))
        return false;
    bool marks = false;
    for (size_t i = 0; i < p->n_rules && !marks; i++)
        marks = !p->rules[i].allow && !p->rules[i].deny;
    if (!marks)
        return b->emit(p, a, diags, out);
    struct ir_policy q = *p;
    q.rules = arena_array(a, p->n_rules, sizeof *q.rules);
    q.n_rules = 0;
    for (size_t i = 0; i < p->n_rules; i++)
        if (p->rules[i].allow || p->rules[i].deny)
            q.rules[q.n_rules++] = p->rules[i];
    return b->emit(&q, a, diags, out);
}

const struct backend *be_by_suffix(const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < n_backends; i++) {
        size_t n = strlen(backends[i]->suffix);
        /* Longer than the suffix: a file named just ".sb" is a hidden file without one. */
        if (len > n && path[len - n - 1] != '/' && !strcmp(path + len - n, backends[i]->suffix))
            return backends[i];
    }
    return NULL;
}
