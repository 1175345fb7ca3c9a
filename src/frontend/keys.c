#include "keys.h"

#include <string.h>

#include "../env_names.h"
#include "../network.h"
#include "../units.h"

static bool is_word(const struct key_value *v, const char *word)
{
    return v->len == strlen(word) && !memcmp(v->text, word, v->len);
}

static const char *shown(struct key_builder *b, const struct key_value *v)
{
    return diag_escape(b->arena, v->text, v->len < 80 ? v->len : 80);
}

static const char *called(const struct key *k)
{
    return k->dsl ? k->dsl : k->yaml;
}

static void bad_value(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    struct diag *d =
        diag_add(b->diags, DIAG_BAD_VALUE, v->span, "`%s` cannot be the value of %s", shown(b, v), called(k));
    diag_hint(b->diags, d, "write %s", k->expect);
}

static void twice(struct key_builder *b, const char *what, struct span first, struct span at)
{
    struct diag *d = diag_add(b->diags, DIAG_DUPLICATE_KEY, at, "%s is said twice", what);
    diag_also(b->diags, d, first, "first said here");
}

/* ---- Text ----------------------------------------------------------------------------------------------- */

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

bool keys_name(struct key_builder *b, const struct key_value *v, struct ir_text *out)
{
    if (!printable(v)) {
        struct diag *d = diag_add(b->diags, DIAG_BAD_NAME, v->span, "a profile's name is one line of text");
        diag_hint(b->diags, d, "write a name such as `purge`");
        return false;
    }
    *out = keep_text(b, v);
    return true;
}

static void set_name(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    keys_name(b, v, &b->profile->name);
}

static void set_description(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    b->profile->description = keep_text(b, v);
}

/* One word of an engine's command line. */
static bool set_engine_word(struct key_builder *b, const struct key *k, const struct key_value *v, struct ir_text *out)
{
    bool ok = printable(v) && v->text[0] != '-' && !memchr(v->text, ' ', v->len);
    if (!ok)
        bad_value(b, k, v);
    else
        *out = keep_text(b, v);
    return ok;
}

static void set_image(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    set_engine_word(b, k, v, &b->profile->image);
}

static void set_user(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    set_engine_word(b, k, v, &b->profile->user);
}

static void add_use(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    struct decl_profile *p = b->profile;
    struct ir_text name;
    if (!keys_name(b, v, &name))
        return;
    p->uses = arena_grow(b->arena, p->uses, &p->cap_uses, p->n_uses + 1, sizeof *p->uses);
    p->uses[p->n_uses++] = name;
}

/* ---- Words ---------------------------------------------------------------------------------------------- */

static void set_system(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    b->profile->preset = keep_text(b, v);
}

static void set_env_preset(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    /* `env none` and `env { preset: none }` say the same thing, so neither row alone can count them. */
    if (b->profile->env_preset.text)
        twice(b, "the preset of env", b->profile->env_preset.span, v->span);
    else
        b->profile->env_preset = keep_text(b, v);
}

static void set_trust(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    b->profile->trust = is_word(v, "core") ? DECL_TRUST_CORE : DECL_TRUST_EXTERNAL;
    b->profile->trust_span = v->span;
}

static void set_exec_word(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    if (b->profile->exec != DECL_EXEC_UNSAID) {
        twice(b, called(k), b->profile->exec_span, v->span);
        return;
    }
    b->profile->exec = is_word(v, "none") ? DECL_EXEC_NONE : DECL_EXEC_DEFAULT;
    b->profile->exec_span = v->span;
}

static void set_spawn(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    b->profile->spawn_span = v->span;
}

static void set_tty(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    b->profile->tty = is_word(v, "none") ? IR_TTY_NONE : IR_TTY_INHERIT;
    b->profile->tty_span = v->span;
}

/* ---- Numbers -------------------------------------------------------------------------------------------- */

static void bad_number(struct key_builder *b, const struct key *k, const struct key_value *v, const char *why)
{
    enum diag_id id = k->type == KEY_TIME ? DIAG_BAD_DURATION : k->type == KEY_SIZE ? DIAG_BAD_SIZE : DIAG_BAD_NUMBER;
    const char *what = k->type == KEY_TIME ? "duration" : k->type == KEY_SIZE ? "size" : "number";
    struct diag *d = diag_add(b->diags, id, v->span, "`%s` is no %s: %s", shown(b, v), what, why);
    bool seconds = b->dialect == KEY_ROBOT_LAB && k->type == KEY_TIME;
    diag_hint(b->diags, d, "write %s", seconds ? "a whole number of seconds, such as 60" : k->expect);
}

static const char *read_number(struct key_builder *b, const struct key *k, const struct key_value *v, uint64_t *out)
{
    switch (k->type) {
    case KEY_TIME:
        if (b->dialect == KEY_ROBOT_LAB)
            return v->quoted ? "a number of seconds is not a string" : units_seconds(v->text, v->len, out);
        return units_duration(v->text, v->len, out);
    case KEY_SIZE:
        return units_size(v->text, v->len, out);
    case KEY_CPU:
        return units_milli(v->text, v->len, out);
    case KEY_WEIGHT:
        return units_count(v->text, v->len, 1, 10000, out);
    case KEY_COUNT:
        return units_count(v->text, v->len, 1, UINT32_MAX, out);
    case KEY_FD:
        return units_count(v->text, v->len, 3, 1023, out);
    case KEY_PORT:
        return units_count(v->text, v->len, 1, 65535, out);
    case KEY_TEXT:
    case KEY_WORD:
    case KEY_PATH:
    case KEY_NAME:
    case KEY_VARIABLE:
    case KEY_GLOB:
    case KEY_ENTRY:
        break;
    }
    return "a number is expected";
}

static void set_limit(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    uint64_t value = 0;
    struct ir_limit *l = &b->profile->limits[k->limit];
    const char *why = keys_is_word(k, v) ? NULL : read_number(b, k, v, &value);
    if (why)
        bad_number(b, k, v, why);
    else if (l->said)
        twice(b, called(k), l->span, v->span); /* timeout stands alone or in limits */
    else
        *l = (struct ir_limit){value, true, v->span};
}

static void add_listen(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    uint64_t port;
    struct decl_profile *p = b->profile;
    const char *why = read_number(b, k, v, &port);
    if (why) {
        bad_number(b, k, v, why);
        return;
    }
    p->listen = arena_grow(b->arena, p->listen, &p->cap_listen, p->n_listen + 1, sizeof *p->listen);
    p->listen[p->n_listen++] = (struct ir_port){(uint16_t)port, v->span};
}

static void add_fd(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    uint64_t fd;
    struct decl_profile *p = b->profile;
    const char *why = read_number(b, k, v, &fd);
    if (why) {
        bad_number(b, k, v, why);
        return;
    }
    p->fds = arena_grow(b->arena, p->fds, &p->cap_fds, p->n_fds + 1, sizeof *p->fds);
    p->fds[p->n_fds++] = (struct decl_fd){(int)fd, v->span};
}

/* ---- Network -------------------------------------------------------------------------------------------- */

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

static void set_network_mode(struct key_builder *b, enum ir_network_mode mode, struct span at)
{
    struct decl_profile *p = b->profile;
    if (p->network_said) {
        twice(b, "network", p->network_span, at);
        return;
    }
    p->network_said = true;
    p->network = mode;
    p->network_span = at;
}

static void set_network(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    bool robot = b->dialect == KEY_ROBOT_LAB;
    bool open = !v->quoted && is_word(v, "true"), none = !v->quoted && is_word(v, "false");
    if (!robot) {
        open |= is_word(v, "open");
        none |= is_word(v, "none");
    }
    if (open || none) {
        set_network_mode(b, open ? IR_NETWORK_OPEN : IR_NETWORK_NONE, v->span);
        return;
    }
    if (!robot && is_word(v, "loopback")) {
        set_network_mode(b, IR_NETWORK_LOOPBACK, v->span);
        return;
    }
    struct diag *d = diag_add(b->diags, DIAG_BAD_VALUE, v->span, "`%s` cannot be the value of %s", shown(b, v), called(k));
    const char *meant = network_meant(v);
    if (robot)
        diag_hint(b->diags, d, "write true or false");
    else if (meant)
        diag_hint(b->diags, d, "did you mean `%s`?", meant);
    else if (memchr(v->text, ':', v->len) || memchr(v->text, '.', v->len))
        diag_hint(b->diags, d, "entries stand behind `allow`: write %s",
                  k->dsl ? "network allow \"HOST:PORT\", or network: {allow: [\"HOST:PORT\"]} in YAML" : k->expect);
    else
        diag_hint(b->diags, d, "write %s", k->expect);
}

static void set_loopback(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    set_network_mode(b, v->len ? IR_NETWORK_LOOPBACK_HOST : IR_NETWORK_LOOPBACK, v->span);
}

static void add_socket(struct key_builder *b, const struct key_value *v)
{
    struct decl_profile *p = b->profile;
    struct span at = v->span;
    if (at.len >= v->len) { /* without the quotes and the word */
        at.start += 5u + v->quoted;
        at.len -= 5u + 2u * v->quoted;
    }
    p->sockets = arena_grow(b->arena, p->sockets, &p->cap_sockets, p->n_sockets + 1, sizeof *p->sockets);
    p->sockets[p->n_sockets++] = (struct decl_path){
        .text = arena_strn(b->arena, v->text + 5, v->len - 5), .len = (uint32_t)v->len - 5, .span = at};
}

static void add_entry(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    struct decl_profile *p = b->profile;
    struct ir_endpoint e;
    size_t at = 0;
    const char *hint = NULL;
    if (v->len >= 5 && !memcmp(v->text, "unix:", 5)) {
        add_socket(b, v);
        return;
    }
    const char *why = network_entry(b->arena, v->text, v->len, &e, &at, &hint);
    if (!why) {
        e.span = v->span;
        p->endpoints = arena_grow(b->arena, p->endpoints, &p->cap_endpoints, p->n_endpoints + 1, sizeof *p->endpoints);
        p->endpoints[p->n_endpoints++] = e;
        return;
    }
    struct span span = v->span;
    bool exact = span.len == v->len + (v->quoted ? 2 : 0); /* no escapes in it */
    if (exact && at < v->len) {
        span.start += (uint32_t)at + (v->quoted ? 1 : 0);
        span.len -= (uint32_t)at + (v->quoted ? 2 : 0);
    }
    struct diag *d = diag_add(b->diags, DIAG_BAD_ENTRY, span, "`%s` is no entry of the network: %s", shown(b, v), why);
    diag_hint(b->diags, d, "%s", hint ? hint : "write HOST:PORT, .DOMAIN:PORT, ADDRESS:PORT, ADDRESS/BITS:PORT or unix:/PATH");
}

/* ---- Paths ---------------------------------------------------------------------------------------------- */

static struct decl_path path_of(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    return (struct decl_path){.text = arena_strn(b->arena, v->text, v->len),
                              .len = (uint32_t)v->len,
                              .allow = k->allow,
                              .deny = k->deny,
                              .flags = (uint8_t)(v->path_flags | k->path_flags),
                              .span = v->span};
}

static void add_path(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    struct decl_profile *p = b->profile;
    p->paths = arena_grow(b->arena, p->paths, &p->cap_paths, p->n_paths + 1, sizeof *p->paths);
    p->paths[p->n_paths++] = path_of(b, k, v);
}

/* The fs_ spelling is robot_lab's; there `fs_write` may not mean reading, here it does, and says so. */
static void add_fs_write(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    add_path(b, k, v);
    if (!b->said_implied_read)
        diag_add(b->diags, DIAG_IMPLIED_READ, v->span, "fs_write is taken as `write`, which also allows reading");
    b->said_implied_read = true;
}

static void set_workdir(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    b->profile->workdir = path_of(b, k, v);
}

static void set_skill_dir(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    struct decl_profile *p = b->profile;
    p->skill_dir_span = v->span;
    if (keys_is_word(k, v)) {
        p->skill_dir = is_word(v, "none") ? DECL_SKILL_DIR_NONE : DECL_SKILL_DIR_READ;
        return;
    }
    p->skill_dir = DECL_SKILL_DIR_PATH;
    p->skill_dir_path = path_of(b, k, v);
}

/* ---- Names of variables --------------------------------------------------------------------------------- */

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

static void add_env_deny(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    (void)k;
    struct decl_profile *p = b->profile;
    if (!check_name(b, v, true))
        return;
    p->env_deny = arena_grow(b->arena, p->env_deny, &p->cap_env_deny, p->n_env_deny + 1, sizeof *p->env_deny);
    p->env_deny[p->n_env_deny++] = (struct ir_env_name){arena_strn(b->arena, v->text, v->len), v->span};
}

static void add_env_set(struct key_builder *b, const struct key *k, const struct key_value *name,
                        const struct key_value *v)
{
    (void)k;
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

static bool is_param_name(const struct key_value *v)
{
    for (size_t i = 0; i < v->len; i++) {
        char c = v->text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return v->len > 0;
}

/* Each path with a variable looks through them. */
enum { MAX_PARAMS = 256 };

static void add_param(struct key_builder *b, const struct key *k, const struct key_value *name,
                      const struct key_value *v)
{
    struct decl_profile *p = b->profile;
    static const char *const own[] = {"HOME", "WORK_DIR", "SKILL_DIR", "TMPDIR"};
    const char *why = is_param_name(name) ? NULL : "a parameter's name is letters, digits and `_`";
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_word(name, own[i]))
            why = "this name has a meaning of its own";
    if (why) {
        struct diag *d = diag_add(b->diags, DIAG_BAD_NAME, name->span, "`%s` cannot be a parameter: %s", shown(b, name), why);
        diag_hint(b->diags, d, "write a name such as DATA_DIR");
        return;
    }
    for (size_t i = 0; i < p->n_params; i++)
        if (is_word(name, p->params[i].name)) {
            twice(b, p->params[i].name, p->params[i].span, name->span);
            return;
        }
    if (p->n_params == MAX_PARAMS) {
        if (!b->said_many_params)
            diag_add(b->diags, DIAG_TOO_LARGE, name->span, "more than %d parameters in one profile", MAX_PARAMS);
        b->said_many_params = true;
        return;
    }
    p->params = arena_grow(b->arena, p->params, &p->cap_params, p->n_params + 1, sizeof *p->params);
    p->params[p->n_params++] = (struct decl_param){.name = arena_strn(b->arena, name->text, name->len),
                                                   .value = v ? path_of(b, k, v) : (struct decl_path){0},
                                                   .span = name->span};
}

/* ---- The table ------------------------------------------------------------------------------------------ */

#define TIME_FORM "a duration such as 60s, 250ms, 5m or 1h30m"
#define SIZE_FORM "a size such as 512MiB, 64K or 100MB"
#define PATHS_FORM "paths in quotes"

static const struct key key_env[] = {
    {.dsl = NULL, .yaml = "preset", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "standard|none",
     .scalar = set_env_preset, .expect = "standard or none"},
    {.dsl = "allow", .yaml = "allow", .shape = KEY_LIST, .type = KEY_GLOB, .scalar = add_env_allow,
     .expect = "names of variables, such as \"API_KEY\" or \"LC_*\""},
    {.dsl = "deny", .yaml = "deny", .shape = KEY_LIST, .type = KEY_GLOB, .scalar = add_env_deny,
     .expect = "names of variables, such as \"LC_ALL\" or \"AWS_*\""},
    {.dsl = "set", .yaml = "set", .shape = KEY_PAIRS, .type = KEY_TEXT, .pair = add_env_set, .expect = "a name and its value"},
    {0},
};

static const struct key key_network[] = {
    {.dsl = NULL, .yaml = "mode", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "none|loopback|open",
     .scalar = set_network, .expect = "none, loopback or open"},
    {.dsl = "loopback", .yaml = "loopback", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "host", .scalar = set_loopback,
     .alone = "", .expect = "host, for the loopback of the host"},
    {.dsl = "allow", .yaml = "allow", .shape = KEY_LIST, .type = KEY_ENTRY, .scalar = add_entry, .some = true,
     .expect = "entries such as \"api.example.com:443\""},
    {0},
};

#define LIMIT_ROW(word, kind, index, form)                                                                     \
    {.dsl = word, .yaml = word, .shape = KEY_SCALAR, .type = kind, .scalar = set_limit, .limit = index, .expect = form}
#define TIMEOUT_ROW                                                                                            \
    {.dsl = "timeout", .yaml = "timeout", .shape = KEY_SCALAR, .type = KEY_TIME, .words = "none",               \
     .scalar = set_limit, .limit = IR_LIMIT_TIMEOUT, .expect = TIME_FORM ", or none"}

static const struct key key_limits[] = {
    TIMEOUT_ROW,
    LIMIT_ROW("kill-after", KEY_TIME, IR_LIMIT_KILL_AFTER, TIME_FORM),
    LIMIT_ROW("memory", KEY_SIZE, IR_LIMIT_MEMORY, SIZE_FORM),
    LIMIT_ROW("processes", KEY_COUNT, IR_LIMIT_PROCESSES, "a number such as 64"),
    LIMIT_ROW("cpu", KEY_CPU, IR_LIMIT_CPU, "a number of cores such as 1 or 0.5"),
    LIMIT_ROW("cpu-weight", KEY_WEIGHT, IR_LIMIT_CPU_WEIGHT, "a number from 1 to 10000; 100 is usual"),
    LIMIT_ROW("cpu-time", KEY_TIME, IR_LIMIT_CPU_TIME, TIME_FORM),
    LIMIT_ROW("file-size", KEY_SIZE, IR_LIMIT_FILE_SIZE, SIZE_FORM),
    LIMIT_ROW("open-files", KEY_COUNT, IR_LIMIT_OPEN_FILES, "a number such as 256"),
    LIMIT_ROW("output", KEY_SIZE, IR_LIMIT_OUTPUT, SIZE_FORM),
    {0},
};

#define PATH_ROW(d, y, allowed, denied, own, extra)                                                            \
    {.dsl = d, .yaml = y, .shape = KEY_LIST, .type = KEY_PATH, .scalar = add_path, .allow = allowed,            \
     .deny = denied, .path_flags = own, .path_words = extra, .expect = PATHS_FORM}
enum {
    AT_READ = DECL_OPTIONAL | DECL_SNAPSHOT | DECL_CREATE | DECL_CREATE_FILE,
    AT_DENY = DECL_SNAPSHOT | DECL_STUB,
};

const struct key key_profile[] = {
    {.dsl = NULL, .yaml = "name", .shape = KEY_SCALAR, .type = KEY_NAME, .scalar = set_name, .expect = "a name"},
    {.dsl = "description", .yaml = "description", .shape = KEY_SCALAR, .type = KEY_TEXT, .scalar = set_description,
     .expect = "one text in quotes"},
    {.dsl = "system", .yaml = "system", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "standard|minimal|none",
     .scalar = set_system, .expect = "standard, minimal or none"},
    {.dsl = "skill-dir", .yaml = "skill_dir", .shape = KEY_SCALAR, .type = KEY_PATH, .words = "read|none",
     .scalar = set_skill_dir, .expect = "read, none, or the folder's path in quotes"},
    PATH_ROW("read", "read", IR_READ, 0, 0, AT_READ),
    PATH_ROW("write", "write", IR_READ | IR_WRITE, 0, 0, AT_READ),
    PATH_ROW("read only", "read_only", IR_READ, IR_WRITE, DECL_READ_ONLY, AT_READ),
    PATH_ROW("write-only", "write_only", IR_WRITE, IR_READ | IR_EXEC, 0, AT_READ),
    {.dsl = "exec", .yaml = "exec", .shape = KEY_LIST, .type = KEY_PATH, .words = "default|none", .scalar = add_path,
     .word = set_exec_word, .some = true, .allow = IR_READ | IR_EXEC, .path_words = AT_READ, .expect = PATHS_FORM ", default or none"},
    PATH_ROW("deny", "deny", 0, IR_ALL, 0, AT_DENY),
    PATH_ROW("deny read", "deny_read", 0, IR_ALL, 0, AT_DENY),
    PATH_ROW("deny write", "deny_write", 0, IR_WRITE, 0, AT_DENY),
    PATH_ROW("deny exec", "deny_exec", 0, IR_EXEC, 0, AT_DENY),
    {.dsl = NULL, .yaml = "fs_read", .shape = KEY_LIST, .type = KEY_PATH, .allow = IR_READ, .scalar = add_path,
     .path_words = DECL_OPTIONAL, .expect = "a list of paths"},
    {.dsl = NULL, .yaml = "fs_write", .shape = KEY_LIST, .type = KEY_PATH, .allow = IR_READ | IR_WRITE,
     .scalar = add_fs_write, .path_words = DECL_OPTIONAL, .expect = "a list of paths"},
    {.dsl = "network", .yaml = "network", .shape = KEY_BLOCK, .type = KEY_WORD, .words = "none|loopback|open|true|false",
     .scalar = set_network, .children = key_network, .expect = "none, loopback, open, or allow and entries"},
    {.dsl = "listen", .yaml = "listen", .shape = KEY_LIST, .type = KEY_PORT, .scalar = add_listen,
     .expect = "TCP ports from 1 to 65535"},
    {.dsl = "env", .yaml = "env", .shape = KEY_BLOCK, .type = KEY_WORD, .words = "standard|none", .scalar = set_env_preset,
     .children = key_env, .expect = "standard, none, or a block of allow, deny and set"},
    TIMEOUT_ROW,
    {.dsl = "limits", .yaml = "limits", .shape = KEY_BLOCK, .children = key_limits, .expect = "a block of limits"},
    {.dsl = "workdir", .yaml = "workdir", .shape = KEY_SCALAR, .type = KEY_PATH, .scalar = set_workdir,
     .path_words = DECL_CREATE, .expect = "a path in quotes"},
    {.dsl = "spawn", .yaml = "spawn", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "deny", .scalar = set_spawn,
     .expect = "deny"},
    {.dsl = "fd", .yaml = "fd", .shape = KEY_LIST, .type = KEY_FD, .scalar = add_fd,
     .expect = "numbers of descriptors from 3 to 1023"},
    {.dsl = "tty", .yaml = "tty", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "none|inherit", .scalar = set_tty,
     .expect = "none or inherit"},
    {.dsl = "trust", .yaml = "trust", .shape = KEY_SCALAR, .type = KEY_WORD, .words = "core|external", .scalar = set_trust,
     .expect = "core or external"},
    {.dsl = "image", .yaml = "image", .shape = KEY_SCALAR, .type = KEY_TEXT, .scalar = set_image,
     .expect = "an image name such as \"debian:12\""},
    {.dsl = "user", .yaml = "user", .shape = KEY_SCALAR, .type = KEY_TEXT, .scalar = set_user,
     .expect = "a user in quotes, such as \"1000:1000\""},
    {.dsl = "param", .yaml = "param", .shape = KEY_PAIRS, .type = KEY_PATH, .pair = add_param, .bare = true,
     .expect = "a name, and the path that it stands for where none is given"},
    {.dsl = "use", .yaml = "use", .shape = KEY_LIST, .type = KEY_NAME, .scalar = add_use, .expect = "names of profiles"},
    {0},
};

/* ---- Looking up ----------------------------------------------------------------------------------------- */

void keys_begin(struct key_builder *b, struct arena *a, struct diag_list *diags, struct decl_profile *p)
{
    *b = (struct key_builder){.arena = a, .diags = diags, .profile = p};
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
        if (s && !strncmp(s, word, len) && !s[len])
            return k;
    }
    return NULL;
}

const struct key *keys_find_two(const struct key *table, const struct key_value *first, const struct key_value *second)
{
    if (second->quoted || second->broken)
        return NULL;
    for (const struct key *k = table; !is_end(k); k++) {
        const char *s = k->dsl;
        if (s && !strncmp(s, first->text, first->len) && s[first->len] == ' ' &&
            is_word(second, s + first->len + 1))
            return k;
    }
    return NULL;
}

void keys_unknown(struct key_builder *b, const struct key *table, enum key_syntax syntax, const struct key_value *word)
{
    const char *names[64];
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
    for (size_t i = 0; i < b->n_seen; i++)
        if (b->seen[i].key == k) {
            twice(b, called(k), b->seen[i].span, at);
            return false;
        }
    b->seen = arena_grow(b->arena, b->seen, &b->cap_seen, b->n_seen + 1, sizeof *b->seen);
    b->seen[b->n_seen++] = (struct key_seen){k, at};
    return true;
}

/* ---- Values --------------------------------------------------------------------------------------------- */

/* Is the value one of the words of "a|b|c"? */
static bool among(const char *words, const struct key_value *v)
{
    for (const char *w = words; w && *w;) {
        size_t n = strcspn(w, "|");
        if (n == v->len && !memcmp(w, v->text, n))
            return true;
        w += n + (w[n] == '|');
    }
    return false;
}

bool keys_is_word(const struct key *k, const struct key_value *v)
{
    /* Where words are all that can stand there, quotes make no difference. */
    return (k->type == KEY_WORD || !v->quoted) && among(k->words, v);
}

bool keys_is_text(const struct key *k)
{
    switch (k->type) {
    case KEY_TEXT:
    case KEY_PATH:
    case KEY_NAME:
    case KEY_VARIABLE:
    case KEY_GLOB:
    case KEY_ENTRY:
        return true;
    case KEY_WORD:
        return !among(k->words, &(struct key_value){.text = "true", .len = 4});
    case KEY_TIME:
    case KEY_SIZE:
    case KEY_COUNT:
    case KEY_CPU:
    case KEY_WEIGHT:
    case KEY_PORT:
    case KEY_FD:
        return false;
    }
    return false;
}

void keys_put(struct key_builder *b, const struct key *k, const struct key_value *v)
{
    if (k->word && keys_is_word(k, v))
        k->word(b, k, v);
    else if (k->type == KEY_WORD && k->scalar != set_network && !keys_is_word(k, v) && !(k->alone && !v->len && !v->quoted))
        bad_value(b, k, v);
    else
        k->scalar(b, k, v);
}

static const struct {
    const char *word;
    unsigned flag;
} PATH_WORDS[] = {{"optional", DECL_OPTIONAL}, {"literal", DECL_LITERAL},   {"create", DECL_CREATE},
                  {"file", DECL_CREATE_FILE},  {"snapshot", DECL_SNAPSHOT}, {"stub", DECL_STUB}};

unsigned keys_path_word(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof PATH_WORDS / sizeof *PATH_WORDS; i++)
        if (strlen(PATH_WORDS[i].word) == len && !memcmp(PATH_WORDS[i].word, word, len))
            return PATH_WORDS[i].flag;
    return 0;
}

bool keys_path_word_fits(struct key_builder *b, const struct key *k, unsigned flag, struct span at)
{
    if (flag == DECL_LITERAL || (k->path_words & flag) == flag)
        return true;
    const char *word = "";
    for (size_t i = 0; i < sizeof PATH_WORDS / sizeof *PATH_WORDS; i++)
        if (PATH_WORDS[i].flag == flag)
            word = PATH_WORDS[i].word;
    struct diag *d = diag_add(b->diags, DIAG_BAD_VALUE, at, "`%s` does not stand at a path of %s", word, called(k));
    if (k->deny == IR_ALL && !k->allow && flag == DECL_OPTIONAL)
        diag_hint(b->diags, d, "a deny holds for names that do not exist as well");
    else if (flag == DECL_STUB)
        diag_hint(b->diags, d, "a stub stands in for a missing name that is denied");
    else
        diag_hint(b->diags, d, "leave it out");
    return false;
}
