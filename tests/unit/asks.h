/* Declarations as text become asks: paths as written, nothing is looked up. Every test has a world of its
 * own. */
#ifndef TESTS_ASKS_H
#define TESTS_ASKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ask.h"
#include "frontend/frontend.h"

struct world {
    struct arena arena;
    struct diag_list diags;
    struct resolve_env env;
    struct resolver resolver;
    struct ask_context context;
};

static void world_begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    arena_init(&w->arena, NULL, NULL);
    diag_init(&w->diags, &w->arena);
    w->env =
        (struct resolve_env){.base = "/base", .home = "/home/u", .work_dir = "/work", .skill_dir = "/skill"};
}

static void world_end(struct world *w)
{
    arena_done(&w->arena);
}

/* The profile `name` of a text (NULL: its first). Its diagnostics join those of the world. */
static struct ask *ask_of(struct world *w, const char *text, const char *name)
{
    struct decl_file *file = ARENA_NEW(&w->arena, struct decl_file);
    const char *kept = arena_str(&w->arena, text);
    const struct source *src = source_new(&w->arena, "t", kept, strlen(kept));
    memset(file, 0, sizeof *file);
    fe_dsl.parse(src, FE_DECLARATION, &w->arena, &w->diags, file);
    assert_true(file->n_profiles > 0);
    resolve_init(&w->resolver, &w->env, IR_LINUX, &w->arena, &w->diags);
    w->resolver.said_unresolved = w->resolver.quiet = true;
    ask_begin(&w->context, &w->arena, &w->diags, &w->resolver);
    w->context.want = WANT_NAME;
    ask_profiles(&w->context, file->profiles, file->n_profiles);
    const struct decl_profile *picked = name ? NULL : file->profiles[0];
    for (size_t i = 0; name && i < file->n_profiles && !picked; i++)
        if (file->profiles[i]->name.text && !strcmp(file->profiles[i]->name.text, name))
            picked = file->profiles[i];
    assert_non_null(picked);
    struct ask *copy = ARENA_NEW(&w->arena, struct ask);
    *copy = *ask_make(&w->context, picked);
    return copy;
}

/* How many messages have this id. */
static inline size_t count_of(const struct world *w, enum diag_id id)
{
    return w->diags.n_of[id];
}

static inline bool says(const struct world *w, enum diag_id id, const char *part)
{
    for (size_t i = 0; i < w->diags.n; i++)
        if (w->diags.items[i]->id == id && strstr(w->diags.items[i]->text, part))
            return true;
    return false;
}

/* The decision at a path as letters: "rwx", "r--". The nearest rule is looked for by the definition. */
static inline const char *at(struct world *w, const struct rule_list *l, const char *path)
{
    char out[] = "---";
    for (size_t k = 0; k < IR_ACCESS_COUNT; k++) {
        const struct ir_rule *near = NULL;
        for (size_t i = 0; i < l->n; i++) {
            const struct ir_rule *r = &l->items[i];
            bool speaks =
                r->root == IR_ROOT_SLASH && (r->allow | r->deny) & 1u << k && ir_path_within(path, r->path);
            if (speaks && (!near || r->path_len > near->path_len))
                near = r;
        }
        if (near && near->allow & 1u << k)
            out[k] = "rwx"[k];
    }
    return arena_str(&w->arena, out);
}

/* xorshift: the same numbers everywhere. */
static uint32_t seed;
static inline uint32_t draw(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % n;
}

/* ---- Random profiles over a small tree --------------------------------------------------------------------
 */

static const char *const NAMES[] = {"a", "a-", "b"};
enum {
    N_NAMES = sizeof NAMES / sizeof *NAMES,
    N_PATHS = 1 + N_NAMES + N_NAMES * N_NAMES + N_NAMES * N_NAMES * N_NAMES
};
static char paths[N_PATHS][12];
static size_t parents[N_PATHS]; /* index of the folder; of "/" itself */

static inline void make_paths(void)
{
    size_t n = 0;
    strcpy(paths[n++], "/");
    for (size_t from = 0; n < N_PATHS; from++)
        for (size_t i = 0; i < N_NAMES; i++) {
            strcat(strcat(strcpy(paths[n], from ? paths[from] : ""), "/"), NAMES[i]);
            parents[n++] = from;
        }
}

struct word {
    const char *text;
    unsigned allow, deny;
};
static const struct word WORDS[] = {
    {"read", IR_READ, 0},
    {"write", IR_READ | IR_WRITE, 0},
    {"read only", IR_READ, IR_WRITE},
    {"write-only", IR_WRITE, IR_READ | IR_EXEC},
    {"deny", 0, IR_ALL},
    {"deny write", 0, IR_WRITE},
    {"deny exec", 0, IR_EXEC},
    {"exec", IR_READ | IR_EXEC, 0},
};
enum { N_WORDS = sizeof WORDS / sizeof *WORDS, DENY_EXEC = 6, EXEC = 7 };

/* What the clauses of one profile say at each path, the exec default apart. */
struct said {
    unsigned allow[N_PATHS], deny[N_PATHS];
    bool no_exec[N_PATHS]; /* `deny exec` in so many words */
    bool weak[N_PATHS];    /* may be executed because it may be read */
};

/* Up to `most` clauses without a clash, as text in a random order. */
static inline struct said random_profile(struct world *w, uint32_t most, bool list, const char **out_text)
{
    struct said s = {0};
    const char *lines[16] = {NULL};
    size_t n = 0;
    if (list)
        lines[n++] = "exec none";
    for (uint32_t k = draw(most) + 1; k; k--) {
        size_t p = draw(N_PATHS), word = draw(list ? N_WORDS : N_WORDS - 1);
        const struct word *x = &WORDS[word];
        if (s.allow[p] & x->deny || s.deny[p] & x->allow)
            continue;
        s.allow[p] |= x->allow;
        s.deny[p] |= x->deny;
        s.no_exec[p] |= word == DENY_EXEC;
        lines[n++] = arena_printf(&w->arena, "%s \"%s%s\"", x->text, paths[p], p && draw(3) == 0 ? "/" : "");
        if (list && word == EXEC)
            lines[0] = ""; /* a list is a list without a word */
    }
    for (size_t i = n; i > 1; i--) {
        size_t j = draw((uint32_t)i);
        const char *swap = lines[i - 1];
        lines[i - 1] = lines[j];
        lines[j] = swap;
    }
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&w->arena, "%s%s; ", text, lines[i]);
    *out_text = text;
    return s;
}

/* Does a `deny exec` stand at or above, with no listed program nearer? */
static inline bool exec_is_denied(const struct said *s, size_t p)
{
    for (;; p = parents[p]) {
        if (s->no_exec[p])
            return true;
        if (s->allow[p] & IR_EXEC)
            return false;
        if (!p)
            return false;
    }
}

static inline void add_default(struct said *s)
{
    for (size_t p = 0; p < N_PATHS; p++)
        s->weak[p] = s->allow[p] & IR_READ && !(s->allow[p] & IR_EXEC) && !exec_is_denied(s, p);
}

/* By definition: for each kind the nearest path at or above that speaks of it. */
static inline const char *meant(struct world *w, const struct said *s, size_t p)
{
    char out[] = "---";
    for (size_t k = 0; k < IR_ACCESS_COUNT; k++)
        for (size_t q = p;; q = parents[q]) {
            unsigned allow = s->allow[q] | (s->weak[q] ? (unsigned)IR_EXEC : 0);
            if ((allow | s->deny[q]) & 1u << k) {
                out[k] = allow & 1u << k ? "rwx"[k] : '-';
                break;
            }
            if (!q)
                break;
        }
    return arena_str(&w->arena, out);
}

/* "same" or where two differ, so that a failure can be read. */
static inline void assert_means(struct world *w, const struct said *s, const struct rule_list *l,
                                const char *text)
{
    for (size_t p = 0; p < N_PATHS; p++) {
        const char *want = meant(w, s, p), *got = at(w, l, paths[p]);
        if (strcmp(want, got) != 0)
            fail_msg("%s: %s, not %s, by: %s", paths[p], got, want, text);
    }
}

#endif
