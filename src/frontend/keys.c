#include "keys.h"

#include <string.h>

#include "../env_names.h"
#include "../units.h"

static bool is_word(const struct key_value *v, const char *word)
{
    return v->len == strlen(word) && !memcmp(v->text, word, v->len);
}

static const char *shown(struct key_builder *b, const struct key_value *v)
{
    return diag_escape(b->arena, v->text, v->len < 80 ? v->len : 80);
}

static void bad_value(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    struct diag *d = diag_add(b->diags, DIAG_BAD_VALUE, v->span, "`%s` cannot be the value of %s", shown(b, v),
                              k->dsl ? k->dsl : k->yaml);
    diag_hint(b->diags, d, "write %s", k->expect);
}

/* ---- Setters: one for each kind of value --------------------------------------------------------------- */

static struct ir_text keep_text(struct key_builder *b, const struct key_value *v)
{
    return (struct ir_text){arena_strn(b->arena, v->text, v->len), v->span};
}

/* Names and images stand in artifacts, labels and messages on one line. */
static bool printable(const struct key_value *v)
{
    if (!v->len)
        return false;
    for (size_t i = 0; i < v->len; i++)
        if ((unsigned char)v->text[i] < 0x20 || v->text[i] == 0x7f)
            return false;
    return true;
}

static void set_name(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    if (!printable(v)) {
        struct diag *d = diag_add(b->diags, DIAG_BAD_NAME, v->span, "a profile's name is one line of text");
        diag_hint(b->diags, d, "write a name such as `purge`");
        return;
    }
    b->profile->name = keep_text(b, v);
}

static void set_description(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    b->profile->description = keep_text(b, v);
}

static void set_image(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    bool ok = printable(v) && v->text[0] != '-' && !memchr(v->text, ' ', v->len);
    if (!ok)
        bad_value(b, k, v);
    else
        b->profile->image = keep_text(b, v);
}

static void set_system(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    if (is_word(v, "standard") || is_word(v, "minimal") || is_word(v, "none"))
        b->profile->preset = keep_text(b, v);
    else
        bad_value(b, k, v);
}

static void set_env_preset(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    if (!is_word(v, "standard") && !is_word(v, "none")) {
        bad_value(b, k, v);
        return;
    }
    /* `env none` and `env { preset: none }` say the same thing, so neither row alone can count them. */
    if (b->profile->env_preset.text) {
        struct diag *d = diag_add(b->diags, DIAG_DUPLICATE_KEY, v->span, "the preset of env is said twice");
        diag_also(b->diags, d, b->profile->env_preset.span, "first said here");
        return;
    }
    b->profile->env_preset = keep_text(b, v);
}

static void set_trust(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    if (!is_word(v, "core") && !is_word(v, "external")) {
        bad_value(b, k, v);
        return;
    }
    b->profile->trust = is_word(v, "core") ? DECL_TRUST_CORE : DECL_TRUST_EXTERNAL;
    b->profile->trust_span = v->span;
}

/* Words that people write for "no network" in other tools; none of them may open it. */
static const char *network_meant(const struct key_value *v)
{
    static const char *const closed[] = {"no", "off", "No", "NO", "Off", "OFF", "n", "None", "NONE", "False", "FALSE", "null"};
    static const char *const opened[] = {"yes", "on", "Yes", "YES", "On", "ON", "y", "Open", "OPEN", "True", "TRUE", "all"};
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (is_word(v, closed[i]))
            return "none";
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (is_word(v, opened[i]))
            return "open";
    return NULL;
}

static void set_network(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    bool robot = b->dialect == KEY_ROBOT_LAB;
    bool open = !v->quoted && is_word(v, "true"), none = !v->quoted && is_word(v, "false");
    if (!robot) {
        open |= is_word(v, "open");
        none |= is_word(v, "none");
    }
    if (!open && !none) {
        struct diag *d = diag_add(b->diags, DIAG_BAD_VALUE, v->span, "`%s` cannot be the value of %s", shown(b, v), k->dsl);
        const char *meant = network_meant(v);
        if (robot)
            diag_hint(b->diags, d, "write true or false");
        else if (meant)
            diag_hint(b->diags, d, "did you mean `%s`?", meant);
        else
            diag_hint(b->diags, d, "write %s", k->expect);
        return;
    }
    b->profile->network_said = true;
    b->profile->network = open ? IR_NETWORK_OPEN : IR_NETWORK_NONE;
    b->profile->network_span = v->span;
}

static void set_timeout(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    uint64_t ms = 0;
    const char *why = NULL;
    if (b->dialect == KEY_ROBOT_LAB)
        why = v->quoted ? "a number of seconds is not a string" : units_seconds(v->text, v->len, &ms);
    else if (!is_word(v, "none"))
        why = units_duration(v->text, v->len, &ms);
    if (why) {
        struct diag *d = diag_add(b->diags, DIAG_BAD_DURATION, v->span, "`%s` is no duration: %s", shown(b, v), why);
        diag_hint(b->diags, d, "write %s",
                  b->dialect == KEY_ROBOT_LAB ? "a whole number of seconds, such as 60" : k->expect);
        return;
    }
    b->profile->timeout_said = true;
    b->profile->timeout_ms = ms;
    b->profile->timeout_span = v->span;
}

static void add_path(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    struct decl_profile *p = b->profile;
    p->paths = arena_grow(b->arena, p->paths, &p->cap_paths, p->n_paths + 1, sizeof *p->paths);
    p->paths[p->n_paths++] = (struct decl_path){.text = v->text,
                                                .len = (uint32_t)v->len,
                                                .allow = (uint8_t)k->allow,
                                                .flags = (uint8_t)v->path_flags,
                                                .span = v->span};
}

/* The fs_ spelling is robot_lab's; there `fs_write` may not mean reading, here it does, and says so. */
static void add_fs_write(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    add_path(b, k, v);
    if (!b->said_implied_read)
        diag_add(b->diags, DIAG_IMPLIED_READ, v->span, "fs_write is taken as `write`, which also allows reading");
    b->said_implied_read = true;
}

static const char *name_problem(const struct key_value *v, bool glob)
{
    if (!v->len)
        return "it is empty";
    if (memchr(v->text, '=', v->len))
        return "it holds `=`";
    if (!printable(v))
        return "it holds a control character";
    const char *star = memchr(v->text, '*', v->len);
    if (star && (!glob || star != v->text + v->len - 1))
        return glob ? "`*` stands only at its end" : "it holds `*`";
    return NULL;
}

static bool check_name(struct key_builder *b, const struct key_value *v, bool glob)
{
    const char *why = name_problem(v, glob);
    if (!why)
        return true;
    struct diag *d = diag_add(b->diags, DIAG_BAD_NAME, v->span, "`%s` is no name of a variable: %s", shown(b, v), why);
    diag_hint(b->diags, d, glob ? "write a name such as API_KEY, or a prefix such as \"LC_*\""
                                : "write a name such as API_KEY");
    return false;
}

static void add_env_allow(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    struct decl_profile *p = b->profile;
    if (!check_name(b, v, true))
        return;
    const char *name = arena_strn(b->arena, v->text, v->len);
    if (v->text[v->len - 1] == '*' && env_names_loader(name)) {
        struct diag *d = diag_add(b->diags, DIAG_BAD_NAME, v->span, "`%s` stands for variables of loaders only", shown(b, v));
        diag_hint(b->diags, d, "name each of them, such as LD_LIBRARY_PATH");
        return;
    }
    p->env_allow = arena_grow(b->arena, p->env_allow, &p->cap_env_allow, p->n_env_allow + 1, sizeof *p->env_allow);
    p->env_allow[p->n_env_allow++] = (struct ir_env_name){name, v->span};
}

static void add_env_set(struct key_builder *b, const struct key_value *name, const struct key_value *v)
{
    struct decl_profile *p = b->profile;
    if (!check_name(b, name, false))
        return;
    if (memchr(v->text, '\0', v->len)) {
        diag_add(b->diags, DIAG_BAD_BYTE, v->span, "a variable's value cannot hold a NUL byte");
        return;
    }
    p->env_set = arena_grow(b->arena, p->env_set, &p->cap_env_set, p->n_env_set + 1, sizeof *p->env_set);
    p->env_set[p->n_env_set++] = (struct ir_env_set){arena_strn(b->arena, name->text, name->len),
                                                     arena_strn(b->arena, v->text, v->len), name->span};
}

/* ---- The table ------------------------------------------------------------------------------------------ */

static const struct key key_env[] = {
    {.dsl = NULL, .yaml = "preset", .shape = KEY_SCALAR, .text = true, .scalar = set_env_preset, .expect = "standard or none"},
    {.dsl = "allow", .yaml = "allow", .shape = KEY_LIST, .text = true, .scalar = add_env_allow,
     .expect = "names of variables, such as \"API_KEY\" or \"LC_*\""},
    {.dsl = "set", .yaml = "set", .shape = KEY_PAIRS, .text = true, .pair = add_env_set, .expect = "a name and its value"},
    {0},
};

const struct key key_profile[] = {
    {.dsl = NULL, .yaml = "name", .shape = KEY_SCALAR, .text = true, .scalar = set_name, .expect = "a name"},
    {.dsl = "description", .yaml = "description", .shape = KEY_SCALAR, .text = true, .scalar = set_description,
     .expect = "one text in quotes"},
    {.dsl = "system", .yaml = "system", .shape = KEY_SCALAR, .text = true, .scalar = set_system,
     .expect = "standard, minimal or none"},
    {.dsl = "read", .yaml = "read", .shape = KEY_LIST, .path = true, .text = true, .allow = IR_READ, .scalar = add_path,
     .expect = "paths in quotes"},
    {.dsl = "write", .yaml = "write", .shape = KEY_LIST, .path = true, .text = true, .allow = IR_READ | IR_WRITE,
     .scalar = add_path, .expect = "paths in quotes"},
    {.dsl = NULL, .yaml = "fs_read", .shape = KEY_LIST, .path = true, .text = true, .allow = IR_READ, .scalar = add_path,
     .expect = "a list of paths"},
    {.dsl = NULL, .yaml = "fs_write", .shape = KEY_LIST, .path = true, .text = true, .allow = IR_READ | IR_WRITE,
     .scalar = add_fs_write, .expect = "a list of paths"},
    {.dsl = "network", .yaml = "network", .shape = KEY_SCALAR, .scalar = set_network, .expect = "none or open"},
    {.dsl = "timeout", .yaml = "timeout", .shape = KEY_SCALAR, .scalar = set_timeout,
     .expect = "a duration such as 60s, 250ms, 5m or 1h30m, or none"},
    {.dsl = "trust", .yaml = "trust", .shape = KEY_SCALAR, .text = true, .scalar = set_trust, .expect = "core or external"},
    {.dsl = "env", .yaml = "env", .shape = KEY_BLOCK, .text = true, .scalar = set_env_preset, .children = key_env,
     .expect = "standard, none, or a block of allow and set"},
    {.dsl = "image", .yaml = "image", .shape = KEY_SCALAR, .text = true, .scalar = set_image,
     .expect = "an image name such as \"debian:12\""},
    {0},
};

/* ---- Looking up ----------------------------------------------------------------------------------------- */

void keys_begin(struct key_builder *b, struct arena *a, struct diag_list *diags, struct decl_profile *p)
{
    size_t rows = sizeof key_profile / sizeof *key_profile + sizeof key_env / sizeof *key_env;
    *b = (struct key_builder){.arena = a, .diags = diags, .profile = p, .seen = arena_array(a, rows, sizeof(struct span))};
}

static const char *spelling(const struct key *k, enum key_syntax syntax)
{
    return syntax == KEY_DSL ? k->dsl : k->yaml;
}

static bool is_end(const struct key *k)
{
    return !k->dsl && !k->yaml;
}

const struct key *keys_find(const struct key *table, enum key_syntax syntax, const char *word, size_t len)
{
    for (const struct key *k = table; !is_end(k); k++) {
        const char *s = spelling(k, syntax);
        if (s && strlen(s) == len && !memcmp(s, word, len))
            return k;
    }
    return NULL;
}

void keys_unknown(struct key_builder *b, const struct key *table, enum key_syntax syntax, const struct key_value *word)
{
    const char *names[32];
    size_t n = 0;
    for (const struct key *k = table; !is_end(k) && n < sizeof names / sizeof *names; k++)
        if (spelling(k, syntax))
            names[n++] = spelling(k, syntax);
    struct diag *d = diag_add(b->diags, DIAG_UNKNOWN_KEY, word->span, "`%s` is no clause", shown(b, word));
    const char *near = diag_nearest(word->text, word->len, names, n);
    if (near) {
        diag_hint(b->diags, d, "did you mean `%s`?", near);
        return;
    }
    struct buf list = {0};
    for (size_t i = 0; i < n; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    diag_hint(b->diags, d, "clauses here are: %s", list.data ? list.data : "");
    buf_done(&list);
}

bool keys_once(struct key_builder *b, const struct key *k, struct span at)
{
    /* Blocks too: their lists go on, and their values are counted one by one. */
    if (k->shape != KEY_SCALAR)
        return true;
    /* Rows of both tables have a slot: those of env stand behind those of the profile. */
    size_t rows = sizeof key_profile / sizeof *key_profile;
    bool in_env = k >= key_env && k < key_env + sizeof key_env / sizeof *key_env;
    struct span *seen = &b->seen[in_env ? rows + (size_t)(k - key_env) : (size_t)(k - key_profile)];
    if (seen->src) {
        struct diag *d = diag_add(b->diags, DIAG_DUPLICATE_KEY, at, "%s is said twice", k->dsl ? k->dsl : k->yaml);
        diag_also(b->diags, d, *seen, "first said here");
        return false;
    }
    *seen = at;
    return true;
}

unsigned keys_path_word(const char *word, size_t len)
{
    if (len == 8 && !memcmp(word, "optional", 8))
        return DECL_OPTIONAL;
    if (len == 7 && !memcmp(word, "literal", 7))
        return DECL_LITERAL;
    return 0;
}
