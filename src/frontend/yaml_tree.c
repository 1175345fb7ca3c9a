/* libyaml's events to nodes. Nothing else includes <yaml.h>.
 *
 * libyaml counts characters, we count bytes; in a text without characters beyond ASCII that is the same, else a
 * cursor leads from one to the other. A scalar that reads as it is spelt is not copied: its text is the source's.
 */
#include "yaml_tree.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Up to here a map's keys are compared each with each, beyond they are sorted. */
enum { FEW_KEYS = 8 };

/* A map or list that is open. */
struct frame {
    struct yaml_node *node;
    struct yaml_node **tail;
    struct yaml_node *key; /* of a map: read, and its value is not */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* owned by libyaml */
    const struct source *src;
    uint32_t start, len;
    bool ascii;
    /* Where libyaml's character `index` stands. Marks come nearly in order, so it walks. */
    size_t index;
    uint32_t offset;
    struct arena *arena;
    struct diag_list *diags;
    struct frame stack[YAML_MAX_DEPTH];
    size_t depth, n_nodes;
    struct yaml_node *root;
};

/* ---- Places --------------------------------------------------------------------------------------------- */

/* Of eight bytes at once: is any beyond ASCII? */
static bool any_high(const char *s)
{
    uint64_t eight;
    memcpy(&eight, s, sizeof eight);
    return eight & 0x8080808080808080;
}

static bool is_ascii(const char *s, size_t len)
{
    size_t i = 0;
    while (i + 8 <= len && !any_high(s + i))
        i += 8;
    while (i < len && !((unsigned char)s[i] & 0x80))
        i++;
    return i == len;
}

static bool continues(const char *text, uint32_t offset)
{
    return ((unsigned char)text[offset] & 0xc0) == 0x80;
}

static uint32_t offset_of(struct reader *r, size_t index)
{
    if (r->ascii)
        return r->start + (uint32_t)(index < r->len ? index : r->len);
    const char *text = r->src->text + r->start;
    while (r->index > index) {
        r->offset--;
        while (r->offset && continues(text, r->offset))
            r->offset--;
        r->index--;
    }
    while (r->index < index && r->offset < r->len) {
        if (index - r->index >= 8 && r->len - r->offset >= 8 && !any_high(text + r->offset)) {
            r->offset += 8;
            r->index += 8;
            continue;
        }
        r->offset++;
        while (r->offset < r->len && continues(text, r->offset))
            r->offset++;
        r->index++;
    }
    return r->start + r->offset;
}

static struct span here(struct reader *r)
{
    uint32_t start = offset_of(r, r->event.start_mark.index), end = offset_of(r, r->event.end_mark.index);
    return (struct span){r->src, start, end > start ? end - start : 0};
}

/* ---- Errors of the whole text --------------------------------------------------------------------------- */

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

/* The first line break beyond LF and CRLF, NULL if there is none. */
static const char *odd_break(const char *s, const char *end, bool ascii)
{
    const char *cr = memchr(s, '\r', (size_t)(end - s));
    while (cr && cr + 1 < end && cr[1] == '\n')
        cr = memchr(cr + 2, '\r', (size_t)(end - (cr + 2)));
    if (ascii)
        return cr;
    end = cr ? cr : end;
    while (s < end) {
        size_t left = (size_t)(end - s);
        if (left >= 8 && !any_high(s))
            s += 8;
        else if ((left >= 2 && !memcmp(s, "\xc2\x85", 2)) ||
                 (left >= 3 && (!memcmp(s, "\xe2\x80\xa8", 3) || !memcmp(s, "\xe2\x80\xa9", 3))))
            return s;
        else
            s++;
    }
    return cr;
}

/* libyaml, as YAML 1.1 has it, ends a line at a lone CR, NEL, LS and PS, where editors and reviews show none: what
 * looks like a part of a comment would be a clause. */
static bool plain_lines(struct reader *r)
{
    const char *text = r->src->text + r->start, *first = odd_break(text, text + r->len, r->ascii);
    if (!first)
        return true;
    struct span at = {r->src, (uint32_t)(first - r->src->text), 1};
    struct diag *d = diag_add(r->diags, DIAG_BAD_BYTE, at, "a line break that is not one everywhere");
    diag_hint(r->diags, d, "end lines with LF or CRLF; in a text in double quotes write \\r, \\N, \\L or \\P");
    return false;
}

/* ---- Events to nodes ------------------------------------------------------------------------------------ */

/* The source's own bytes if the scalar is spelt as it reads, else a copy. */
static const char *keep_text(struct reader *r, struct span at, uint32_t quotes)
{
    const char *value = (const char *)r->event.data.scalar.value;
    size_t len = r->event.data.scalar.length;
    const char *spelt = r->src->text + at.start + quotes;
    if (at.len == len + 2 * quotes && !memcmp(spelt, value, len))
        return spelt;
    return arena_strn(r->arena, value, len);
}

static struct yaml_node *new_node(struct reader *r, enum yaml_node_kind kind, bool feature)
{
    struct yaml_node *n = ARENA_NEW(r->arena, struct yaml_node);
    n->kind = (uint8_t)kind;
    n->feature = feature;
    n->span = here(r);
    r->n_nodes++;
    return n;
}

static struct yaml_node *new_scalar(struct reader *r)
{
    yaml_scalar_style_t style = r->event.data.scalar.style;
    bool in_quotes = style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    bool feature = r->event.data.scalar.anchor || r->event.data.scalar.tag;
    struct yaml_node *n = new_node(r, YAML_SCALAR, feature);
    n->quoted = style != YAML_PLAIN_SCALAR_STYLE;
    n->size = (uint32_t)r->event.data.scalar.length;
    n->text = keep_text(r, n->span, in_quotes ? 1 : 0);
    return n;
}

/* The node is whole: it becomes a key, an entry, an item or the document. */
static void place(struct reader *r, struct yaml_node *n)
{
    if (!r->depth) {
        r->root = n;
        return;
    }
    struct frame *f = &r->stack[r->depth - 1];
    if (f->node->kind == YAML_MAP && !f->key) {
        f->key = n;
        return;
    }
    n->key = f->key;
    f->key = NULL;
    *f->tail = n;
    f->tail = &n->next;
    f->node->size++;
}

/* libyaml looks at every open bracket for each token: without a bound a file of brackets takes hours. */
static bool open_collection(struct reader *r, enum yaml_node_kind kind, bool feature)
{
    struct yaml_node *n = new_node(r, kind, feature);
    if (!n->span.len)
        n->span.len = 1; /* block style has no bracket */
    if (r->depth == YAML_MAX_DEPTH) {
        diag_add(r->diags, DIAG_TOO_LARGE, n->span, "maps and lists are nested deeper than %d", YAML_MAX_DEPTH);
        return false;
    }
    r->stack[r->depth++] = (struct frame){.node = n, .tail = &n->first};
    return true;
}

static bool begin_document(struct reader *r)
{
    if (r->root) {
        struct diag *d = diag_add(r->diags, DIAG_YAML_FEATURE, here(r), "a second document");
        diag_hint(r->diags, d, "one file is one declaration");
        return false;
    }
    const yaml_event_t *e = &r->event;
    if (!e->data.document_start.version_directive &&
        e->data.document_start.tag_directives.start == e->data.document_start.tag_directives.end)
        return true;
    diag_add(r->diags, DIAG_YAML_FEATURE, here(r), "directives have no meaning here");
    return false;
}

/* Takes the event in hand; false: it was the last that matters. */
static bool take(struct reader *r)
{
    const yaml_event_t *e = &r->event;
    if (r->n_nodes >= YAML_MAX_NODES) {
        diag_add(r->diags, DIAG_TOO_LARGE, here(r), "more than %d keys and values", YAML_MAX_NODES);
        r->root = NULL;
        return false;
    }
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        place(r, new_scalar(r));
        return true;
    case YAML_ALIAS_EVENT: {
        struct yaml_node *n = new_node(r, YAML_SCALAR, true);
        n->text = "";
        place(r, n);
        return true;
    }
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(r, YAML_LIST, e->data.sequence_start.anchor || e->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_collection(r, YAML_MAP, e->data.mapping_start.anchor || e->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        place(r, r->stack[r->depth].node);
        return true;
    case YAML_DOCUMENT_START_EVENT:
        return begin_document(r);
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return true;
    case YAML_STREAM_END_EVENT:
    case YAML_NO_EVENT:
        break;
    }
    if (!r->root) {
        struct diag *d = diag_add(r->diags, DIAG_YAML, (struct span){r->src, r->start, 0}, "there is no declaration here");
        diag_hint(r->diags, d, "write {} to ask for nothing");
    }
    return false;
}

static void read_events(struct reader *r)
{
    for (bool more = true; more;) {
        if (!yaml_parser_parse(&r->parser, &r->event)) {
            report_parser_error(r);
            r->root = NULL;
            return;
        }
        more = take(r);
        yaml_event_delete(&r->event);
    }
}

struct yaml_node *yaml_parse(const struct source *src, uint32_t start, uint32_t len, struct arena *a,
                             struct diag_list *diags)
{
    struct reader r = {.src = src, .start = start, .len = len, .arena = a, .diags = diags};
    r.ascii = is_ascii(src->text + start, len);
    if (!plain_lines(&r))
        return NULL;
    if (!yaml_parser_initialize(&r.parser)) {
        diag_add(diags, DIAG_TOO_LARGE, (struct span){src, start, 0}, "no memory for the YAML parser");
        return NULL;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)src->text + start, len);
    read_events(&r);
    yaml_parser_delete(&r.parser);
    return r.root;
}

/* ---- What declarations do not use ----------------------------------------------------------------------- */

static bool same_text(const struct yaml_node *a, const struct yaml_node *b)
{
    return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

static void report_feature(struct diag_list *diags, const struct yaml_node *n)
{
    struct diag *d = diag_add(diags, DIAG_YAML_FEATURE, n->span, "tags, anchors and aliases have no meaning here");
    diag_hint(diags, d, "write the value itself");
}

static bool usable_key(struct diag_list *diags, const struct yaml_node *key)
{
    if (key->feature) {
        report_feature(diags, key);
    } else if (key->kind != YAML_SCALAR) {
        diag_add(diags, DIAG_BAD_VALUE, key->span, "a key is a word");
    } else if (!key->quoted && yaml_is_word(key, "<<")) {
        struct diag *d = diag_add(diags, DIAG_YAML_FEATURE, key->span, "merge keys have no meaning here");
        diag_hint(diags, d, "write the keys themselves");
    } else {
        return true;
    }
    return false;
}

static void unlink_at(struct yaml_node *of, struct yaml_node **link)
{
    *link = (*link)->next;
    of->size--;
    of->pruned = true;
}

static void report_duplicate(struct diag_list *diags, const struct yaml_node *first, struct yaml_node *again)
{
    const struct yaml_node *key = again->key;
    struct diag *d = diag_add(diags, DIAG_DUPLICATE_KEY, key->span, "`%s` stands twice in this map",
                              diag_escape(diags->arena, key->text, key->size));
    diag_also(diags, d, first->key->span, "first said here");
}

static int by_key(const void *x, const void *y)
{
    const struct yaml_node *a = (*(struct yaml_node *const *)x)->key, *b = (*(struct yaml_node *const *)y)->key;
    int c = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
    if (c)
        return c;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->span.start < b->span.start ? -1 : a->span.start > b->span.start;
}

/* Few keys: each entry is looked up among those before it. */
static void drop_duplicates(struct diag_list *diags, struct yaml_node *map)
{
    for (struct yaml_node **link = &map->first; *link;) {
        struct yaml_node *first = map->first;
        while (first != *link && !same_text(first->key, (*link)->key))
            first = first->next;
        if (first == *link) {
            link = &first->next;
            continue;
        }
        report_duplicate(diags, first, *link);
        unlink_at(map, link);
    }
}

/* Many keys: equal ones stand side by side once sorted. An entry that is one too many loses its key. */
static void drop_duplicates_sorted(struct diag_list *diags, struct yaml_node *map)
{
    struct yaml_node **all = arena_array(diags->arena, map->size, sizeof *all);
    size_t n = 0, first = 0;
    for (struct yaml_node *e = map->first; e; e = e->next)
        all[n++] = e;
    qsort(all, n, sizeof *all, by_key);
    for (size_t i = 1; i < n; i++) {
        if (!same_text(all[first]->key, all[i]->key)) {
            first = i;
            continue;
        }
        report_duplicate(diags, all[first], all[i]);
        all[i]->key = NULL;
    }
    for (struct yaml_node **link = &map->first; *link;) {
        if ((*link)->key)
            link = &(*link)->next;
        else
            unlink_at(map, link);
    }
}

bool yaml_vet_keys(struct diag_list *diags, struct yaml_node *map)
{
    if (map->feature) {
        report_feature(diags, map);
        return false;
    }
    for (struct yaml_node **link = &map->first; *link;) {
        if (usable_key(diags, (*link)->key))
            link = &(*link)->next;
        else
            unlink_at(map, link);
    }
    if (map->size <= FEW_KEYS)
        drop_duplicates(diags, map);
    else
        drop_duplicates_sorted(diags, map);
    return true;
}

/* As deep as yaml_parse() lets maps and lists nest. */
bool yaml_vet(struct diag_list *diags, struct yaml_node *n)
{
    if (n->kind == YAML_MAP && !yaml_vet_keys(diags, n))
        return false;
    if (n->kind != YAML_MAP && n->feature) {
        report_feature(diags, n);
        return false;
    }
    if (n->kind == YAML_SCALAR)
        return true;
    for (struct yaml_node **link = &n->first; *link;) {
        if (yaml_vet(diags, *link))
            link = &(*link)->next;
        else
            unlink_at(n, link);
    }
    return true;
}

/* ---- Asking --------------------------------------------------------------------------------------------- */

bool yaml_is_word(const struct yaml_node *n, const char *word)
{
    return n->kind == YAML_SCALAR && n->size == strlen(word) && !memcmp(n->text, word, n->size);
}

bool yaml_key_is(const struct yaml_node *entry, const char *word)
{
    return entry->key && yaml_is_word(entry->key, word);
}

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    for (struct yaml_node *e = map->kind == YAML_MAP ? map->first : NULL; e; e = e->next)
        if (yaml_key_is(e, key))
            return e;
    return NULL;
}

const struct yaml_node *yaml_first(const struct yaml_node *list)
{
    return list->kind == YAML_LIST ? list->first : list;
}

const struct yaml_node *yaml_after(const struct yaml_node *list, const struct yaml_node *item)
{
    return list == item ? NULL : item->next;
}

static bool is_plain_word(const struct yaml_node *n, const char *const *words, size_t n_words)
{
    if (n->kind != YAML_SCALAR || n->quoted)
        return false;
    for (size_t i = 0; i < n_words; i++)
        if (yaml_is_word(n, words[i]))
            return true;
    return false;
}

bool yaml_is_null(const struct yaml_node *n)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    return n->size <= 4 && is_plain_word(n, words, sizeof words / sizeof *words);
}

bool yaml_bool(const struct yaml_node *n, bool *out)
{
    static const char *const words[] = {"true", "True", "TRUE", "false", "False", "FALSE"};
    if ((n->size != 4 && n->size != 5) || !is_plain_word(n, words, sizeof words / sizeof *words))
        return false;
    *out = n->size == 4;
    return true;
}

bool yaml_is_bool(const struct yaml_node *n)
{
    bool value;
    return yaml_bool(n, &value);
}

bool yaml_is_number(const struct yaml_node *n)
{
    if (n->kind != YAML_SCALAR || n->quoted || !n->size || n->size > 64 || !memchr("+-.0123456789", n->text[0], 13))
        return false;
    char copy[65], *end;
    memcpy(copy, n->text, n->size);
    copy[n->size] = '\0';
    if (!strpbrk(copy, "0123456789"))
        return false;
    strtod(copy, &end);
    return end == copy + n->size;
}

void yaml_wrong(struct diag_list *diags, const struct yaml_node *n, const char *what, const char *expect)
{
    struct diag *d = diag_add(diags, DIAG_BAD_VALUE, n->span, "%s cannot have this value", what);
    diag_hint(diags, d, "write %s", expect);
}

bool yaml_is_text(struct diag_list *diags, const struct yaml_node *n, const char *what, const char *expect)
{
    if (n->kind != YAML_SCALAR) {
        yaml_wrong(diags, n, what, expect);
        return false;
    }
    bool null = yaml_is_null(n), boolean = yaml_is_bool(n);
    if (!null && !boolean && !yaml_is_number(n))
        return true;
    struct diag *d = diag_add(diags, DIAG_BAD_VALUE, n->span, "%s is %s, not a text", what,
                              null ? "null" : boolean ? "a boolean" : "a number");
    diag_hint(diags, d, null ? "write %s" : "put it in quotes, or write %s", expect);
    return false;
}

void yaml_unknown_key(struct diag_list *diags, const struct yaml_node *entry, const char *where,
                      const char *const *names, size_t n_names)
{
    const struct yaml_node *key = entry->key;
    struct diag *d = diag_add(diags, DIAG_UNKNOWN_KEY, key->span, "`%s` is no key of %s",
                              diag_escape(diags->arena, key->text, key->size), where);
    const char *near = diag_nearest(key->text, key->size, names, n_names);
    if (near) {
        diag_hint(diags, d, "did you mean `%s`?", near);
        return;
    }
    struct buf list = {0};
    for (size_t i = 0; i < n_names; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    diag_hint(diags, d, "keys here are: %s", list.data ? list.data : "");
    buf_done(&list);
}
