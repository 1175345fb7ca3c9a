/* Two levels with the same shape: a pattern is a list of components, a component a list of elements. At each
 * level a text is matched by going back to the latest star only, which is enough because a later star can
 * take whatever an earlier one would have left; and two patterns are laid against each other in a table, a
 * row at a time. So the work is at most the product of both lengths, whatever stands in them.
 */
#include "pattern.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* Bytes from the component of the first pattern character to the end: two such need some milliseconds to
 * meet. */
#define LONGEST 1024
#define TEXT_(n) #n
#define TEXT(n) TEXT_(n)

/* What pattern_meets() looks at; beyond, it does not know. A path of PATH_MAX bytes has half as many
 * components. */
enum { MAX_COMPONENTS = 2048 + LONGEST / 2, MAX_ELEMENTS = LONGEST };

struct component {
    const char *s;
    size_t len;
};

/* The next component at *text, or false at the end. */
static bool next_component(const char **text, struct component *out)
{
    const char *s = *text;
    while (*s == '/')
        s++;
    if (!*s)
        return false;
    out->s = s;
    out->len = strcspn(s, "/");
    *text = s + out->len;
    return true;
}

static bool is_deep(struct component c)
{
    return c.len == 2 && c.s[0] == '*' && c.s[1] == '*';
}

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[';
}

static bool is_plain(struct component c)
{
    for (size_t i = 0; i < c.len; i++)
        if (is_special(c.s[i]))
            return false;
    return true;
}

/* ---- Elements: a byte, `?`, `*` or a set --------------------------------------------------------------- */

/* Offset behind the set that begins at s[at], or 0 if nothing closes it. A `]` that stands first is a member.
 */
static size_t set_end(const char *s, size_t at, size_t len)
{
    size_t i = at + 1;
    if (i < len && s[i] == '!')
        i++;
    for (i++; i < len; i++)
        if (s[i] == ']')
            return i + 1;
    return 0;
}

static size_t element_end(struct component c, size_t at)
{
    size_t end = c.s[at] == '[' ? set_end(c.s, at, c.len) : 0;
    return end ? end : at + 1;
}

/* Is the byte one of the set s[0..len), brackets included? */
static bool set_has(const char *s, size_t len, unsigned char byte)
{
    size_t i = 1, last = len - 1;
    bool negated = s[i] == '!', found = false;
    for (i += negated; i < last; i++) {
        unsigned char low = (unsigned char)s[i], high = low;
        if (i + 2 < last && s[i + 1] == '-') {
            high = (unsigned char)s[i + 2];
            i += 2;
        }
        found |= low <= byte && byte <= high;
    }
    return found != negated;
}

/* Does the element c.s[at..end), no `*`, stand for the byte? */
static bool element_has(struct component c, size_t at, size_t end, char byte)
{
    if (end - at > 1)
        return set_has(c.s + at, end - at, (unsigned char)byte);
    return c.s[at] == '?' || c.s[at] == byte;
}

static bool component_matches(struct component p, struct component name)
{
    size_t at = 0, i = 0, retry_at = 0, retry = 0;
    bool starred = false;
    while (i < name.len) {
        if (at < p.len && p.s[at] == '*') {
            starred = true;
            retry_at = ++at;
            retry = i;
            continue;
        }
        size_t end = at < p.len ? element_end(p, at) : at;
        if (end > at && element_has(p, at, end, name.s[i])) {
            at = end;
            i++;
            continue;
        }
        if (!starred)
            return false;
        at = retry_at;
        i = ++retry;
    }
    while (at < p.len && p.s[at] == '*')
        at++;
    return at == p.len;
}

/* ---- A pattern and a path ------------------------------------------------------------------------------ */

static bool matches(const char *pattern, const char *path, bool or_above)
{
    const char *retry_pattern = NULL, *retry_path = NULL;
    for (;;) {
        const char *pattern_rest = pattern, *path_rest = path;
        struct component p, name;
        bool more = next_component(&pattern_rest, &p);
        if (more && is_deep(p)) {
            retry_pattern = pattern = pattern_rest;
            retry_path = path;
            continue;
        }
        if (!more && or_above)
            return true;
        if (!next_component(&path_rest, &name))
            return !more;
        if (more && component_matches(p, name)) {
            pattern = pattern_rest;
            path = path_rest;
            continue;
        }
        if (!retry_pattern || !next_component(&retry_path, &name))
            return false;
        pattern = retry_pattern;
        path = retry_path;
    }
}

bool pattern_matches(const char *pattern, const char *path)
{
    return matches(pattern, path, false);
}

bool pattern_covers(const char *pattern, const char *path)
{
    return matches(pattern, path, true);
}

bool pattern_reaches(const char *pattern, const char *dir)
{
    struct component p, name;
    while (next_component(&pattern, &p)) {
        if (is_deep(p) || !next_component(&dir, &name))
            return true;
        if (!component_matches(p, name))
            return false;
    }
    return false;
}

/* ---- Two patterns -------------------------------------------------------------------------------------- */

/* The bytes that an element stands for; of `*`, the bytes of which it takes any number. */
struct element {
    uint64_t bytes[4];
    bool star;
};

/* At most MAX_ELEMENTS of them, or 0 if there are more. */
static size_t elements(struct component c, struct element *out)
{
    size_t n = 0, end;
    for (size_t at = 0; at < c.len; at = end) {
        end = element_end(c, at);
        if (n == MAX_ELEMENTS)
            return 0;
        struct element *e = &out[n++];
        *e = (struct element){.star = c.s[at] == '*'};
        if (e->star)
            memset(e->bytes, 0xff, sizeof e->bytes);
        else if (end == at + 1 && c.s[at] != '?')
            e->bytes[(unsigned char)c.s[at] / 64] = UINT64_C(1) << (unsigned char)c.s[at] % 64;
        else
            for (unsigned byte = 0; byte < 256; byte++)
                if (element_has(c, at, end, (char)byte))
                    e->bytes[byte / 64] |= UINT64_C(1) << byte % 64;
    }
    return n;
}

static bool share_a_byte(const struct element *a, const struct element *b)
{
    return (a->bytes[0] & b->bytes[0]) || (a->bytes[1] & b->bytes[1]) || (a->bytes[2] & b->bytes[2]) ||
           (a->bytes[3] & b->bytes[3]);
}

/* row[j]: some text is matched by all elements of `a` before this one and by the first j of `b`. Puts the row
 * behind this element of `a` into `next`; false if it is empty. */
static bool element_row(const struct element *a, const struct element *b, size_t n, bool *row, bool *next)
{
    bool any = false;
    memset(next, 0, n + 1);
    for (size_t j = 0; j <= n; j++) {
        if (!row[j])
            continue;
        bool b_star = j < n && b[j].star;
        if (j < n && (a->star || b_star))
            row[j + 1] = true;
        if (a->star || b_star)
            any = next[j] = true;
        else if (j < n && share_a_byte(a, &b[j]))
            any = next[j + 1] = true;
    }
    return any;
}

/* Is there a name that both match? Neither is `**`. */
static bool components_meet(struct component a, struct component b)
{
    if (is_plain(a))
        return component_matches(b, a);
    if (is_plain(b))
        return component_matches(a, b);
    struct element as[MAX_ELEMENTS], bs[MAX_ELEMENTS];
    size_t na = elements(a, as), nb = elements(b, bs);
    if (!na || !nb)
        return true;
    bool rows[2][MAX_ELEMENTS + 1] = {{true}};
    bool *row = rows[0], *next = rows[1];
    for (size_t i = 0; i < na; i++) {
        if (!element_row(&as[i], bs, nb, row, next))
            return false;
        bool *swap = row;
        row = next;
        next = swap;
    }
    for (size_t j = 0; j < nb; j++)
        if (row[j] && bs[j].star)
            row[j + 1] = true;
    return row[nb];
}

/* As element_row(), a level higher; no `**` in `b`. */
static bool component_row(struct component a, const struct component *b, size_t n, bool *row, bool *next)
{
    bool any = false, deep = is_deep(a);
    memset(next, 0, n + 1);
    for (size_t j = 0; j <= n; j++) {
        if (!row[j])
            continue;
        if (deep && j < n)
            row[j + 1] = true;
        if (deep)
            any = next[j] = true;
        else if (j < n && components_meet(a, b[j]))
            any = next[j + 1] = true;
    }
    return any;
}

bool pattern_meets(const char *a, const char *b)
{
    struct component bs[MAX_COMPONENTS], c;
    size_t n = 0;
    bool open = false; /* a `**` in `b` takes whatever `a` asks for, and the rest of `b` may lie beneath */
    while (!open && next_component(&b, &c)) {
        open = is_deep(c) || n == MAX_COMPONENTS;
        if (!open)
            bs[n++] = c;
    }
    bool rows[2][MAX_COMPONENTS + 1] = {{true}};
    bool *row = rows[0], *next = rows[1];
    while (next_component(&a, &c) && !(open && row[n])) {
        if (!component_row(c, bs, n, row, next))
            return false;
        bool *swap = row;
        row = next;
        next = swap;
    }
    /* `a` is through: what is left of `b` lies beneath. */
    return true;
}

/* ---- Text ---------------------------------------------------------------------------------------------- */

/* The lists of ksh and bash, `@(a|b)`. Those that begin with `?` or `*` hold a pattern character anyway. */
static bool is_list(const char *s, size_t len)
{
    return len > 1 && s[1] == '(' && memchr("?*+@!", s[0], 5);
}

static size_t first_special(const char *text, size_t len)
{
    static const bool MAYBE[UCHAR_MAX + 1] = {['*'] = true, ['?'] = true, ['['] = true, ['{'] = true, ['('] = true};
    for (size_t i = 0; i < len; i++) {
        if (!MAYBE[(unsigned char)text[i]])
            continue;
        if (text[i] != '(')
            return i;
        if (i && is_list(text + i - 1, 2))
            return i - 1;
    }
    return len;
}

bool pattern_is(const char *text, size_t len)
{
    return first_special(text, len) < len;
}

size_t pattern_prefix(const char *pattern)
{
    size_t len = strlen(pattern), i = first_special(pattern, len);
    if (i == len)
        return len > 1 ? len : 0;
    while (i > 0 && pattern[i] != '/')
        i--;
    return i;
}

char *pattern_quote(struct arena *a, const char *text, size_t len)
{
    char *out = arena_alloc(a, 3 * len + 1), *o = out;
    for (size_t i = 0; i < len; i++) {
        bool quoted = text[i] && strchr("*?[{(]\\$", text[i]);
        if (quoted)
            *o++ = '[';
        *o++ = text[i];
        if (quoted)
            *o++ = ']';
    }
    return out;
}

static bool is_range(unsigned char low, unsigned char high)
{
    static const char *const kinds[] = {"0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                        "abcdefghijklmnopqrstuvwxyz"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memchr(kinds[i], low, strlen(kinds[i])) && memchr(kinds[i], high, strlen(kinds[i])))
            return low <= high;
    return false;
}

static const char BACKSLASH[] =
    "a backslash escapes nothing; a character that belongs to the name stands in a set, `[*]`";

/* What is wrong with the member s[at] of a set whose members are s[body..close); *out_next is the next one.
 */
static const char *member_problem(const char *s, size_t body, size_t at, size_t close, size_t *out_next)
{
    *out_next = at + 1;
    if ((unsigned char)s[at] >= 0x80)
        return "a set holds single bytes, so ASCII only";
    if (s[at] == '[' && at + 1 < close && memchr(":.=", s[at + 1], 3))
        return "there are no classes in a set";
    if (s[at] == '\\' && (at > body || close > body + 1))
        return BACKSLASH;
    if (s[at] == '-' && at > body)
        return "in a set, `-` stands first or in a range";
    if (at + 2 >= close || s[at + 1] != '-')
        return NULL;
    *out_next = at + 3;
    if (!is_range((unsigned char)s[at], (unsigned char)s[at + 2]))
        return "a range goes up, between two digits or two letters of one case";
    return NULL;
}

/* What is wrong with the set at c.s[*at], which moves behind it or to what is wrong. */
static const char *set_problem(struct component c, size_t *at)
{
    size_t start = *at, end = set_end(c.s, start, c.len), body = start + 1;
    if (body < c.len && c.s[body] == '^') {
        *at = body;
        return "a set of all other bytes is written `[!...]`";
    }
    if (!end)
        return "the set is not closed within its component";
    body += c.s[body] == '!';
    for (size_t i = body, next; i < end - 1; i = next) {
        const char *why = member_problem(c.s, body, i, end - 1, &next);
        *at = i;
        if (why)
            return why;
    }
    /* Shells read `[\]]` as a set of `]`, and we as `\` and then `]`: no one shall have to know. */
    if (c.s[end - 2] == '\\' && end < c.len && c.s[end] == ']')
        return BACKSLASH;
    *at = end;
    return NULL;
}

static const char *component_problem(struct component c, size_t *at)
{
    *at = 0;
    if (!c.len)
        return "a component is empty";
    if (c.s[0] == '.' && (c.len == 1 || (c.len == 2 && c.s[1] == '.')))
        return "`.` and `..` do not stand behind a pattern character";
    if (is_deep(c))
        return NULL;
    while (*at < c.len) {
        const char *s = c.s + *at;
        size_t len = c.len - *at;
        if (is_list(s, len))
            return "there are no lists in parentheses; `[(]` is the character";
        if (*s == '{')
            return "there are no braces; write a pattern each, or `[{]` for the character";
        if (len > 1 && s[0] == '*' && s[1] == '*')
            return "`**` stands alone in its component";
        if (len > 1 && s[0] == '\\' && (is_special(s[1]) || s[1] == '{'))
            return BACKSLASH;
        const char *why = *s == '[' ? set_problem(c, at) : NULL;
        if (why)
            return why;
        if (*s != '[')
            ++*at;
    }
    return NULL;
}

const char *pattern_problem(const char *text, size_t len, size_t *out_at)
{
    size_t start = first_special(text, len);
    if (start == len)
        return NULL;
    while (start > 0 && text[start - 1] != '/')
        start--;
    if (len - start > LONGEST) {
        *out_at = start + LONGEST;
        return "it is longer than " TEXT(LONGEST) " bytes from its first pattern character on";
    }
    for (size_t end; start <= len; start = end + 1) {
        const char *slash = start < len ? memchr(text + start, '/', len - start) : NULL;
        size_t at;
        end = slash ? (size_t)(slash - text) : len;
        const char *why = component_problem((struct component){text + start, end - start}, &at);
        if (why) {
            *out_at = start + at < len ? start + at : len - 1;
            return why;
        }
    }
    return NULL;
}
