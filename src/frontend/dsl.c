/* The declaration language: statements from the generated parser become clauses of the key table.
 *
 * The grammar knows words, values and blocks. Here a statement's word is looked up in the table of the
 * block it stands in; values are collected with their path words and handed to the clause's setter.
 */
#include "frontend.h"

#include <stdlib.h>
#include <string.h>

#include "dsl_tokens.h"
#include "policy.tab.h"

typedef void *yyscan_t;
#include "policy.lex.h"

/* What the parser calls for a token: the scanner's, one token looked ahead around line ends. */
int dsl_yylex(DSL_YYSTYPE *value, DSL_YYLTYPE *at, struct dsl_scan *s);
void dsl_yyerror(const DSL_YYLTYPE *at, struct dsl_scan *s, const char *text);

struct token {
    int kind;
    struct key_value value;
    struct span at;
};

struct frame {
    const struct key *table; /* NULL: the file itself */
    struct span open;        /* the brace */
    bool skip;               /* its clause was wrong: nothing in it is judged */
};

struct dsl_scan {
    const struct source *src;
    struct arena *arena;
    struct diag_list *diags;
    struct decl_file *out;
    yyscan_t scanner;
    uint32_t offset;
    struct token ahead;    /* kind < 0: none */
    struct span last_word; /* to see a string glued to it */
    bool owed_open;        /* the next token is a `{` that an unclosed string took */

    struct key_builder builder;
    struct decl_profile *bare; /* the profile of clauses outside any block */
    struct frame frames[KEYS_MAX_DEPTH];
    size_t depth;    /* frames in use beyond the file's own */
    size_t too_deep; /* open blocks beyond that */

    /* The statement in hand. */
    const struct key *table, *key; /* key NULL: wrong, or one of the file's own statements */
    enum statement { CLAUSE, PROFILE, SCOPE, INCLUDE } kind;
    bool wrong;                     /* reported already */
    struct key_value word, pending; /* pending: a path that words may still follow, or a pair's name */
    bool has_pending;
    bool literal; /* holds for the next path */
    size_t n_values;
    struct key_value name, parent; /* of `profile` and `scope` */
    struct ir_text description;
};

/* ---- Scanner hooks --------------------------------------------------------------------------------------
 */

void dsl_scan_at(struct dsl_scan *s, struct span *at, size_t len)
{
    *at = (struct span){s->src, s->offset, (uint32_t)len};
    s->offset += (uint32_t)len;
}

static void fill(struct dsl_scan *s, struct key_value *v, struct span at, bool quoted)
{
    *v = (struct key_value){.text = s->src->text + at.start, .len = at.len, .span = at, .quoted = quoted};
    if (quoted) {
        v->text++;
        v->len -= 2;
    }
}

int dsl_scan_word(struct dsl_scan *s, struct key_value *v, struct span at)
{
    fill(s, v, at, false);
    s->last_word = at;
    return DSL_WORD;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte that the escape at *p stands for, moving *p behind it; -1 if there is none. */
static int escape(const char **p, const char *end)
{
    const char *e = *p + 1; /* behind the backslash: the scanner saw a byte there */
    *p += 2;
    switch (*e) {
    case '"':
    case '\\':
        return *e;
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'x':
        if (end - e < 3 || hex_digit(e[1]) < 0 || hex_digit(e[2]) < 0)
            return -1;
        *p += 2;
        return hex_digit(e[1]) * 16 + hex_digit(e[2]);
    default:
        return -1;
    }
}

static void unescape(struct dsl_scan *s, struct key_value *v)
{
    char *out = arena_alloc(s->arena, v->len + 1);
    size_t n = 0;
    for (const char *p = v->text, *end = p + v->len; p < end;) {
        if (*p != '\\') {
            out[n++] = *p++;
            continue;
        }
        const char *start = p;
        int c = escape(&p, end);
        if (c < 0) {
            struct span at = {s->src, (uint32_t)(start - s->src->text), 2};
            struct diag *d = diag_add(s->diags, DIAG_BAD_STRING, at, "unknown escape in a string");
            v->broken = true;
            diag_hint(s->diags, d, "escapes are \\\" \\\\ \\n \\r \\t and \\xNN");
        } else {
            out[n++] = (char)c;
        }
    }
    v->text = out;
    v->len = n;
}

int dsl_scan_string(struct dsl_scan *s, struct key_value *v, struct span at)
{
    fill(s, v, at, true);
    if (s->last_word.src && s->last_word.start + s->last_word.len == at.start) {
        struct diag *d = diag_add(s->diags, DIAG_SYNTAX, at, "a blank is missing before this string");
        v->broken = true;
        diag_hint(s->diags, d, "write `%s \"...\"`",
                  diag_escape(s->arena, s->src->text + s->last_word.start, s->last_word.len));
    }
    for (size_t i = 0; i < v->len; i++)
        if ((unsigned char)v->text[i] < 0x20 && v->text[i] != '\t') {
            struct diag *d =
                diag_add(s->diags, DIAG_BAD_BYTE, (struct span){s->src, at.start + 1 + (uint32_t)i, 1},
                         "control character 0x%02x in a string", (unsigned char)v->text[i]);
            v->broken = true;
            diag_hint(s->diags, d, "write it as \\x%02x", (unsigned char)v->text[i]);
        }
    if (memchr(v->text, '\\', v->len))
        unescape(s, v);
    return DSL_STRING;
}

int dsl_scan_unclosed(struct dsl_scan *s, struct key_value *v, struct span at)
{
    struct diag *d = diag_add(s->diags, DIAG_BAD_STRING, at, "this string is not closed on its line");
    diag_hint(s->diags, d, "close it with `\"`; a line break inside is written \\n");
    fill(s, v, at, false);
    v->quoted = v->broken = true;
    /* A brace at the end of the line was not meant to be in the string: its block is there all the same. */
    while (v->len && (v->text[v->len - 1] == ' ' || v->text[v->len - 1] == '\t'))
        v->len--;
    s->owed_open = v->len && v->text[v->len - 1] == '{';
    return DSL_STRING;
}

int dsl_scan_stray(struct dsl_scan *s, struct key_value *v, struct span at)
{
    unsigned char c = (unsigned char)s->src->text[at.start];
    diag_add(s->diags, DIAG_BAD_BYTE, at, "byte 0x%02x cannot stand here", c);
    fill(s, v, at, false);
    v->broken = true;
    return DSL_WORD;
}

/* ---- One token of look-ahead ----------------------------------------------------------------------------
 */

static struct token next(struct dsl_scan *s)
{
    struct token t = s->ahead;
    s->ahead.kind = -1;
    if (t.kind < 0 && s->owed_open) {
        s->owed_open = false;
        return (struct token){.kind = DSL_OPEN, .at = {s->src, s->offset - 1, 1}};
    }
    if (t.kind < 0)
        t.kind = dsl_flex_lex(&t.value, &t.at, s->scanner);
    if (t.kind == DSL_YYEOF)
        t.at = (struct span){s->src, s->src->len, 0};
    return t;
}

/* Line ends in a row count once, and none counts before `{`, which may stand on its own line. */
int dsl_yylex(DSL_YYSTYPE *value, DSL_YYLTYPE *at, struct dsl_scan *s)
{
    struct token t = next(s);
    if (t.kind == DSL_NEWLINE) {
        struct token after;
        do
            after = next(s);
        while (after.kind == DSL_NEWLINE);
        if (after.kind == DSL_OPEN)
            t = after;
        else
            s->ahead = after;
    }
    *value = t.value;
    *at = t.at;
    return t.kind;
}

/* ---- Statements -----------------------------------------------------------------------------------------
 */

static struct frame *top(struct dsl_scan *s)
{
    return s->depth ? &s->frames[s->depth - 1] : NULL;
}

static bool skipping(struct dsl_scan *s)
{
    return s->too_deep || (top(s) && top(s)->skip);
}

/* Clauses outside any block make one profile without a name. */
static bool enter_bare(struct dsl_scan *s, struct span at)
{
    if (s->bare)
        return true;
    if (s->out->n_profiles) {
        struct diag *d = diag_add(s->diags, DIAG_SYNTAX, at, "a clause outside the profiles of this file");
        diag_hint(s->diags, d, "put it into a `profile NAME { ... }` block");
        return false;
    }
    s->bare = decl_new_profile(s->out, s->arena, at);
    keys_begin(&s->builder, s->arena, s->diags, s->bare);
    return true;
}

/* Statements that only a file has. */
static enum statement file_statement(const struct key_value *word)
{
    static const char *const words[] = {[PROFILE] = "profile", [SCOPE] = "scope", [INCLUDE] = "include"};
    for (size_t i = PROFILE; i <= INCLUDE; i++)
        if (strlen(words[i]) == word->len && !memcmp(words[i], word->text, word->len))
            return (enum statement)i;
    return CLAUSE;
}

void dsl_begin(struct dsl_scan *s, const struct key_value *word)
{
    s->key = NULL;
    s->kind = CLAUSE;
    s->wrong = s->has_pending = s->literal = false;
    s->n_values = 0;
    s->word = *word;
    s->name = s->parent = (struct key_value){0};
    s->description = (struct ir_text){0};
    if (skipping(s) || word->broken) {
        s->wrong = true;
        return;
    }
    if (!s->depth && (s->kind = file_statement(word)) != CLAUSE)
        return;
    s->table = s->depth ? top(s)->table : key_profile;
    if (!s->depth && !enter_bare(s, word->span)) {
        s->wrong = true;
        return;
    }
    s->key = keys_find(s->table, KEY_DSL, word->text, word->len);
    if (!s->key) {
        keys_unknown(&s->builder, s->table, KEY_DSL, word);
        s->wrong = true;
    } else if (!keys_once(&s->builder, s->key, word->span)) {
        s->wrong = true;
    }
}

static void flush_pending(struct dsl_scan *s)
{
    if (s->has_pending && s->key->shape == KEY_PAIRS)
        s->key->pair(&s->builder, s->key, &s->pending, NULL);
    else if (s->has_pending)
        keys_put(&s->builder, s->key, &s->pending);
    s->has_pending = false;
}

static void reject(struct dsl_scan *s, const struct key_value *v, const char *text)
{
    struct diag *d = diag_add(s->diags, DIAG_SYNTAX, v->span, "%s", text);
    diag_hint(s->diags, d, "write %s behind %s", s->key->expect, s->key->dsl);
    s->wrong = true;
}

/* A word behind a path. `file` stands behind `create` only. */
static void path_word(struct dsl_scan *s, const struct key_value *v, unsigned word)
{
    bool fits = s->has_pending && !s->literal;
    if (word == DECL_CREATE_FILE)
        fits &= (s->pending.path_flags & (DECL_CREATE | DECL_CREATE_FILE)) == DECL_CREATE;
    else
        fits &= !(s->pending.path_flags & word);
    if (!fits)
        reject(s, v,
               word == DECL_CREATE_FILE ? "this word stands behind `create`"
                                        : "this word stands once, behind a path");
    else if (!keys_path_word_fits(&s->builder, s->key, word, v->span))
        s->wrong = true;
    else if (word == DECL_CREATE_FILE)
        s->pending.path_flags ^= DECL_CREATE | DECL_CREATE_FILE;
    else
        s->pending.path_flags |= word;
}

static void path_value(struct dsl_scan *s, const struct key_value *v)
{
    unsigned word = v->quoted ? 0 : keys_path_word(v->text, v->len);
    if (word == DECL_LITERAL) {
        if (s->literal)
            reject(s, v, "`literal` is said twice");
        s->literal = true;
    } else if (word) {
        path_word(s, v, word);
    } else if (!v->quoted) {
        reject(s, v, "a path stands in quotes");
    } else if (s->has_pending && s->key->shape == KEY_SCALAR) {
        reject(s, v, "one value is enough");
    } else {
        flush_pending(s);
        s->pending = *v;
        s->pending.path_flags = s->literal ? DECL_LITERAL : 0;
        s->has_pending = true;
        s->literal = false;
    }
}

static void pair_value(struct dsl_scan *s, const struct key_value *v)
{
    bool value = s->has_pending && (v->quoted || !s->key->bare);
    if (value) {
        s->key->pair(&s->builder, s->key, &s->pending, v);
        s->has_pending = false;
        return;
    }
    flush_pending(s);
    s->pending = *v;
    s->has_pending = true;
}

static bool is_word(const struct key_value *v, const char *word)
{
    return !v->quoted && v->len == strlen(word) && !memcmp(v->text, word, v->len);
}

/* profile NAME ["DESCRIPTION"], scope NAME of PARENT ["DESCRIPTION"] */
static void head_value(struct dsl_scan *s, const struct key_value *v)
{
    size_t last = s->kind == SCOPE ? 3 : 1; /* behind it the description */
    bool fits = s->n_values <= last || (s->n_values == last + 1 && v->quoted);
    if (s->kind == SCOPE && s->n_values == 2)
        fits = is_word(v, "of");
    if (s->n_values == 1) {
        s->name = *v;
    } else if (fits && s->n_values == last) {
        s->parent = *v;
    } else if (fits && s->n_values > last) {
        s->description = (struct ir_text){arena_strn(s->arena, v->text, v->len), v->span};
    } else if (!fits && !s->wrong) {
        struct diag *d = diag_add(s->diags, DIAG_SYNTAX, v->span,
                                  s->kind == SCOPE ? "a scope has a name and a parent"
                                                   : "a profile has a name and a description");
        diag_hint(s->diags, d,
                  s->kind == SCOPE ? "write scope NAME of PARENT { ... }"
                                   : "write profile NAME \"description\" { ... }");
        s->wrong = true;
    }
}

static void include_value(struct dsl_scan *s, const struct key_value *v)
{
    struct decl_file *f = s->out;
    if (!v->quoted || !v->len || memchr(v->text, '\0', v->len)) {
        if (!v->broken) {
            struct diag *d = diag_add(s->diags, DIAG_SYNTAX, v->span, "the name of a file stands in quotes");
            diag_hint(s->diags, d, "write include \"base.sbx\"");
        }
        s->wrong = true;
        return;
    }
    f->includes = arena_grow(s->arena, f->includes, &f->cap_includes, f->n_includes + 1, sizeof *f->includes);
    f->includes[f->n_includes++] = (struct ir_text){arena_strn(s->arena, v->text, v->len), v->span};
}

/* `env allow "X"` is short for a block of one clause. */
static bool inner_clause(struct dsl_scan *s, const struct key_value *v)
{
    if (s->n_values != 1 || v->quoted)
        return false;
    const struct key *inner = keys_find(s->key->children, KEY_DSL, v->text, v->len);
    if (!inner)
        return false;
    s->key = inner;
    s->word = *v;
    s->n_values = 0;
    return true;
}

/* `deny write "x"`: two words are one clause. */
static bool second_word(struct dsl_scan *s, const struct key_value *v)
{
    const struct key *two = s->n_values == 1 ? keys_find_two(s->table, &s->word, v) : NULL;
    if (!two)
        return false;
    s->key = two;
    s->table = NULL;
    s->word.span = span_join(s->word.span, v->span);
    s->n_values = 0;
    return true;
}

static void clause_value(struct dsl_scan *s, const struct key_value *v)
{
    const struct key *k = s->key;
    if (s->table && second_word(s, v))
        return;
    bool word = k->shape != KEY_BLOCK && k->type == KEY_PATH && keys_is_word(k, v);
    if (word && s->n_values > 1) {
        reject(s, v, "this word stands alone");
        return;
    }
    switch (k->shape) {
    case KEY_BLOCK:
        if (inner_clause(s, v))
            return;
        if (k->scalar && s->n_values == 1)
            keys_put(&s->builder, k, v);
        else
            reject(s, v, k->scalar ? "one value is enough" : "a block is missing");
        return;
    case KEY_SCALAR:
        if (k->type == KEY_PATH && !word)
            path_value(s, v);
        else if (s->n_values == 1)
            keys_put(&s->builder, k, v);
        else
            reject(s, v, "one value is enough");
        return;
    case KEY_LIST:
        if (k->type == KEY_PATH && !word)
            path_value(s, v);
        else
            keys_put(&s->builder, k, v);
        return;
    case KEY_PAIRS:
        pair_value(s, v);
        return;
    }
}

void dsl_value(struct dsl_scan *s, const struct key_value *v)
{
    s->n_values++;
    if (s->kind == PROFILE || s->kind == SCOPE)
        head_value(s, v);
    else if (s->kind == INCLUDE)
        include_value(s, v);
    else if (!s->wrong && !v->broken)
        clause_value(s, v);
}

static void missing_value(struct dsl_scan *s)
{
    struct diag *d =
        diag_add(s->diags, DIAG_SYNTAX, s->word.span, "%s has no value", s->key ? s->key->dsl : "include");
    diag_hint(s->diags, d, "write %s behind it", s->key ? s->key->expect : "the name of a file in quotes");
    s->wrong = true;
}

static void head_without_block(struct dsl_scan *s)
{
    bool scope = s->kind == SCOPE;
    struct diag *d = diag_add(s->diags, DIAG_SYNTAX, s->word.span,
                              scope ? "this scope has no block" : "this profile has no block");
    diag_hint(s->diags, d, scope ? "write scope NAME of PARENT { ... }" : "write profile NAME { ... }");
}

void dsl_end(struct dsl_scan *s, const struct span *at)
{
    (void)at;
    if (s->wrong)
        return;
    if (s->kind == PROFILE || s->kind == SCOPE) {
        head_without_block(s);
        return;
    }
    if (s->key && s->key->alone && !s->n_values) {
        keys_put(
            &s->builder, s->key,
            &(struct key_value){.text = s->key->alone, .len = strlen(s->key->alone), .span = s->word.span});
        return;
    }
    bool half = s->key && s->key->shape == KEY_PAIRS && s->has_pending && !s->key->bare;
    if (!s->n_values || s->literal || half)
        missing_value(s);
    else if (s->key)
        flush_pending(s);
}

/* ---- Blocks ---------------------------------------------------------------------------------------------
 */

static bool head_is_whole(struct dsl_scan *s)
{
    bool scope = s->kind == SCOPE, whole = s->n_values >= (scope ? 3 : 1);
    if (whole || s->wrong)
        return whole;
    struct diag *d = diag_add(s->diags, DIAG_SYNTAX, s->word.span,
                              scope ? "this scope has no name or no parent" : "this profile has no name");
    diag_hint(s->diags, d, scope ? "write scope NAME of PARENT { ... }" : "write profile NAME { ... }");
    return false;
}

static void open_profile(struct dsl_scan *s, struct frame *f)
{
    if (s->bare) {
        struct diag *d =
            diag_add(s->diags, DIAG_SYNTAX, s->word.span, "a %s beside clauses outside any profile",
                     s->kind == SCOPE ? "scope" : "profile");
        diag_also(s->diags, d, s->bare->span, "the first such clause is here");
        f->skip = true;
        return;
    }
    head_is_whole(s);
    struct decl_profile *p = decl_new_profile(s->out, s->arena, s->word.span);
    keys_begin(&s->builder, s->arena, s->diags, p);
    p->description = s->description;
    if (s->name.text && !s->name.broken)
        keys_name(&s->builder, &s->name, &p->name);
    if (s->parent.text && !s->parent.broken && s->kind == SCOPE)
        keys_name(&s->builder, &s->parent, &p->scope_of);
    f->table = key_profile;
}

static void no_block(struct dsl_scan *s, const struct span *at)
{
    struct diag *d =
        diag_add(s->diags, DIAG_SYNTAX, *at, "%s has no block", s->key ? s->key->dsl : "include");
    diag_hint(s->diags, d, "write %s behind it", s->key ? s->key->expect : "the name of a file in quotes");
}

void dsl_open(struct dsl_scan *s, const struct span *at)
{
    if (s->depth == KEYS_MAX_DEPTH) {
        if (!s->too_deep++)
            diag_add(s->diags, DIAG_TOO_LARGE, *at, "blocks are nested deeper than %d", KEYS_MAX_DEPTH);
        return;
    }
    struct frame *f = &s->frames[s->depth];
    *f = (struct frame){.open = *at, .skip = s->wrong};
    if (s->kind == PROFILE || s->kind == SCOPE) {
        open_profile(s, f);
    } else if (!s->wrong) {
        bool fits = s->key && s->key->shape == KEY_BLOCK && !s->n_values;
        if (!fits)
            no_block(s, at);
        f->skip = !fits;
        f->table = fits ? s->key->children : NULL;
    }
    s->depth++;
}

void dsl_close(struct dsl_scan *s, const struct span *at)
{
    (void)at;
    if (s->too_deep)
        s->too_deep--;
    else
        s->depth--;
}

void dsl_recover(struct dsl_scan *s)
{
    s->wrong = true;
}

/* ---- Errors and entry -----------------------------------------------------------------------------------
 */

void dsl_unexpected(struct dsl_scan *s, const char *token, struct span at, bool end_of_file)
{
    if (end_of_file && s->depth) {
        struct diag *d = diag_add(s->diags, DIAG_SYNTAX, at, "the file ends inside a block");
        diag_also(s->diags, d, top(s)->open, "this `{` is not closed");
        return;
    }
    struct diag *d = diag_add(s->diags, DIAG_SYNTAX, at, "%s cannot stand here", token);
    diag_hint(s->diags, d, "a statement is a clause and its values, such as `read \"/srv/data\"`");
}

/* Only memory and nesting beyond bison's stack come here. */
void dsl_yyerror(const DSL_YYLTYPE *at, struct dsl_scan *s, const char *text)
{
    diag_add(s->diags, DIAG_TOO_LARGE, *at, "%s", text);
}

/* In place where that is allowed: the scanner ends each token with a NUL while it is looked at. */
static bool scan(const struct source *src, yyscan_t scanner)
{
    if (src->scratch)
        return dsl_flex__scan_buffer(src->scratch, src->len + 2, scanner);
    return dsl_flex__scan_bytes(src->text, (int)src->len, scanner);
}

static void parse(const struct source *src, enum fe_role role, struct arena *a, struct diag_list *diags,
                  struct decl_file *out)
{
    (void)role; /* a ceiling in the language is a declaration like any other */
    struct dsl_scan s = {.src = src, .arena = a, .diags = diags, .out = out, .ahead = {.kind = -1}};
    out->src = src;
    if (dsl_flex_lex_init_extra(&s, &s.scanner)) {
        diag_add(diags, DIAG_TOO_LARGE, (struct span){src, 0, 0}, "no memory for the scanner");
        return;
    }
    if (scan(src, s.scanner))
        dsl_yyparse(&s);
    dsl_flex_lex_destroy(s.scanner);
    /* An empty file is a profile that asks for nothing. */
    if (!out->n_profiles)
        decl_new_profile(out, a, (struct span){src, 0, 0});
}

const struct frontend fe_dsl = {
    .name = "dsl", .suffixes = ".sbx", .summary = "the declaration language", .parse = parse};

/* ---- Tokens alone ---------------------------------------------------------------------------------------
 */

void dsl_each_token(const struct source *src, struct arena *a, void (*see)(void *ctx, struct span at),
                    void *ctx)
{
    struct diag_list unheard;
    diag_init(&unheard, a);
    struct dsl_scan s = {.src = src, .arena = a, .diags = &unheard};
    struct token t;
    if (dsl_flex_lex_init_extra(&s, &s.scanner))
        a->oom(a->oom_ctx);
    if (scan(src, s.scanner))
        while (dsl_flex_lex(&t.value, &t.at, s.scanner) != DSL_YYEOF)
            see(ctx, t.at);
    dsl_flex_lex_destroy(s.scanner);
}
