#include "dump_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

static json_t *hex(const char *s, size_t len)
{
    static const char DIGITS[] = "0123456789abcdef";
    char *text = malloc(2 * len + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        text[2 * i] = DIGITS[(unsigned char)s[i] >> 4];
        text[2 * i + 1] = DIGITS[(unsigned char)s[i] & 15];
    }
    json_t *o = json_object();
    json_object_set_new(o, "hex", json_stringn(text, 2 * len));
    free(text);
    return o;
}

/* JSON holds Unicode only; a path may be any bytes. */
static json_t *text(const char *s)
{
    json_t *v = json_string(s);
    return v ? v : hex(s, strlen(s));
}

static json_t *kinds(unsigned set)
{
    static const char *const NAMES[] = {
#define IR_ACCESS(name, word, meaning) word,
#include "ir_access.def"
#undef IR_ACCESS
    };
    json_t *list = json_array();
    for (size_t i = 0; i < IR_ACCESS_COUNT; i++)
        if (set & 1u << i)
            json_array_append_new(list, json_string(NAMES[i]));
    return list;
}

static json_t *root(const struct ir_policy *p, uint8_t r)
{
    if (r == IR_ROOT_SLASH)
        return json_string("/");
    return text(r == IR_ROOT_TMPDIR ? "TMPDIR" : p->late[r - IR_ROOT_LATE].name);
}

static json_t *rule(const struct ir_policy *p, const struct ir_rule *r, struct arena *a)
{
    static const char *const ORIGINS[] = {[IR_DECLARED] = "declared",
                                          [IR_PRESET] = "preset",
                                          [IR_SKILL_DIR] = "skill-dir",
                                          [IR_FLOOR] = "floor"};
    static const char *const TYPES[] = {
        [IR_TYPE_ANY] = "any", [IR_TYPE_DIR] = "folder", [IR_TYPE_FILE] = "file", [IR_TYPE_NONE] = "missing"};
    static const struct {
        unsigned flag;
        const char *word;
    } FLAGS[] = {{IR_OPTIONAL, "optional"},
                 {IR_FOLLOW, "follow"},
                 {IR_CREATE, "create"},
                 {IR_STUB, "stub"},
                 {IR_NAME, "name"}};
    json_t *o = json_object(), *flags = json_array();
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        if (r->flags & FLAGS[i].flag)
            json_array_append_new(flags, json_string(FLAGS[i].word));
    json_object_set_new(o, "root", root(p, r->root));
    json_object_set_new(o, "path", text(r->path));
    json_object_set_new(o, "allow", kinds(r->allow));
    json_object_set_new(o, "deny", kinds(r->deny));
    json_object_set_new(o, "cut", kinds(r->cut));
    json_object_set_new(o, "origin", json_string(ORIGINS[r->origin]));
    json_object_set_new(o, "type", json_string(TYPES[r->type]));
    json_object_set_new(o, "flags", flags);
    json_object_set_new(o, "clause", text(ir_clause(a, p, r)));
    return o;
}

static json_t *rules(const struct ir_policy *p, struct arena *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_rules; i++)
        json_array_append_new(list, rule(p, &p->rules[i], a));
    return list;
}

static json_t *patterns(const struct ir_policy *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_patterns; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "root", root(p, p->patterns[i].root));
        json_object_set_new(o, "pattern", text(p->patterns[i].glob));
        json_object_set_new(o, "allow", kinds(p->patterns[i].allow));
        json_object_set_new(o, "deny", kinds(p->patterns[i].deny));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *pair(const char *a, const char *x, const char *b, const char *y)
{
    json_t *o = json_object();
    json_object_set_new(o, a, text(x));
    json_object_set_new(o, b, text(y));
    return o;
}

static json_t *names(const struct ir_policy *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_aliases; i++)
        json_array_append_new(list, pair("name", p->aliases[i].name, "path", p->aliases[i].path));
    return list;
}

static json_t *links(const struct ir_policy *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_links; i++)
        json_array_append_new(list, pair("link", p->links[i].link, "target", p->links[i].target));
    return list;
}

static json_t *late(const struct ir_policy *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_late; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "name", text(p->late[i].name));
        json_object_set_new(o, "under",
                            p->late[i].under < 0 ? json_null() : text(p->late[p->late[i].under].name));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *network(const struct ir_policy *p, struct arena *a)
{
    static const char *const MODES[] = {[IR_NETWORK_NONE] = "none",
                                        [IR_NETWORK_LOOPBACK] = "loopback",
                                        [IR_NETWORK_LOOPBACK_HOST] = "loopback-host",
                                        [IR_NETWORK_ALLOW] = "allow",
                                        [IR_NETWORK_OPEN] = "open"};
    const struct ir_network *n = &p->network;
    json_t *o = json_object(), *allow = json_array(), *sockets = json_array(), *listen = json_array();
    for (size_t i = 0; i < n->n_endpoints; i++)
        json_array_append_new(allow, text(network_text(a, &n->endpoints[i])));
    for (size_t i = 0; i < n->n_sockets; i++) {
        json_t *s = json_object();
        json_object_set_new(s, "root", root(p, n->sockets[i].root));
        json_object_set_new(s, "path", text(n->sockets[i].path));
        json_array_append_new(sockets, s);
    }
    for (size_t i = 0; i < n->n_listen; i++)
        json_array_append_new(listen, json_integer(n->listen[i].port));
    json_object_set_new(o, "mode", json_string(MODES[n->mode]));
    json_object_set_new(o, "allow", allow);
    json_object_set_new(o, "sockets", sockets);
    json_object_set_new(o, "listen", listen);
    return o;
}

static json_t *env_names(const struct ir_env_name *items, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, text(items[i].name));
    return list;
}

static json_t *environment(const struct ir_policy *p)
{
    json_t *o = json_object(), *set = json_array();
    for (size_t i = 0; i < p->n_env_set; i++)
        json_array_append_new(set, pair("name", p->env_set[i].name, "value", p->env_set[i].value));
    json_object_set_new(o, "pass", env_names(p->env_pass, p->n_env_pass));
    json_object_set_new(o, "deny", env_names(p->env_deny, p->n_env_deny));
    json_object_set_new(o, "set", set);
    return o;
}

/* Numbers in the unit that the name ends in; a limit that is not set is null. */
static json_t *limits(const struct ir_policy *p, struct arena *a)
{
    static const char *const UNITS[] = {[IR_UNIT_TIME] = "-ms",
                                        [IR_UNIT_BYTES] = "-bytes",
                                        [IR_UNIT_COUNT] = "",
                                        [IR_UNIT_MILLI] = "-thousandths",
                                        [IR_UNIT_WEIGHT] = ""};
    json_t *o = json_object();
    for (size_t i = 0; i < IR_LIMIT_COUNT; i++) {
        enum ir_limit_index k = (enum ir_limit_index)i;
        const char *name = arena_printf(a, "%s%s", ir_limit_word(k), UNITS[ir_limit_unit(k)]);
        json_object_set_new(o, name,
                            p->limits[i].value ? json_integer((json_int_t)p->limits[i].value) : json_null());
    }
    return o;
}

static json_t *optional(const char *s)
{
    return s ? text(s) : json_null();
}

static json_t *process(const struct ir_policy *p)
{
    static const char *const TTY[] = {
        [IR_TTY_UNSAID] = NULL, [IR_TTY_NONE] = "none", [IR_TTY_INHERIT] = "inherit"};
    json_t *o = json_object(), *fds = json_array(), *workdir = json_null();
    for (size_t i = 0; i < p->n_fds; i++)
        json_array_append_new(fds, json_integer(p->fds[i].fd));
    if (p->workdir.path) {
        workdir = json_object();
        json_object_set_new(workdir, "root", root(p, p->workdir.root));
        json_object_set_new(workdir, "path", text(p->workdir.path));
        json_object_set_new(workdir, "create", json_boolean(p->workdir.create));
    }
    json_object_set_new(o, "workdir", workdir);
    json_object_set_new(o, "spawn", json_boolean(!p->spawn_span.src));
    json_object_set_new(o, "fds", fds);
    json_object_set_new(o, "tty", optional(TTY[p->tty]));
    json_object_set_new(o, "image", optional(p->image.text));
    json_object_set_new(o, "user", optional(p->user.text));
    return o;
}

static json_t *accepted(const struct ir_policy *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_accepted; i++)
        json_array_append_new(list, json_string(p->accepted[i]));
    return list;
}

void dump_json(const struct ir_policy *p, struct buf *out)
{
    struct arena a;
    json_t *o = json_object();
    arena_init(&a, NULL, NULL);
    json_object_set_new(o, "format", json_integer(1));
    json_object_set_new(o, "system", json_string(p->system == IR_MACOS ? "macos" : "linux"));
    json_object_set_new(o, "profile", text(p->name));
    json_object_set_new(o, "preset", text(p->preset.text));
    json_object_set_new(o, "confined", json_boolean(!p->core));
    json_object_set_new(o, "exec-default", json_boolean(p->exec_default));
    json_object_set_new(o, "rules", rules(p, &a));
    json_object_set_new(o, "patterns", patterns(p));
    json_object_set_new(o, "names", names(p));
    json_object_set_new(o, "links", links(p));
    json_object_set_new(o, "late", late(p));
    json_object_set_new(o, "network", network(p, &a));
    json_object_set_new(o, "env", environment(p));
    json_object_set_new(o, "limits", limits(p, &a));
    json_object_set_new(o, "process", process(p));
    json_object_set_new(o, "skill-dir", optional(p->skill_dir));
    json_object_set_new(o, "accepted", accepted(p));
    json_object_set_new(o, "policy-digest", json_string(p->digest));
    char *s = json_dumps(o, JSON_INDENT(2));
    if (s)
        buf_str(out, s), buf_byte(out, '\n');
    else
        out->failed = true;
    free(s);
    json_decref(o);
    arena_done(&a);
}
