#include "fmt.h"

#include <string.h>

#include "dsl_tokens.h"
#include "frontend.h"

/* A token or a comment. What kind it is its first byte says. */
struct piece {
    uint32_t start, len;
};

struct fmt {
    const struct source *src;
    struct arena *arena;
    struct piece *pieces;
    size_t n, cap;
    uint32_t seen; /* offset behind the last token */

    struct buf *out;
    size_t line;   /* offset in out of the line in hand */
    unsigned depth;
    unsigned line_ends; /* since the last piece that was written */
    bool in_statement;  /* its head stands on the line in hand */
    bool at_start;      /* of the file or of a block: no blank line goes here */
};

static char kind(const struct fmt *f, size_t i)
{
    return i < f->n ? f->src->text[f->pieces[i].start] : '\0';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* `\r\n` is one token, and so is `\n`. */
static bool is_line_end(char kind)
{
    return kind == '\n' || kind == '\r';
}

static bool is_between(char kind)
{
    return is_line_end(kind) || kind == ';' || kind == '#';
}

/* ---- Pieces --------------------------------------------------------------------------------------------- */

static void add_piece(struct fmt *f, uint32_t start, uint32_t end)
{
    f->pieces = arena_grow(f->arena, f->pieces, &f->cap, f->n + 1, sizeof *f->pieces);
    f->pieces[f->n++] = (struct piece){start, end - start};
}

/* The scanner passes over blanks and comments; a comment is thus whatever else stands between two tokens. */
static void add_comment(struct fmt *f, uint32_t end)
{
    const char *gap = f->src->text + f->seen, *hash = memchr(gap, '#', end - f->seen);
    if (!hash)
        return;
    while (is_blank(f->src->text[end - 1]))
        end--;
    add_piece(f, (uint32_t)(hash - f->src->text), end);
}

/* `{` follows its clause at once, whatever stood between them; a comment there comes behind it. */
static void add_open(struct fmt *f, struct span at)
{
    size_t clause = f->n;
    bool comments = false;
    for (; clause && is_between(kind(f, clause - 1)); clause--)
        comments |= kind(f, clause - 1) == '#';
    if (!comments)
        f->n = clause;
    add_piece(f, at.start, at.start + at.len);
    struct piece open = f->pieces[f->n - 1];
    memmove(&f->pieces[clause + 1], &f->pieces[clause], (f->n - 1 - clause) * sizeof *f->pieces);
    f->pieces[clause] = open;
}

static void see_token(void *ctx, struct span at)
{
    struct fmt *f = ctx;
    add_comment(f, at.start);
    if (f->src->text[at.start] == '{')
        add_open(f, at);
    else
        add_piece(f, at.start, at.start + at.len);
    f->seen = at.start + at.len;
}

/* ---- Blocks on one line --------------------------------------------------------------------------------- */

/* Characters, not bytes; a tab within a string counts as one. */
static size_t columns(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xc0) != 0x80;
    return n;
}

static void put(struct buf *out, const struct fmt *f, size_t i)
{
    buf_put(out, f->src->text + f->pieces[i].start, f->pieces[i].len);
}

/* Writes the block whose `{` is piece `open` on one line. Returns its `}`, or 0 if it did not stand on one line or
 * has no room in that many columns. */
static size_t one_line(const struct fmt *f, size_t open, size_t room, struct buf *out)
{
    unsigned depth = 0;
    bool separated = false; /* a `;` is due before another statement */
    char last = '\0';
    size_t used = 0;
    for (size_t i = open; i < f->n && used <= room; i++) {
        char k = kind(f, i);
        if (is_line_end(k)) /* behind a comment there is one too */
            return 0;
        if (k == ';') {
            separated = last != '{';
            continue;
        }
        size_t before = out->len;
        buf_str(out, separated && k != '}' ? "; " : " ");
        put(out, f, i);
        used += columns(out->data + before, out->len - before);
        separated = false;
        last = k;
        depth += k == '{';
        if (k == '}' && --depth == 0)
            return used <= room ? i : 0;
    }
    return 0;
}

/* ---- Lines ---------------------------------------------------------------------------------------------- */

static void begin_line(struct fmt *f)
{
    if (f->out->len)
        buf_byte(f->out, '\n');
    if (f->line_ends > 1 && !f->at_start)
        buf_byte(f->out, '\n');
    f->line = f->out->len;
    for (unsigned i = 0; i < f->depth; i++)
        buf_str(f->out, "  ");
    f->at_start = false;
}

static void write_value(struct fmt *f, size_t i)
{
    if (f->in_statement)
        buf_byte(f->out, ' ');
    else
        begin_line(f);
    put(f->out, f, i);
    f->in_statement = true;
}

static void write_comment(struct fmt *f, size_t i)
{
    bool behind = !f->line_ends && f->out->len;
    if (behind)
        buf_byte(f->out, ' ');
    else
        begin_line(f);
    put(f->out, f, i);
    f->in_statement = false;
}

/* Returns the last piece written. */
static size_t write_open(struct fmt *f, size_t i)
{
    size_t used = columns(f->out->data + f->line, f->out->len - f->line);
    struct buf line = {0};
    size_t close = used < FMT_COLUMNS ? one_line(f, i, FMT_COLUMNS - used, &line) : 0;
    if (close) {
        buf_put(f->out, line.data, line.len);
    } else {
        buf_str(f->out, " {");
        f->depth++;
        f->at_start = true;
    }
    f->out->failed |= line.failed;
    buf_done(&line);
    f->in_statement = false;
    return close ? close : i;
}

static void write_close(struct fmt *f)
{
    f->depth--;
    f->at_start = true; /* no blank line before it either */
    begin_line(f);
    buf_byte(f->out, '}');
    f->in_statement = false;
}

static void write_pieces(struct fmt *f)
{
    for (size_t i = 0; i < f->n && buf_ok(f->out); i++) {
        char k = kind(f, i);
        if (is_line_end(k) || k == ';') {
            f->line_ends += k != ';';
            f->in_statement = false;
            continue;
        }
        if (k == '#')
            write_comment(f, i);
        else if (k == '{')
            i = write_open(f, i);
        else if (k == '}')
            write_close(f);
        else
            write_value(f, i);
        f->line_ends = 0;
    }
    if (f->out->len)
        buf_byte(f->out, '\n');
}

bool fmt_text(const struct source *src, struct arena *a, struct diag_list *diags, struct buf *out)
{
    struct decl_file file = {0};
    size_t errors = diags->n_errors;
    fe_dsl.parse(src, FE_DECLARATION, a, diags, &file);
    if (diags->n_errors > errors)
        return false;
    struct buf text = {0};
    struct fmt f = {.src = src, .arena = a, .out = &text, .at_start = true};
    dsl_each_token(src, a, see_token, &f);
    add_comment(&f, src->len);
    write_pieces(&f);
    buf_put(out, text.data, text.len);
    out->failed |= text.failed;
    buf_done(&text);
    return true;
}
