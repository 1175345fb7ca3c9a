#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ERRORS = 20, MAX_SHOWN_LINE = 160, MAX_WORD = 64 };

static const struct {
    const char *name;
    enum diag_severity severity;
    const char *summary;
} TABLE[DIAG_COUNT] = {
#define DIAG(id, name, severity, summary) [id] = {name, severity, summary},
#include "diag.def"
#undef DIAG
};

void diag_init(struct diag_list *l, struct arena *a)
{
    *l = (struct diag_list){.arena = a};
}

static const char *format(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        return "";
    char *s = arena_alloc(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

struct diag *diag_add(struct diag_list *l, enum diag_id id, struct span at, const char *fmt, ...)
{
    struct diag *d = ARENA_NEW(l->arena, struct diag);
    va_list ap;
    va_start(ap, fmt);
    *d = (struct diag){.id = id,
                       .severity = TABLE[id].severity,
                       .span = at,
                       .text = format(l->arena, fmt, ap),
                       .order = l->n};
    va_end(ap);
    bool cut = id == DIAG_CEILING_CUT || d->severity == DIAG_WARNING;
    if (l->strict && cut)
        d->severity = DIAG_ERROR;
    if (d->severity == DIAG_ERROR)
        l->n_errors++;
    l->items = arena_grow(l->arena, l->items, &l->cap, l->n + 1, sizeof(struct diag *));
    l->items[l->n++] = d;
    return d;
}

static void add_note(struct diag_list *l, struct diag *d, struct span at, const char *text)
{
    struct diag_note **tail = &d->notes;
    while (*tail)
        tail = &(*tail)->next;
    *tail = ARENA_NEW(l->arena, struct diag_note);
    **tail = (struct diag_note){.span = at, .text = text};
}

void diag_also(struct diag_list *l, struct diag *d, struct span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_note(l, d, at, format(l->arena, fmt, ap));
    va_end(ap);
}

void diag_hint(struct diag_list *l, struct diag *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_note(l, d, (struct span){0}, format(l->arena, fmt, ap));
    va_end(ap);
}

const char *diag_name(enum diag_id id)
{
    return TABLE[id].name;
}

const char *diag_summary(enum diag_id id)
{
    return TABLE[id].summary;
}

enum diag_severity diag_default_severity(enum diag_id id)
{
    return TABLE[id].severity;
}

const char *diag_severity_name(enum diag_severity s)
{
    switch (s) {
    case DIAG_NOTE:
        return "note";
    case DIAG_WARNING:
        return "warning";
    case DIAG_ERROR:
        return "error";
    }
    return "";
}

/* Length of the valid UTF-8 sequence at s, 0 if there is none. Surrogates and overlong forms are none. */
static size_t utf8_len(const unsigned char *s, size_t left)
{
    if (s[0] < 0x80)
        return 1;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* Characters beyond ASCII that show as something else than they are: C1 controls (U+0080-U+009F) start terminal
 * sequences on some terminals, U+2028 and U+2029 break lines, marks of direction reorder what is around them. */
static bool is_disguise(const unsigned char *u, size_t n)
{
    if (n == 2)
        return u[0] == 0xc2 && u[1] < 0xa0;
    if (n != 3 || u[0] != 0xe2)
        return false;
    return (u[1] == 0x80 && (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae))) ||
           (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
}

/* Appends one character of input as it may be shown, and returns how many bytes it took. */
static size_t put_shown(struct buf *out, const char *s, size_t left)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = utf8_len(u, left);
    bool control = u[0] < 0x20 || u[0] == 0x7f || is_disguise(u, n);
    if (n && !control) {
        buf_put(out, s, n);
        return n;
    }
    if (!n)
        n = 1;
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "\\x%02x", u[i]);
    return n;
}

const char *diag_escape(struct arena *a, const char *s, size_t len)
{
    struct buf b = {0};
    for (size_t i = 0; i < len;)
        i += put_shown(&b, s + i, len - i);
    const char *shown = buf_ok(&b) ? arena_strn(a, b.data ? b.data : "", b.len) : "";
    buf_done(&b);
    return shown;
}

/* The line and, below it, ^~~~ under the span. Long lines show the part around the span. */
static void render_line(struct buf *out, struct source_pos pos, uint32_t span_len)
{
    uint32_t at = pos.column - 1 < pos.len ? pos.column - 1 : pos.len;
    uint32_t from = at > MAX_SHOWN_LINE / 2 && pos.len > MAX_SHOWN_LINE ? at - MAX_SHOWN_LINE / 2 : 0;
    while (from && ((unsigned char)pos.text[from] & 0xc0) == 0x80)
        from--;
    uint32_t to = pos.len - from > MAX_SHOWN_LINE ? from + MAX_SHOWN_LINE : pos.len;
    while (to < pos.len && ((unsigned char)pos.text[to] & 0xc0) == 0x80)
        to++;
    struct buf marks = {0};
    buf_str(out, from ? "  ..." : "  ");
    buf_str(&marks, from ? "     " : "  ");
    for (uint32_t i = from; i < to;) {
        size_t before = out->len;
        uint32_t n = 1;
        if (pos.text[i] == '\t')
            buf_byte(out, '\t');
        else
            n = (uint32_t)put_shown(out, pos.text + i, to - i);
        size_t width = pos.text[i] == '\\' || out->len - before == n ? 1 : out->len - before;
        char mark = i == at ? '^' : i > at && i < at + span_len ? '~' : ' ';
        for (size_t w = 0; i <= at + span_len && w < width; w++) {
            char m = mark == '^' && w ? (span_len > 1 ? '~' : ' ') : mark;
            buf_byte(&marks, (unsigned char)(pos.text[i] == '\t' && m == ' ' ? '\t' : m));
        }
        i += n;
    }
    if (to < pos.len)
        buf_str(out, "...");
    if (at >= to)
        buf_byte(&marks, '^');
    while (marks.len && marks.data[marks.len - 1] == ' ')
        marks.len--;
    buf_byte(out, '\n');
    buf_put(out, marks.data, marks.len);
    buf_byte(out, '\n');
    buf_done(&marks);
}

static void render_place(struct arena *a, struct buf *out, struct span at)
{
    if (!at.src) {
        buf_str(out, "sbxc: ");
        return;
    }
    struct source_pos pos = source_locate(at.src, at.start);
    buf_printf(out, "%s:%u:%u: ", diag_escape(a, at.src->name, strlen(at.src->name)), pos.line, pos.column);
}

static void render_text(struct buf *out, struct span at)
{
    if (at.src)
        render_line(out, source_locate(at.src, at.start), at.len);
}

static void render_one(const struct diag_list *l, struct buf *out, const struct diag *d)
{
    render_place(l->arena, out, d->span);
    buf_printf(out, "%s: %s [%s]\n", diag_severity_name(d->severity), d->text, TABLE[d->id].name);
    render_text(out, d->span);
    for (const struct diag_note *n = d->notes; n; n = n->next) {
        if (n->span.src) {
            render_place(l->arena, out, n->span);
            buf_printf(out, "note: %s\n", n->text);
            render_text(out, n->span);
        } else {
            buf_printf(out, "  hint: %s\n", n->text);
        }
    }
}

/* Sources in the order in which they first spoke, so that messages of one stay together. */
struct sorted {
    const struct diag *d;
    size_t source;
};

static int by_place(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->d->span.start != b->d->span.start)
        return a->d->span.start < b->d->span.start ? -1 : 1;
    return a->d->order < b->d->order ? -1 : a->d->order > b->d->order;
}

static size_t source_order(const struct source *src, const struct source **seen, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (seen[i] == src)
            return i;
    seen[*n] = src;
    return (*n)++;
}

/* One policy is made for each target's system, and says the same thing again: once is enough. */
static bool repeats(const struct sorted *all, size_t i)
{
    for (size_t j = i; j-- > 0 && all[j].source == all[i].source && all[j].d->span.start == all[i].d->span.start;)
        if (all[j].d->id == all[i].d->id && !strcmp(all[j].d->text, all[i].d->text))
            return true;
    return false;
}

void diag_render(const struct diag_list *l, struct buf *out)
{
    struct sorted *all = arena_array(l->arena, l->n, sizeof *all);
    const struct source **seen = arena_array(l->arena, l->n, sizeof *seen);
    size_t n_seen = 0, errors = 0, hidden = 0;
    for (size_t i = 0; i < l->n; i++)
        all[i] = (struct sorted){l->items[i], source_order(l->items[i]->span.src, seen, &n_seen)};
    if (l->n)
        qsort(all, l->n, sizeof *all, by_place);
    for (size_t i = 0; i < l->n; i++) {
        if (repeats(all, i))
            continue;
        if (all[i].d->severity == DIAG_ERROR && errors++ >= MAX_ERRORS)
            hidden++;
        else
            render_one(l, out, all[i].d);
    }
    if (hidden)
        buf_printf(out, "sbxc: %zu more errors not shown\n", hidden);
}

unsigned diag_distance(const char *a, size_t la, const char *b, size_t lb, unsigned limit)
{
    if (la > MAX_WORD || lb > MAX_WORD)
        return limit + 1;
    unsigned row[3][MAX_WORD + 1];
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        unsigned *now = row[i % 3], *above = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            now[j] = best;
        }
    }
    unsigned d = row[la % 3][lb];
    return d > limit ? limit + 1 : d;
}

const char *diag_nearest(const char *word, size_t len, const char *const *candidates, size_t n)
{
    /* About a third of the word may be wrong: "raed" is read (neighbours swapped), "deny" is not env. */
    unsigned limit = len < 3 ? 0 : len < 6 ? 1 : len < 9 ? 2 : 3;
    const char *best = NULL;
    unsigned best_distance = limit + 1;
    for (size_t i = 0; i < n; i++) {
        unsigned d = diag_distance(word, len, candidates[i], strlen(candidates[i]), limit);
        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    return best;
}
