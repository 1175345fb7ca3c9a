#include "write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../network.h"

struct writer {
    enum key_syntax syntax;
    struct arena *arena;
    struct diag_list *diags;
    struct buf *out;
    size_t indent;
    bool failed;
};

/* ---- Texts --------------------------------------------------------------------------------------------- */

static bool among(const char *const *words, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(words[i], s))
            return true;
    return false;
}

/* Can nothing but this text be meant, whichever YAML reads it? */
static bool is_plain_yaml(const char *s, size_t len)
{
    static const char FIRST[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/$";
    static const char REST[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/$0123456789.-+@%=";
    static const char *const taken[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n",
                                        "True", "False", "Null", "Yes", "No", "On", "Off", "Y", "N",
                                        "TRUE", "FALSE", "NULL", "YES", "NO", "ON", "OFF"};
    bool home = len > 1 && s[0] == '~' && s[1] == '/';
    if (!len || (!home && !memchr(FIRST, s[0], sizeof FIRST - 1)) || strspn(s + 1, REST) != len - 1)
        return false;
    return !among(taken, sizeof taken / sizeof *taken, s);
}

/* The length of the UTF-8 character at s, or 0. */
static size_t character(const char *s, size_t left)
{
    unsigned char c = (unsigned char)s[0];
    size_t n = c < 0x80                ? 1
               : c >= 0xc2 && c < 0xe0 ? 2
               : c >= 0xe0 && c < 0xf0 ? 3
               : c >= 0xf0 && c < 0xf5 ? 4
                                       : 0;
    if (!n || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
    unsigned char d = n > 1 ? (unsigned char)s[1] : 0;
    bool bad = (c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) ||
               (c == 0xf4 && d > 0x8f);
    return bad ? 0 : n;
}

/* Readers differ on line separators and on a byte order mark in the middle; the two last characters of the
 * plane are none of YAML's (1.2, 5.1). */
static const char *yaml_escape(const char *s, size_t n)
{
    static const char *const odd[][2] = {{"\xc2\x85", "\\N"},         {"\xe2\x80\xa8", "\\L"},
                                         {"\xe2\x80\xa9", "\\P"},     {"\xef\xbb\xbf", "\\uFEFF"},
                                         {"\xef\xbf\xbe", "\\uFFFE"}, {"\xef\xbf\xbf", "\\uFFFF"}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (strlen(odd[i][0]) == n && !memcmp(odd[i][0], s, n))
            return odd[i][1];
    return NULL;
}

static void put_yaml(struct writer *w, const char *s, size_t len, struct span at)
{
    if (is_plain_yaml(s, len)) {
        buf_put(w->out, s, len);
        return;
    }
    buf_byte(w->out, '"');
    for (size_t i = 0, n; i < len; i += n) {
        unsigned char c = (unsigned char)s[i];
        n = character(s + i, len - i);
        const char *escaped = n ? yaml_escape(s + i, n) : NULL;
        bool control = c < 0x20 || c == 0x7f || (n == 2 && c == 0xc2 && (unsigned char)s[i + 1] < 0xa0);
        if (!n) {
            struct diag *d =
                diag_add(w->diags, DIAG_UNQUOTABLE, at, "YAML has no spelling for bytes that are no UTF-8");
            diag_hint(w->diags, d, "such a name exists in the language only");
            w->failed = true;
            return;
        }
        if (escaped)
            buf_str(w->out, escaped);
        else if (control)
            buf_printf(w->out, "\\x%02x", n == 2 ? (unsigned char)s[i + 1] : c);
        else if (c == '"' || c == '\\')
            buf_printf(w->out, "\\%c", c);
        else
            buf_put(w->out, s + i, n);
    }
    buf_byte(w->out, '"');
}

static void put_text(struct writer *w, const char *s, size_t len, struct span at)
{
    if (w->syntax == KEY_YAML)
        put_yaml(w, s, len, at);
    else
        buf_str(w->out, ir_quote(w->arena, s, len));
}

/* YAML: a name of the declaration's own as a key, with its colon. A key whose colon is further than 1,024
 * characters away has to be announced (1.2, 7.4.2). */
static void put_key(struct writer *w, const char *s, struct span at)
{
    struct buf name = {0}, *out = w->out;
    w->out = &name;
    put_text(w, s, strlen(s), at);
    w->out = out;
    bool simple = name.len <= 1024;
    buf_str(out, simple ? "" : "? ");
    buf_put(out, name.data, name.len);
    if (simple)
        buf_byte(out, ':');
    else
        buf_printf(out, "\n%*s:", (int)(2 * w->indent), "");
    out->failed |= name.failed;
    buf_done(&name);
}

/* A name is a word where the language takes it for one. */
static void put_name(struct writer *w, const struct ir_text *name)
{
    static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t len = strlen(name->text);
    if (w->syntax == KEY_DSL && len && strspn(name->text, WORD) == len)
        buf_str(w->out, name->text);
    else
        put_text(w, name->text, len, name->span);
}

/* ---- Statements ---------------------------------------------------------------------------------------- */

static void begin_line(struct writer *w)
{
    buf_printf(w->out, "%*s", (int)(2 * w->indent), "");
}

/* `word ` or `word: `, on a line of its own. */
static void key(struct writer *w, const char *dsl, const char *yaml)
{
    begin_line(w);
    buf_printf(w->out, w->syntax == KEY_YAML ? "%s: " : "%s ", w->syntax == KEY_YAML ? yaml : dsl);
}

static void word(struct writer *w, const char *dsl, const char *yaml, const char *value)
{
    key(w, dsl, yaml);
    buf_str(w->out, value);
    buf_byte(w->out, '\n');
}

static void text(struct writer *w, const char *name, const struct ir_text *t)
{
    if (!t->text)
        return;
    key(w, name, name);
    put_text(w, t->text, strlen(t->text), t->span);
    buf_byte(w->out, '\n');
}

/* `word {` or `word:`; what follows is indented. */
static void open_block(struct writer *w, const char *name)
{
    begin_line(w);
    buf_printf(w->out, w->syntax == KEY_YAML ? "%s:\n" : "%s {\n", name);
    w->indent++;
}

static void close_block(struct writer *w)
{
    w->indent--;
    if (w->syntax == KEY_YAML)
        return;
    begin_line(w);
    buf_str(w->out, "}\n");
}

/* One item of a list: a statement in the language, a line beneath the key in YAML. */
static void begin_item(struct writer *w, const char *dsl, const char *yaml, bool first)
{
    if (w->syntax == KEY_DSL) {
        begin_line(w);
        buf_printf(w->out, "%s ", dsl);
        return;
    }
    if (first) {
        begin_line(w);
        buf_printf(w->out, "%s:\n", yaml);
    }
    begin_line(w);
    buf_str(w->out, "  - ");
}

/* ---- Paths --------------------------------------------------------------------------------------------- */

static const struct {
    unsigned flag;
    const char *dsl, *yaml;
} WORDS[] = {{DECL_OPTIONAL, " optional", ", optional: true"},
             {DECL_CREATE, " create", ", create: true"},
             {DECL_CREATE_FILE, " create file", ", create: file"},
             {DECL_SNAPSHOT, " snapshot", ", snapshot: true"},
             {DECL_STUB, " stub", ", stub: true"}};

static void put_path(struct writer *w, const struct decl_path *p)
{
    bool yaml = w->syntax == KEY_YAML, map = yaml && p->flags & ~(DECL_YAML | DECL_READ_ONLY) & 0xff;
    if (!yaml && p->flags & DECL_LITERAL)
        buf_str(w->out, "literal ");
    if (map)
        buf_str(w->out, "{path: ");
    put_text(w, p->text, p->len, p->span);
    if (map && p->flags & DECL_LITERAL)
        buf_str(w->out, ", literal: true");
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (p->flags & WORDS[i].flag)
            buf_str(w->out, yaml ? WORDS[i].yaml : WORDS[i].dsl);
    if (map)
        buf_byte(w->out, '}');
    buf_byte(w->out, '\n');
}

static bool is_row_of(const struct key *k, const struct decl_path *p)
{
    return k->dsl && k->type == KEY_PATH && k->shape == KEY_LIST && k->allow == p->allow &&
           k->deny == p->deny && k->path_flags == (p->flags & DECL_READ_ONLY);
}

/* Clause by clause in the order of the table; `deny` and `deny read` are one. */
static void put_paths(struct writer *w, const struct decl_profile *p)
{
    const struct key *before = NULL;
    for (const struct key *k = key_profile; k->dsl || k->yaml; k++) {
        bool first = true;
        if (!k->dsl || k->type != KEY_PATH || k->shape != KEY_LIST ||
            (before && before->allow == k->allow && before->deny == k->deny))
            continue;
        before = k;
        for (size_t i = 0; i < p->n_paths; i++) {
            if (!is_row_of(k, &p->paths[i]))
                continue;
            begin_item(w, k->dsl, k->yaml, first);
            put_path(w, &p->paths[i]);
            first = false;
        }
    }
}

/* ---- The other clauses --------------------------------------------------------------------------------- */

static const char *mode_of(const struct decl_profile *p, bool yaml)
{
    switch (p->network) {
    case IR_NETWORK_NONE:
        return "none";
    case IR_NETWORK_LOOPBACK:
        return "loopback";
    case IR_NETWORK_LOOPBACK_HOST:
        return yaml ? "{loopback: host}" : "loopback host";
    case IR_NETWORK_OPEN:
        return "open";
    case IR_NETWORK_ALLOW:
        break;
    }
    return "none";
}

static void put_entry(struct writer *w, const char *s, struct span at, bool *first)
{
    begin_item(w, "network allow", "allow", *first);
    put_text(w, s, strlen(s), at);
    buf_byte(w->out, '\n');
    *first = false;
}

static void put_network(struct writer *w, const struct decl_profile *p)
{
    bool yaml = w->syntax == KEY_YAML, entries = p->n_endpoints || p->n_sockets, first = true;
    if (p->network_said && (!yaml || !entries))
        word(w, "network", "network", mode_of(p, yaml));
    if (!entries)
        return;
    if (yaml)
        open_block(w, "network");
    if (yaml && p->network_said && p->network == IR_NETWORK_LOOPBACK_HOST)
        word(w, "loopback", "loopback", "host");
    else if (yaml && p->network_said)
        word(w, "mode", "mode", mode_of(p, false));
    for (size_t i = 0; i < p->n_endpoints; i++)
        put_entry(w, network_text(w->arena, &p->endpoints[i]), p->endpoints[i].span, &first);
    for (size_t i = 0; i < p->n_sockets; i++)
        put_entry(w, arena_printf(w->arena, "unix:%.*s", (int)p->sockets[i].len, p->sockets[i].text),
                  p->sockets[i].span, &first);
    if (yaml)
        close_block(w);
}

static void put_names(struct writer *w, const char *dsl, const char *yaml, const struct ir_env_name *names,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        begin_item(w, dsl, yaml, i == 0);
        put_text(w, names[i].name, strlen(names[i].name), names[i].span);
        buf_byte(w->out, '\n');
    }
}

static void put_env(struct writer *w, const struct decl_profile *p)
{
    bool yaml = w->syntax == KEY_YAML, block = p->n_env_allow || p->n_env_deny || p->n_env_set;
    if (p->env_preset.text && (!yaml || !block))
        word(w, "env", "env", p->env_preset.text);
    if (!block)
        return;
    if (yaml)
        open_block(w, "env");
    if (yaml && p->env_preset.text)
        word(w, "preset", "preset", p->env_preset.text);
    put_names(w, "env allow", "allow", p->env_allow, p->n_env_allow);
    put_names(w, "env deny", "deny", p->env_deny, p->n_env_deny);
    if (yaml && p->n_env_set)
        open_block(w, "set");
    for (size_t i = 0; i < p->n_env_set; i++) {
        const struct ir_env_set *x = &p->env_set[i];
        begin_line(w);
        if (yaml) {
            put_key(w, x->name, x->span);
        } else {
            buf_str(w->out, "env set ");
            put_text(w, x->name, strlen(x->name), x->span);
        }
        buf_byte(w->out, ' ');
        put_text(w, x->value, strlen(x->value), x->span);
        buf_byte(w->out, '\n');
    }
    if (yaml && p->n_env_set)
        close_block(w);
    if (yaml)
        close_block(w);
}

static void put_limits(struct writer *w, const struct decl_profile *p)
{
    size_t said = 0;
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++)
        said += p->limits[i].said;
    bool alone = said == 1 && p->limits[IR_LIMIT_TIMEOUT].said;
    if (!said)
        return;
    if (!alone)
        open_block(w, "limits");
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++) {
        char value[32] = "none";
        enum ir_limit_index k = (enum ir_limit_index)i;
        if (!p->limits[i].said)
            continue;
        if (p->limits[i].value)
            ir_limit_print(k, p->limits[i].value, value);
        word(w, ir_limit_word(k), ir_limit_word(k), value);
    }
    if (!alone)
        close_block(w);
}

static void put_numbers(struct writer *w, const struct decl_profile *p)
{
    for (size_t i = 0; i < p->n_listen; i++) {
        begin_item(w, "listen", "listen", i == 0);
        buf_printf(w->out, "%u\n", (unsigned)p->listen[i].port);
    }
    for (size_t i = 0; i < p->n_fds; i++) {
        begin_item(w, "fd", "fd", i == 0);
        buf_printf(w->out, "%d\n", p->fds[i].fd);
    }
}

static void put_skill_dir(struct writer *w, const struct decl_profile *p)
{
    if (p->skill_dir == DECL_SKILL_DIR_PATH) {
        key(w, "skill-dir", "skill_dir");
        put_path(w, &p->skill_dir_path);
    } else if (p->skill_dir == DECL_SKILL_DIR_NONE) {
        word(w, "skill-dir", "skill_dir", "none");
    } else if (p->skill_dir == DECL_SKILL_DIR_READ || p->skill_dir_default) {
        word(w, "skill-dir", "skill_dir", "read");
    }
}

static void put_params(struct writer *w, const struct decl_profile *p)
{
    bool yaml = w->syntax == KEY_YAML;
    if (yaml && p->n_params)
        open_block(w, "param");
    for (size_t i = 0; i < p->n_params; i++) {
        const struct decl_param *x = &p->params[i];
        begin_line(w);
        if (yaml)
            put_key(w, x->name, x->span);
        else
            buf_printf(w->out, "param %s", x->name);
        if (x->value.text) {
            buf_byte(w->out, ' ');
            put_text(w, x->value.text, x->value.len, x->value.span);
        } else if (yaml) {
            buf_str(w->out, " null");
        }
        buf_byte(w->out, '\n');
    }
    if (yaml && p->n_params)
        close_block(w);
}

static void put_uses(struct writer *w, const struct decl_profile *p)
{
    for (size_t i = 0; i < p->n_uses; i++) {
        begin_item(w, "use", "use", i == 0);
        put_name(w, &p->uses[i]);
        buf_byte(w->out, '\n');
    }
}

static bool lists_programs(const struct decl_profile *p)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (p->paths[i].allow & IR_EXEC)
            return true;
    return false;
}

static void put_clauses(struct writer *w, const struct decl_profile *p)
{
    if (p->preset.text)
        word(w, "system", "system", p->preset.text);
    put_skill_dir(w, p);
    put_params(w, p);
    put_uses(w, p);
    put_paths(w, p);
    /* Beside a list `none` says nothing more, and YAML has one place for both; `default` there is a
     * contradiction. */
    if (p->exec == DECL_EXEC_DEFAULT && lists_programs(p)) {
        diag_add(w->diags, DIAG_CLASH, p->exec_span, "`exec default` beside a list of programs");
        w->failed = true;
    } else if (p->exec != DECL_EXEC_UNSAID && !lists_programs(p)) {
        word(w, "exec", "exec", p->exec == DECL_EXEC_NONE ? "none" : "default");
    }
    put_network(w, p);
    put_env(w, p);
    put_limits(w, p);
    put_numbers(w, p);
    if (p->workdir.text) {
        key(w, "workdir", "workdir");
        put_path(w, &p->workdir);
    }
    if (p->spawn_span.src)
        word(w, "spawn", "spawn", "deny");
    if (p->tty != IR_TTY_UNSAID)
        word(w, "tty", "tty", p->tty == IR_TTY_NONE ? "none" : "inherit");
    if (p->trust != DECL_TRUST_UNSAID)
        word(w, "trust", "trust", p->trust == DECL_TRUST_CORE ? "core" : "external");
    text(w, "image", &p->image);
    text(w, "user", &p->user);
}

/* ---- Files --------------------------------------------------------------------------------------------- */

static void dsl_profile(struct writer *w, const struct decl_profile *p)
{
    bool named = p->name.text || p->scope_of.text;
    if (!named) {
        text(w, "description", &p->description);
        put_clauses(w, p);
        return;
    }
    buf_str(w->out, p->scope_of.text ? "scope " : "profile ");
    put_name(w, &p->name);
    if (p->scope_of.text) {
        buf_str(w->out, " of ");
        put_name(w, &p->scope_of);
    }
    if (p->description.text) {
        buf_byte(w->out, ' ');
        put_text(w, p->description.text, strlen(p->description.text), p->description.span);
    }
    buf_str(w->out, " {\n");
    w->indent++;
    put_clauses(w, p);
    w->indent--;
    buf_str(w->out, "}\n");
}

static void yaml_profile(struct writer *w, const struct decl_profile *p)
{
    size_t before;
    begin_line(w);
    put_key(w, p->name.text, p->name.span);
    buf_byte(w->out, '\n');
    before = w->out->len;
    w->indent++;
    text(w, "description", &p->description);
    if (p->scope_of.text)
        text(w, "of", &p->scope_of);
    put_clauses(w, p);
    w->indent--;
    if (w->out->len == before) {
        w->out->len--;
        buf_str(w->out, " {}\n");
    }
}

static void yaml_profiles(struct writer *w, const struct decl_file *f, bool scopes)
{
    bool first = true;
    for (size_t i = 0; i < f->n_profiles; i++) {
        if ((f->profiles[i]->scope_of.text != NULL) != scopes)
            continue;
        if (first)
            open_block(w, scopes ? "scopes" : "profiles");
        first = false;
        yaml_profile(w, f->profiles[i]);
    }
    if (!first)
        close_block(w);
}

static void yaml_file(struct writer *w, const struct decl_file *f)
{
    const struct decl_profile *only =
        f->n_profiles == 1 && !f->profiles[0]->scope_of.text ? f->profiles[0] : NULL;
    if (!only) {
        yaml_profiles(w, f, false);
        yaml_profiles(w, f, true);
        return;
    }
    text(w, "name", &only->name);
    text(w, "description", &only->description);
    put_clauses(w, only);
}

static void put_includes(struct writer *w, const struct decl_file *f)
{
    for (size_t i = 0; i < f->n_includes; i++) {
        begin_item(w, "include", "include", i == 0);
        put_text(w, f->includes[i].text, strlen(f->includes[i].text), f->includes[i].span);
        buf_byte(w->out, '\n');
    }
}

bool write_declaration(const struct decl_file *f, enum key_syntax syntax, struct arena *a,
                       struct diag_list *diags, struct buf *out)
{
    struct writer w = {.syntax = syntax, .arena = a, .diags = diags, .out = out};
    size_t before = out->len;
    put_includes(&w, f);
    if (syntax == KEY_YAML) {
        yaml_file(&w, f);
        if (out->len == before)
            buf_str(out, "{}\n");
        return !w.failed;
    }
    for (size_t i = 0; i < f->n_profiles; i++) {
        if (i || f->n_includes)
            buf_byte(out, '\n');
        dsl_profile(&w, f->profiles[i]);
    }
    return !w.failed;
}
