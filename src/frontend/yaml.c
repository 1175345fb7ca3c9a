/* YAML, alone with libyaml: events become clauses of the key table.
 *
 * libyaml counts characters, we count bytes: `struct cursor` leads from one to the other. Values are read
 * event by event, nothing is built in memory; foreign values are skipped without recursion.
 */
#include "yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "keys.h"

/* Where libyaml's character index stands in the text. Marks come nearly in order, so it walks. */
struct cursor {
    size_t index;
    uint32_t offset;
};

struct seen_key {
    const char *text;
    size_t len;
    struct span span;
};

/* The keys of one map that may not stand twice. */
struct key_list {
    struct seen_key *items;
    size_t n, cap;
};

struct deferred {
    const struct key *key;
    struct key_value value;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the one in hand; owned by libyaml until next() */
    bool has_event, failed;
    size_t depth; /* of the event in hand: maps and lists that are open */
    const struct source *src;
    uint32_t start, len;
    struct cursor cursor;
    struct arena *arena;
    struct diag_list *diags;
    struct key_builder builder;
    enum yaml_kind kind;
    /* Single values wait until the whole map is seen: a shape's keys decide what they mean. */
    struct deferred *deferred;
    size_t n_deferred, cap_deferred;
    struct span shape_key, native_path_key; /* first fs_read or fs_write; first read or write */
};

/* ---- Events and places ---------------------------------------------------------------------------------- */

static uint32_t offset_of(struct reader *r, size_t index)
{
    const char *text = r->src->text + r->start;
    struct cursor *c = &r->cursor;
    while (c->index > index) {
        c->offset--;
        while (c->offset && ((unsigned char)text[c->offset] & 0xc0) == 0x80)
            c->offset--;
        c->index--;
    }
    while (c->index < index && c->offset < r->len) {
        c->offset++;
        while (c->offset < r->len && ((unsigned char)text[c->offset] & 0xc0) == 0x80)
            c->offset++;
        c->index++;
    }
    return r->start + c->offset;
}

static struct span span_of(struct reader *r, const yaml_mark_t *from, const yaml_mark_t *to)
{
    uint32_t start = offset_of(r, from->index), end = offset_of(r, to->index);
    return (struct span){r->src, start, end > start ? end - start : 0};
}

static struct span here(struct reader *r)
{
    return span_of(r, &r->event.start_mark, &r->event.end_mark);
}

static void report_parser_error(struct reader *r)
{
    yaml_parser_t *p = &r->parser;
    struct span at = {r->src, r->start, 1};
    if (p->error == YAML_READER_ERROR) {
        at.start = r->start + (uint32_t)(p->problem_offset < r->len ? p->problem_offset : r->len);
        diag_add(r->diags, DIAG_BAD_BYTE, at, "a byte that no YAML text holds: %s", p->problem);
        return;
    }
    if (p->error == YAML_MEMORY_ERROR) {
        diag_add(r->diags, DIAG_TOO_LARGE, at, "no memory for the YAML parser");
        return;
    }
    at.start = offset_of(r, p->problem_mark.index);
    struct diag *d = diag_add(r->diags, DIAG_YAML, at, "%s", p->problem ? p->problem : "malformed YAML");
    if (p->problem && strstr(p->problem, "mapping values are not allowed"))
        diag_hint(r->diags, d, "a text that holds `: ` stands in quotes");
    if (p->context && p->context_mark.index < p->problem_mark.index) {
        struct span context = {r->src, offset_of(r, p->context_mark.index), 1};
        diag_also(r->diags, d, context, "%s from here", p->context);
    }
}

/* libyaml looks at every open bracket for each token: without a bound a file of brackets takes hours. */
static bool too_deep(struct reader *r)
{
    yaml_event_type_t t = r->event.type;
    if (t == YAML_MAPPING_END_EVENT || t == YAML_SEQUENCE_END_EVENT)
        r->depth--;
    if (t != YAML_MAPPING_START_EVENT && t != YAML_SEQUENCE_START_EVENT)
        return false;
    if (r->depth++ < KEYS_MAX_DEPTH)
        return false;
    diag_add(r->diags, DIAG_TOO_LARGE, here(r), "maps and lists are nested deeper than %d", KEYS_MAX_DEPTH);
    return true;
}

/* Moves to the next event; false at an error, reported once. */
static bool next(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = false;
    if (r->failed)
        return false;
    if (!yaml_parser_parse(&r->parser, &r->event)) {
        report_parser_error(r);
        r->failed = true;
        return false;
    }
    r->has_event = true;
    r->failed = too_deep(r);
    return !r->failed;
}

/* The event in hand begins a node: moves to its last event. */
static bool skip_node(struct reader *r)
{
    size_t depth = 0;
    for (;;) {
        yaml_event_type_t t = r->event.type;
        if (t == YAML_MAPPING_START_EVENT || t == YAML_SEQUENCE_START_EVENT)
            depth++;
        else if (depth && (t == YAML_MAPPING_END_EVENT || t == YAML_SEQUENCE_END_EVENT))
            depth--;
        if (!depth)
            return true;
        if (!next(r))
            return false;
    }
}

static bool has_anchor_or_tag(const yaml_event_t *e)
{
    switch ((int)e->type) {
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor || e->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor || e->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor || e->data.mapping_start.tag;
    default:
        return e->type == YAML_ALIAS_EVENT;
    }
}

/* Reports what declarations do not use; the node is skipped. */
static bool plain_node(struct reader *r)
{
    if (!has_anchor_or_tag(&r->event))
        return true;
    struct diag *d = diag_add(r->diags, DIAG_YAML_FEATURE, here(r), "tags, anchors and aliases have no meaning here");
    diag_hint(r->diags, d, "write the value itself");
    skip_node(r);
    return false;
}

static struct key_value value_of(struct reader *r)
{
    size_t len = r->event.data.scalar.length;
    yaml_scalar_style_t style = r->event.data.scalar.style;
    return (struct key_value){.text = arena_strn(r->arena, (const char *)r->event.data.scalar.value, len),
                              .len = len,
                              .span = here(r),
                              .quoted = style != YAML_PLAIN_SCALAR_STYLE};
}

static void wrong_shape(struct reader *r, const struct key *k)
{
    struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, here(r), "%s cannot have this value", k->yaml);
    diag_hint(r->diags, d, "write %s", k->expect);
    skip_node(r);
}

/* ---- Types ---------------------------------------------------------------------------------------------- */

static bool one_of(const struct key_value *v, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == v->len && !memcmp(words[i], v->text, v->len))
            return true;
    return false;
}

static bool is_null(const struct key_value *v)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return !v->quoted && one_of(v, words, sizeof words / sizeof *words);
}

static bool is_bool(const struct key_value *v)
{
    static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
    return !v->quoted && one_of(v, words, sizeof words / sizeof *words);
}

static bool is_number(const struct key_value *v)
{
    if (v->quoted || !v->len || v->len > 64)
        return false;
    char copy[65], *end;
    memcpy(copy, v->text, v->len);
    copy[v->len] = '\0';
    if (!strpbrk(copy, "0123456789"))
        return false;
    strtod(copy, &end);
    return !*end;
}

/* Text must be meant as text: a null, boolean or number in its place is a slip. */
static bool is_text(struct reader *r, const struct key *k, const struct key_value *v)
{
    bool number = is_number(v) && k->shape != KEY_PAIRS;
    if (!is_null(v) && !is_bool(v) && !number)
        return true;
    struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, v->span, "%s is %s, not a text", k->yaml,
                              is_null(v) ? "null" : is_bool(v) ? "a boolean" : "a number");
    diag_hint(r->diags, d, is_null(v) ? "write %s" : "put it in quotes, or write %s", k->expect);
    return false;
}

/* ---- Keys of maps -------------------------------------------------------------------------------------- */

static int by_text(const void *x, const void *y)
{
    const struct seen_key *a = x, *b = y;
    size_t n = a->len < b->len ? a->len : b->len;
    int c = memcmp(a->text, b->text, n);
    if (c)
        return c;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

static void remember(struct reader *r, struct key_list *l, const struct key_value *v)
{
    l->items = arena_grow(r->arena, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct seen_key){v->text, v->len, v->span};
}

static void report_duplicates(struct reader *r, struct key_list *l)
{
    if (l->n > 1)
        qsort(l->items, l->n, sizeof *l->items, by_text);
    for (size_t i = 1, first = 0; i < l->n; i++) {
        const struct seen_key *a = &l->items[first], *b = &l->items[i];
        if (a->len != b->len || memcmp(a->text, b->text, a->len) != 0) {
            first = i;
            continue;
        }
        struct diag *d = diag_add(r->diags, DIAG_DUPLICATE_KEY, b->span, "`%s` stands twice in this map",
                                  diag_escape(r->arena, b->text, b->len));
        diag_also(r->diags, d, a->span, "first said here");
    }
}

/* Reads the key in hand and moves to its value's first event. False: the map is over or broken. A key that
 * is no text is reported and skipped with its value, and `*out_usable` is false. */
static bool read_key(struct reader *r, struct key_value *out, bool *out_usable)
{
    *out_usable = false;
    if (!next(r) || r->event.type == YAML_MAPPING_END_EVENT)
        return false;
    if (plain_node(r)) {
        if (r->event.type == YAML_SCALAR_EVENT) {
            *out = value_of(r);
            *out_usable = true;
        } else {
            diag_add(r->diags, DIAG_BAD_VALUE, here(r), "a key is a word");
            skip_node(r);
        }
    }
    if (r->failed || !next(r))
        return false;
    return *out_usable || skip_node(r);
}

/* ---- Values --------------------------------------------------------------------------------------------- */

static void put(struct reader *r, const struct key *k, const struct key_value *v)
{
    struct key_value marked = *v;
    marked.path_flags |= k->path ? DECL_YAML : 0;
    if (!k->text || is_text(r, k, v))
        k->scalar(&r->builder, k, &marked);
}

static void defer(struct reader *r, const struct key *k, struct key_value v)
{
    r->deferred = arena_grow(r->arena, r->deferred, &r->cap_deferred, r->n_deferred + 1, sizeof *r->deferred);
    r->deferred[r->n_deferred++] = (struct deferred){k, v};
}

static void apply_deferred(struct reader *r)
{
    for (size_t i = 0; i < r->n_deferred; i++)
        put(r, r->deferred[i].key, &r->deferred[i].value);
    r->n_deferred = 0;
}

static bool read_flag(struct reader *r, const struct key_value *name, unsigned *flags)
{
    unsigned flag = keys_path_word(name->text, name->len);
    if (r->event.type != YAML_SCALAR_EVENT)
        return false;
    struct key_value v = value_of(r);
    bool yes = !v.quoted && v.len == 4 && !memcmp(v.text, "true", 4);
    bool no = !v.quoted && v.len == 5 && !memcmp(v.text, "false", 5);
    if (yes)
        *flags |= flag;
    return yes || no;
}

/* {path: P, literal: true, optional: true} */
static bool read_path_map(struct reader *r, const struct key *k)
{
    struct key_list seen = {0};
    struct key_value name, path = {0};
    struct span open = here(r);
    unsigned flags = 0;
    bool usable;
    while (read_key(r, &name, &usable)) {
        if (!usable || !plain_node(r))
            continue;
        remember(r, &seen, &name);
        bool is_path = name.len == 4 && !memcmp(name.text, "path", 4);
        if (!is_path && !keys_path_word(name.text, name.len)) {
            struct diag *d = diag_add(r->diags, DIAG_UNKNOWN_KEY, name.span, "`%s` is no property of a path",
                                      diag_escape(r->arena, name.text, name.len));
            diag_hint(r->diags, d, "a path is a text, or a map of path, literal and optional");
            skip_node(r);
        } else if (is_path && r->event.type == YAML_SCALAR_EVENT) {
            path = value_of(r);
        } else if (is_path || !read_flag(r, &name, &flags)) {
            struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, here(r), "%.*s cannot have this value", (int)name.len, name.text);
            diag_hint(r->diags, d, is_path ? "write a path" : "write true or false");
            skip_node(r);
        }
    }
    report_duplicates(r, &seen);
    if (r->failed)
        return false;
    if (!path.span.src) {
        diag_add(r->diags, DIAG_BAD_VALUE, open, "this map has no `path`");
        return true;
    }
    path.path_flags = flags;
    put(r, k, &path);
    return true;
}

static bool read_item(struct reader *r, const struct key *k)
{
    if (!plain_node(r))
        return !r->failed;
    if (r->event.type == YAML_SCALAR_EVENT) {
        struct key_value v = value_of(r);
        put(r, k, &v);
    } else if (k->path && r->event.type == YAML_MAPPING_START_EVENT) {
        return read_path_map(r, k);
    } else {
        wrong_shape(r, k);
    }
    return !r->failed;
}

/* A list, or one item without brackets. */
static bool read_list(struct reader *r, const struct key *k)
{
    if (r->event.type != YAML_SEQUENCE_START_EVENT)
        return read_item(r, k);
    while (next(r) && r->event.type != YAML_SEQUENCE_END_EVENT)
        if (!read_item(r, k))
            return false;
    return !r->failed;
}

/* ---- Maps ----------------------------------------------------------------------------------------------- */

static bool read_pairs(struct reader *r, const struct key *k)
{
    if (r->event.type != YAML_MAPPING_START_EVENT) {
        wrong_shape(r, k);
        return !r->failed;
    }
    struct key_list seen = {0};
    struct key_value name;
    bool usable;
    while (read_key(r, &name, &usable)) {
        if (!usable || !plain_node(r))
            continue;
        remember(r, &seen, &name);
        if (r->event.type != YAML_SCALAR_EVENT) {
            wrong_shape(r, k);
            continue;
        }
        struct key_value v = value_of(r);
        if (is_text(r, k, &v))
            k->pair(&r->builder, &name, &v);
    }
    report_duplicates(r, &seen);
    return !r->failed;
}

static bool read_value(struct reader *r, const struct key *k);

/* A map whose keys are rows of the table. */
static bool read_block(struct reader *r, const struct key *table)
{
    struct key_list seen = {0};
    struct key_value name;
    bool usable;
    while (read_key(r, &name, &usable)) {
        if (!usable)
            continue;
        const struct key *k = keys_find(table, KEY_YAML, name.text, name.len);
        if (!k)
            keys_unknown(&r->builder, table, KEY_YAML, &name);
        bool once = k && k->shape == KEY_SCALAR;
        if (!once)
            remember(r, &seen, &name);
        if (!k || !keys_once(&r->builder, k, name.span))
            skip_node(r);
        else if (plain_node(r) && !read_value(r, k))
            break;
        if (k && k->path && table == key_profile) {
            bool shape = name.len > 3 && !memcmp(name.text, "fs_", 3);
            struct span *first = shape ? &r->shape_key : &r->native_path_key;
            if (!first->src)
                *first = name.span;
        }
    }
    report_duplicates(r, &seen);
    return !r->failed;
}

static bool read_value(struct reader *r, const struct key *k)
{
    switch (k->shape) {
    case KEY_LIST:
        return read_list(r, k);
    case KEY_PAIRS:
        return read_pairs(r, k);
    case KEY_BLOCK:
        if (r->event.type == YAML_MAPPING_START_EVENT)
            return read_block(r, k->children);
        break;
    case KEY_SCALAR:
        break;
    }
    if (r->event.type == YAML_SCALAR_EVENT)
        defer(r, k, value_of(r));
    else
        wrong_shape(r, k);
    return !r->failed;
}

/* ---- Whole texts ---------------------------------------------------------------------------------------- */

static void mixed_shapes(struct reader *r)
{
    if (!r->shape_key.src || !r->native_path_key.src)
        return;
    bool native_last = r->native_path_key.start > r->shape_key.start;
    struct diag *d = diag_add(r->diags, DIAG_MISPLACED_KEY, native_last ? r->native_path_key : r->shape_key,
                              "read and write do not stand beside fs_read and fs_write");
    diag_also(r->diags, d, native_last ? r->shape_key : r->native_path_key, "the other spelling is here");
    diag_hint(r->diags, d, "use one spelling in one declaration");
}

static void read_native(struct reader *r)
{
    read_block(r, key_profile);
    mixed_shapes(r);
    if (r->shape_key.src)
        r->builder.dialect = KEY_ROBOT_LAB;
    apply_deferred(r);
}

/* Keys that front matter of skills has for sandboxing; all others there belong to someone else. */
static const char *const CAPABILITY[] = {"fs_read", "fs_write", "network", "timeout", "trust"};
static const char *const NATIVE_ONLY[] = {"read", "write", "read_only", "write_only", "exec", "deny", "deny_read",
                                          "deny_write", "deny_exec", "limits", "env", "listen", "system"};
enum { N_CAPABILITY = sizeof CAPABILITY / sizeof *CAPABILITY, N_NATIVE_ONLY = sizeof NATIVE_ONLY / sizeof *NATIVE_ONLY };

/* The capability key that a foreign key was probably meant to be: two slips, or one in a short word that
 * begins alike, so that real keys of others (`tools`, `tags`) stay foreign. */
static const char *near_miss(const struct key_value *v)
{
    unsigned limit = v->len <= 5 ? 1 : 2;
    for (size_t i = 0; i < N_CAPABILITY; i++) {
        if (v->len <= 5 && v->len && v->text[0] != CAPABILITY[i][0])
            continue;
        if (diag_distance(v->text, v->len, CAPABILITY[i], strlen(CAPABILITY[i]), limit) <= limit)
            return CAPABILITY[i];
    }
    return NULL;
}

static void judge_foreign(struct reader *r, const struct key_value *name)
{
    if (one_of(name, NATIVE_ONLY, N_NATIVE_ONLY)) {
        struct diag *d = diag_add(r->diags, DIAG_MISPLACED_KEY, name->span, "`%.*s` belongs beneath `sbx:`",
                                  (int)name->len, name->text);
        diag_hint(r->diags, d, "write sbx: {%.*s: ...}", (int)name->len, name->text);
        return;
    }
    const char *near = near_miss(name);
    if (!near)
        return;
    struct diag *d = diag_add(r->diags, DIAG_FOREIGN_KEY, name->span, "`%s` is no capability",
                              diag_escape(r->arena, name->text, name->len));
    diag_hint(r->diags, d, "did you mean `%s`?", near);
}

static bool read_sbx_section(struct reader *r)
{
    if (!plain_node(r))
        return !r->failed;
    if (r->event.type != YAML_MAPPING_START_EVENT) {
        diag_add(r->diags, DIAG_BAD_VALUE, here(r), "`sbx:` is a map of clauses");
        return skip_node(r);
    }
    return read_block(r, key_profile);
}

/* name and description are shown to people, not enforced: any scalar will do, as other readers take them. */
static bool read_label(struct reader *r, const struct key *k)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return skip_node(r);
    struct key_value v = value_of(r);
    if (v.len)
        k->scalar(&r->builder, k, &v);
    return true;
}

static void read_front_matter(struct reader *r)
{
    struct key_list seen = {0};
    struct key_value name;
    bool usable;
    struct deferred top[N_CAPABILITY];
    size_t n_top = 0;
    while (!r->failed && read_key(r, &name, &usable)) {
        if (!usable)
            continue;
        const struct key *k = keys_find(key_profile, KEY_YAML, name.text, name.len);
        static const char *const labels[] = {"name", "description"};
        if (one_of(&name, CAPABILITY, N_CAPABILITY)) {
            bool list = k->shape == KEY_LIST;
            if (list)
                remember(r, &seen, &name);
            if (list && !r->shape_key.src)
                r->shape_key = name.span;
            if (!keys_once(&r->builder, k, name.span))
                skip_node(r);
            else if (plain_node(r) && read_value(r, k) && r->n_deferred && n_top < N_CAPABILITY)
                top[n_top++] = r->deferred[--r->n_deferred];
            continue;
        }
        remember(r, &seen, &name);
        if (one_of(&name, labels, 2))
            read_label(r, k);
        else if (name.len == 3 && !memcmp(name.text, "sbx", 3))
            read_sbx_section(r);
        else {
            judge_foreign(r, &name);
            skip_node(r);
        }
    }
    report_duplicates(r, &seen);
    mixed_shapes(r);
    apply_deferred(r);
    r->builder.dialect = KEY_ROBOT_LAB;
    for (size_t i = 0; i < n_top; i++)
        put(r, top[i].key, &top[i].value);
}

static bool read_enabled(struct reader *r, bool *out_enabled)
{
    struct key_value v = {0};
    if (r->event.type == YAML_SCALAR_EVENT)
        v = value_of(r);
    if (!is_bool(&v)) {
        struct diag *d = diag_add(r->diags, DIAG_BAD_VALUE, here(r), "enabled cannot have this value");
        diag_hint(r->diags, d, "write true or false");
        return skip_node(r);
    }
    *out_enabled = v.text[0] == 't' || v.text[0] == 'T';
    return true;
}

static const char *const SECTION[] = {"enabled", "fs_read", "fs_write", "network", "timeout"};
enum { N_SECTION = sizeof SECTION / sizeof *SECTION };

static bool read_section_key(struct reader *r, const struct key_value *name, bool *out_enabled)
{
    if (!one_of(name, SECTION, N_SECTION)) {
        struct diag *d = diag_add(r->diags, DIAG_UNKNOWN_KEY, name->span, "`%s` is no key of this section",
                                  diag_escape(r->arena, name->text, name->len));
        const char *near = diag_nearest(name->text, name->len, SECTION, N_SECTION);
        if (near)
            diag_hint(r->diags, d, "did you mean `%s`?", near);
        else
            diag_hint(r->diags, d, "keys here are: enabled, fs_read, fs_write, network, timeout");
        return skip_node(r);
    }
    if (!plain_node(r))
        return !r->failed;
    if (name->text[0] == 'e')
        return read_enabled(r, out_enabled);
    return read_value(r, keys_find(key_profile, KEY_YAML, name->text, name->len));
}

/* `sandbox:` of an application's configuration. A ceiling is a ceiling whether `enabled` or not. */
static bool read_section(struct reader *r, struct span section)
{
    struct key_list seen = {0};
    struct key_value name;
    bool usable, enabled = false;
    r->builder.profile->span = section;
    r->builder.dialect = KEY_ROBOT_LAB;
    r->builder.said_implied_read = true; /* a ceiling asks for nothing */
    if (!plain_node(r))
        return !r->failed;
    if (r->event.type != YAML_MAPPING_START_EVENT) {
        diag_add(r->diags, DIAG_BAD_VALUE, here(r), "`sandbox:` is a map");
        return skip_node(r);
    }
    while (read_key(r, &name, &usable)) {
        if (!usable)
            continue;
        remember(r, &seen, &name);
        if (!read_section_key(r, &name, &enabled))
            return false;
    }
    report_duplicates(r, &seen);
    apply_deferred(r);
    if (!enabled)
        diag_add(r->diags, DIAG_CEILING_DISABLED, section, "this ceiling holds although `enabled` is not true");
    return !r->failed;
}

/* The rest of the configuration is the application's own. */
static void read_configuration(struct reader *r)
{
    struct key_value name;
    bool usable;
    size_t sections = 0;
    while (!r->failed && read_key(r, &name, &usable)) {
        bool section = usable && name.len == 7 && !memcmp(name.text, "sandbox", 7);
        if (section && sections++)
            diag_add(r->diags, DIAG_DUPLICATE_KEY, name.span, "`sandbox` stands twice in this file");
        else if (section) {
            read_section(r, name.span);
            continue;
        }
        if (usable)
            skip_node(r);
    }
}

static bool begin(struct reader *r)
{
    if (!yaml_parser_initialize(&r->parser)) {
        diag_add(r->diags, DIAG_TOO_LARGE, (struct span){r->src, r->start, 0}, "no memory for the YAML parser");
        return false;
    }
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->src->text + r->start, r->len);
    return true;
}

static void end(struct reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
}

/* Does the top map have a key `sandbox`? Asked ahead, because it decides what all other keys are. */
static bool is_configuration(const struct reader *of)
{
    struct reader r = *of;
    struct diag_list quiet;
    struct key_value name;
    bool usable, found = false;
    diag_init(&quiet, of->arena);
    r.diags = &quiet;
    r.depth = 0;
    if (!begin(&r))
        return false;
    bool map = next(&r) && next(&r) && next(&r) && r.event.type == YAML_MAPPING_START_EVENT;
    while (map && !found && read_key(&r, &name, &usable)) {
        found = usable && name.len == 7 && !memcmp(name.text, "sandbox", 7);
        if (usable && !skip_node(&r))
            break;
    }
    end(&r);
    return found;
}

static void read_root(struct reader *r)
{
    if (r->event.type == YAML_SCALAR_EVENT || r->event.type == YAML_SEQUENCE_START_EVENT ||
        r->event.type == YAML_ALIAS_EVENT) {
        struct diag *d = diag_add(r->diags, DIAG_YAML, here(r), "a declaration is a map of clauses");
        diag_hint(r->diags, d, "write `read: [/srv/data]` and the like, or {} to ask for nothing");
        skip_node(r);
        return;
    }
    if (!plain_node(r))
        return;
    if (r->kind == YAML_FRONT_MATTER)
        read_front_matter(r);
    else if (r->kind == YAML_CEILING && is_configuration(r))
        read_configuration(r);
    else
        read_native(r);
}

static void second_document(struct reader *r)
{
    struct diag *d = diag_add(r->diags, DIAG_YAML_FEATURE, here(r), "a second document");
    diag_hint(r->diags, d, "one file is one declaration");
}

static void read_stream(struct reader *r)
{
    if (!next(r) || !next(r)) /* stream start, document start */
        return;
    if (r->event.type == YAML_STREAM_END_EVENT) {
        struct diag *d = diag_add(r->diags, DIAG_YAML, (struct span){r->src, r->start, 0}, "there is no declaration here");
        diag_hint(r->diags, d, "write {} to ask for nothing");
        return;
    }
    if (r->event.data.document_start.version_directive ||
        r->event.data.document_start.tag_directives.start != r->event.data.document_start.tag_directives.end) {
        diag_add(r->diags, DIAG_YAML_FEATURE, here(r), "directives have no meaning here");
        return;
    }
    if (!next(r))
        return;
    read_root(r);
    if (r->failed || !next(r) || !next(r)) /* document end, what follows */
        return;
    if (r->event.type != YAML_STREAM_END_EVENT)
        second_document(r);
}

/* libyaml, as YAML 1.1 has it, ends a line at a lone CR, NEL, LS and PS, where editors and reviews show none: what
 * looks like a part of a comment would be a clause. */
static bool plain_lines(struct reader *r)
{
    static const char *const breaks[] = {"\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    const char *text = r->src->text + r->start, *end = text + r->len, *first = NULL;
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        size_t n = strlen(breaks[i]);
        const char *s = text;
        while (s < end && (s = memmem(s, (size_t)(end - s), breaks[i], n)) && n == 1 && s + 1 < end && s[1] == '\n')
            s += 2;
        if (s && s < end && (!first || s < first))
            first = s;
    }
    if (!first)
        return true;
    struct span at = {r->src, (uint32_t)(first - r->src->text), 1};
    struct diag *d = diag_add(r->diags, DIAG_BAD_BYTE, at, "a line break that is not one everywhere");
    diag_hint(r->diags, d, "end lines with LF or CRLF; in a text in double quotes write \\r, \\N, \\L or \\P");
    return false;
}

void yaml_read(const struct source *src, uint32_t start, uint32_t len, enum yaml_kind kind, struct arena *a,
               struct diag_list *diags, struct decl_profile *out)
{
    struct reader r = {.src = src, .start = start, .len = len, .kind = kind, .arena = a, .diags = diags};
    if (!plain_lines(&r) || !begin(&r))
        return;
    keys_begin(&r.builder, a, diags, out);
    read_stream(&r);
    end(&r);
}

static void parse(const struct source *src, enum fe_role role, struct arena *a, struct diag_list *diags,
                  struct decl_file *out)
{
    out->src = src;
    struct decl_profile *p = decl_new_profile(out, a, (struct span){src, 0, 0});
    yaml_read(src, 0, src->len, role == FE_CEILING ? YAML_CEILING : YAML_DECLARATION, a, diags, p);
}

const struct frontend fe_yaml = {
    .name = "yaml", .suffixes = ".yml .yaml", .summary = "the same clauses as YAML", .parse = parse};
