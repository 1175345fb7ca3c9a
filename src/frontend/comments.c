#include "comments.h"

#include <string.h>

/* The offset behind the string that begins at `at`. */
static uint32_t behind_string(const struct source *s, uint32_t at)
{
    char quote = s->text[at++];
    for (; at < s->len; at++) {
        bool twice =
            quote == '\'' && s->text[at] == quote && s->text[at + 1] == quote; /* a NUL ends the text */
        if (s->text[at] == quote && !twice)
            break;
        at += twice || (quote == '"' && s->text[at] == '\\' && at + 1 < s->len);
    }
    return at < s->len ? at + 1 : at;
}

/* YAML: quotes within a plain scalar are plain. */
static bool begins_string(char before)
{
    return strchr("\n:-[{,?", before) != NULL;
}

static bool is_fence(const struct source *s, uint32_t at)
{
    return s->len - at >= 3 && !memcmp(s->text + at, "---", 3);
}

bool comments_first(const struct source *src, const struct frontend *fe, struct span *out)
{
    bool dsl = fe == &fe_dsl, blank = true;
    char before = '\n'; /* the last byte that was no blank */
    for (uint32_t i = 0; i < src->len;) {
        char c = src->text[i];
        if (fe == &fe_skill && i && src->text[i - 1] == '\n' && is_fence(src, i))
            return false;
        if (c == '#' && (dsl || blank)) {
            const char *end = memchr(src->text + i, '\n', src->len - i);
            *out = (struct span){src, i, end ? (uint32_t)(end - src->text) - i : src->len - i};
            return true;
        }
        bool string = dsl ? c == '"' : (c == '"' || c == '\'') && begins_string(before);
        blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (c != ' ' && c != '\t')
            before = c;
        i = string ? behind_string(src, i) : i + 1;
    }
    return false;
}
