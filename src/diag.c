#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ERRORS = 20, MAX_SHOWN_BYTES = 160, MAX_WORD = 64 };

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

static enum diag_severity severity_of(const struct diag_list *l, enum diag_id id)
{
    enum diag_severity usual = TABLE[id].severity;
    bool cut = id == DIAG_CEILING_CUT || id == DIAG_REOPENED || usual == DIAG_WARNING;
    return l->strict && cut ? DIAG_ERROR : usual;
}

struct diag *diag_add(struct diag_list *l, enum diag_id id, struct span at, const char *fmt, ...)
{
    enum diag_severity severity = severity_of(l, id);
    if (severity == DIAG_ERROR)
        l->n_errors++;
    if (l->n_of[id] == DIAG_MAX_KEPT) {
        l->n_unkept[severity]++;
        return &l->unkept;
    }
    l->n_of[id]++;
    struct diag *d = ARENA_NEW(l->arena, struct diag);
    va_list ap;
    va_start(ap, fmt);
    *d = (struct diag){
        .id = id, .severity = severity, .span = at, .text = format(l->arena, fmt, ap), .order = l->n};
    va_end(ap);
    l->items = arena_grow(l->arena, l->items, &l->cap, l->n + 1, sizeof(struct diag *));
    l->items[l->n++] = d;
    return d;
}

static void add_note(struct diag_list *l, struct diag *d, struct span at, const char *fmt, va_list ap)
{
    if (d == &l->unkept)
        return;
    struct diag_note *n = ARENA_NEW(l->arena, struct diag_note);
    *n = (struct diag_note){.span = at, .text = format(l->arena, fmt, ap)};
    if (d->last_note)
        d->last_note->next = n;
    else
        d->notes = n;
    d->last_note = n;
}

void diag_also(struct diag_list *l, struct diag *d, struct span at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_note(l, d, at, fmt, ap);
    va_end(ap);
}

void diag_hint(struct diag_list *l, struct diag *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_note(l, d, (struct span){0}, fmt, ap);
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

/* Columns that a character takes on a terminal: none for what combines with the one before it, two for East Asian
 * wide characters and pictures (Unicode's East_Asian_Width W and F, by whole blocks). */
static unsigned columns_of(const unsigned char *u, size_t n)
{
    static const struct {
        uint32_t first, last;
        unsigned columns;
    } ranges[] = {
        {0x0300, 0x036f, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05bd, 0},   {0x064b, 0x065f, 0},
        {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x200b, 0x200d, 0},
        {0x20d0, 0x20ff, 0},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
        {0xf900, 0xfaff, 2},   {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},
        {0xfeff, 0xfeff, 0},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2},
        {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0},
    };
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = u[0] & lead_bits[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (u[i] & 0x3f);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

/* Appends one character of input as it may be shown. Returns how many bytes of input it took. */
static size_t put_shown(struct buf *out, const char *s, size_t left, unsigned *out_columns)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = utf8_len(u, left);
    bool control = u[0] < 0x20 || u[0] == 0x7f || is_disguise(u, n);
    if (n && !control) {
        buf_put(out, s, n);
        *out_columns = columns_of(u, n);
        return n;
    }
    if (!n)
        n = 1;
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "\\x%02x", u[i]);
    *out_columns = 4 * (unsigned)n;
    return n;
}

void diag_put_escaped(struct buf *out, const char *s, size_t len)
{
    unsigned columns;
    for (size_t i = 0; i < len;)
        i += put_shown(out, s + i, len - i, &columns);
}

const char *diag_escape(struct arena *a, const char *s, size_t len)
{
    struct buf b = {0};
    diag_put_escaped(&b, s, len);
    const char *shown = buf_ok(&b) ? arena_strn(a, b.data ? b.data : "", b.len) : "";
    buf_done(&b);
    return shown;
}

/* ---- A line of input and the marks below it ------------------------------------------------------------- */

/* The part of a line that is shown: all of it, or so much around a span. Offsets are bytes in the line. */
struct window {
    struct source_pos pos; /* of the span */
    uint32_t at;           /* where the span begins, at most pos.len */
    uint32_t from, to;
};

static struct window window_at(struct span at)
{
    struct window w = {.pos = source_locate(at.src, at.start)};
    uint32_t len = w.pos.len;
    w.at = w.pos.column - 1 < len ? w.pos.column - 1 : len;
    if (len > MAX_SHOWN_BYTES && w.at > MAX_SHOWN_BYTES / 2)
        w.from = w.at - MAX_SHOWN_BYTES / 2;
    w.to = len - w.from > MAX_SHOWN_BYTES ? w.from + MAX_SHOWN_BYTES : len;
    /* At most three bytes: a line of nothing but continuation bytes is not followed to its beginning. */
    for (int i = 0; i < 3 && w.from && ((unsigned char)w.pos.text[w.from] & 0xc0) == 0x80; i++)
        w.from--;
    return w;
}

/* Is that place one that the window shows? */
static bool shows(const struct window *w, struct span main, struct span at)
{
    if (at.src != main.src)
        return false;
    uint32_t line = (uint32_t)(w->pos.text - main.src->text);
    return at.start >= line + w->from && at.start < line + w->to;
}

static bool covers(const struct window *w, struct span s, uint32_t i, uint32_t n)
{
    uint32_t at = (uint32_t)(w->pos.text - s.src->text) + i;
    return at + n > s.start && at < s.start + s.len;
}

/* The mark below bytes i to i+n: of the span itself `~`, of other places on its line `-`. */
static char mark_of(const struct window *w, struct span main, const struct diag_note *notes, uint32_t i, uint32_t n)
{
    if (covers(w, main, i, n) || (i <= w->at && w->at < i + n))
        return '~';
    for (; notes; notes = notes->next)
        if (notes->span.src && shows(w, main, notes->span) && covers(w, notes->span, i, n))
            return '-';
    return ' ';
}

/* Tabs stand below tabs, so that the marks line up whatever the terminal's stops are. */
static void put_mark(struct buf *marks, char mark, bool tab, unsigned columns, bool *headed)
{
    bool head = mark == '~' && !*headed && columns;
    if (head) {
        buf_byte(marks, '^');
        *headed = true;
        columns--;
    }
    if (tab && !head) {
        buf_byte(marks, '\t');
        return;
    }
    for (; columns; columns--)
        buf_byte(marks, (unsigned char)mark);
}

static void render_line(struct buf *out, const struct window *w, struct span main, const struct diag_note *notes)
{
    const char *text = w->pos.text;
    struct buf marks = {0};
    bool headed = false;
    buf_str(out, w->from ? "  ..." : "  ");
    buf_str(&marks, w->from ? "     " : "  ");
    for (uint32_t i = w->from; i < w->to;) {
        uint32_t n = 1;
        unsigned columns = 1;
        bool tab = text[i] == '\t';
        if (tab)
            buf_byte(out, '\t');
        else
            n = (uint32_t)put_shown(out, text + i, w->pos.len - i, &columns);
        put_mark(&marks, mark_of(w, main, notes, i, n), tab, columns, &headed);
        i += n;
    }
    if (w->to < w->pos.len)
        buf_str(out, "...");
    if (!headed)
        buf_byte(&marks, '^');
    while (marks.len && (marks.data[marks.len - 1] == ' ' || marks.data[marks.len - 1] == '\t'))
        marks.len--;
    buf_byte(out, '\n');
    buf_put(out, marks.data, marks.len);
    buf_byte(out, '\n');
    out->failed |= marks.failed;
    buf_done(&marks);
}

/* A line without anything on it, such as the one behind the last line end, shows nothing worth a caret. */
static void render_excerpt(struct buf *out, const struct window *w, struct span main, const struct diag_note *notes)
{
    for (uint32_t i = 0; i < w->pos.len; i++)
        if (w->pos.text[i] != ' ' && w->pos.text[i] != '\t') {
            render_line(out, w, main, notes);
            return;
        }
}

/* ---- Messages ------------------------------------------------------------------------------------------- */

static void render_place(struct buf *out, struct span at)
{
    if (!at.src) {
        buf_str(out, "sbxc: ");
        return;
    }
    struct source_pos pos = source_locate(at.src, at.start);
    diag_put_escaped(out, at.src->name, strlen(at.src->name));
    buf_printf(out, ":%u:%u: ", pos.line, pos.column);
}

static void render_note(struct buf *out, const struct diag *d, const struct window *main, const struct diag_note *n)
{
    if (!n->span.src) {
        buf_str(out, "  hint: ");
        diag_put_escaped(out, n->text, strlen(n->text));
        buf_byte(out, '\n');
        return;
    }
    render_place(out, n->span);
    buf_str(out, "note: ");
    diag_put_escaped(out, n->text, strlen(n->text));
    buf_byte(out, '\n');
    if (d->span.src && shows(main, d->span, n->span))
        return; /* marked there already */
    struct window w = window_at(n->span);
    render_excerpt(out, &w, n->span, NULL);
}

static void render_one(struct buf *out, const struct diag *d)
{
    struct window w = {0};
    render_place(out, d->span);
    buf_printf(out, "%s: ", diag_severity_name(d->severity));
    diag_put_escaped(out, d->text, strlen(d->text));
    buf_printf(out, " [%s]\n", TABLE[d->id].name);
    if (d->span.src) {
        w = window_at(d->span);
        render_excerpt(out, &w, d->span, d->notes);
    }
    for (const struct diag_note *n = d->notes; n; n = n->next)
        render_note(out, d, &w, n);
}

/* ---- What is shown, and in which order ------------------------------------------------------------------ */

struct sorted {
    const struct diag *d;
    size_t source; /* by when it first spoke */
};

static int compare(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

static int by_place(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    if (a->source != b->source)
        return compare(a->source, b->source);
    if (a->d->span.start != b->d->span.start)
        return compare(a->d->span.start, b->d->span.start);
    return compare(a->d->order, b->d->order);
}

/* Messages that say the same of the same place. */
static int by_content(const struct sorted *a, const struct sorted *b)
{
    if (a->source != b->source)
        return compare(a->source, b->source);
    if (a->d->span.start != b->d->span.start)
        return compare(a->d->span.start, b->d->span.start);
    if (a->d->id != b->d->id)
        return compare(a->d->id, b->d->id);
    return strcmp(a->d->text, b->d->text);
}

static int by_content_and_order(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    int c = by_content(a, b);
    return c ? c : compare(a->d->order, b->d->order);
}

/* Messages of one source mostly come in a row, so the one seen last is asked first. */
static size_t source_order(const struct source *src, const struct source **seen, size_t *n, size_t last)
{
    if (last < *n && seen[last] == src)
        return last;
    for (size_t i = 0; i < *n; i++)
        if (seen[i] == src)
            return i;
    seen[*n] = src;
    return (*n)++;
}

/* One policy is made for each target's system, and says the same thing again: the first is kept. */
static size_t drop_repeats(struct sorted *all, size_t n)
{
    size_t kept = n ? 1 : 0;
    qsort(all, n, sizeof *all, by_content_and_order);
    for (size_t i = 1; i < n; i++)
        if (by_content(&all[kept - 1], &all[i]) != 0)
            all[kept++] = all[i];
    return kept;
}

void diag_select(const struct diag_list *l, struct diag_shown *out)
{
    *out = (struct diag_shown){.items = arena_array(l->arena, l->n, sizeof *out->items)};
    memcpy(out->n_omitted, l->n_unkept, sizeof out->n_omitted);
    if (!l->n)
        return;
    struct sorted *all = arena_array(l->arena, l->n, sizeof *all);
    const struct source **seen = arena_array(l->arena, l->n, sizeof *seen);
    size_t n_seen = 0, source = 0, errors = 0;
    for (size_t i = 0; i < l->n; i++) {
        source = source_order(l->items[i]->span.src, seen, &n_seen, source);
        all[i] = (struct sorted){l->items[i], source};
    }
    size_t n = drop_repeats(all, l->n);
    qsort(all, n, sizeof *all, by_place);
    for (size_t i = 0; i < n; i++) {
        if (all[i].d->severity == DIAG_ERROR && errors++ >= MAX_ERRORS)
            out->n_omitted[DIAG_ERROR]++;
        else
            out->items[out->n++] = all[i].d;
    }
}

void diag_render(const struct diag_list *l, struct buf *out)
{
    struct diag_shown shown;
    diag_select(l, &shown);
    for (size_t i = 0; i < shown.n; i++)
        render_one(out, shown.items[i]);
    for (int s = DIAG_ERROR; s >= DIAG_NOTE; s--)
        if (shown.n_omitted[s])
            buf_printf(out, "sbxc: %zu more %s%s not shown\n", shown.n_omitted[s],
                       diag_severity_name((enum diag_severity)s), shown.n_omitted[s] == 1 ? "" : "s");
}

/* ---- Near misses ---------------------------------------------------------------------------------------- */

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
