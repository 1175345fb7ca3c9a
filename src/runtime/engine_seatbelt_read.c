#include "engine_seatbelt.h"

#include <string.h>

static const char *const OPERATIONS[SB_OPERATION_COUNT] = {
#define X(id, word) [id] = word,
    SB_OPERATIONS(X)
#undef X
};

enum {
    SB_BIT_PIN = 1 << SB_CREATE | 1 << SB_UNLINK,
    SB_BIT_EXEC = 1 << SB_EXEC | 1 << SB_MAP,
    SB_BIT_GRANT = 1 << SB_FILE_READ | 1 << SB_FILE_WRITE | SB_BIT_EXEC,
    SB_BIT_FOLDER = 1 << SB_METADATA,
};

struct cursor {
    const char *at, *end;
};

static bool eat(struct cursor *c, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* ---- One form ---------------------------------------------------------------------------------------- */

/* An absolute path between quotes. */
static bool eat_string(struct cursor *c, struct sb_item *out)
{
    if (!eat(c, "\"/"))
        return false;
    const char *start = c->at - 1;
    for (; c->at < c->end && *c->at != '"'; c->at++) {
        if (is_control(*c->at))
            return false;
        if (*c->at == '\\' && (++c->at == c->end || (*c->at != '"' && *c->at != '\\')))
            return false;
    }
    out->path = start;
    out->len = (size_t)(c->at - start);
    return eat(c, "\"");
}

static bool eat_path(struct cursor *c, struct sb_item *out)
{
    out->tmpdir = true;
    out->path = c->at;
    out->len = 0;
    if (eat(c, SB_PARAM))
        return true;
    if (eat(c, SB_APPEND))
        return eat_string(c, out) && eat(c, ")");
    out->tmpdir = false;
    return eat_string(c, out);
}

static bool eat_filter(struct cursor *c, struct sb_item *out)
{
    if (!eat(c, " "))
        return false;
    if (eat(c, SB_DEVICE_OPEN)) {
        out->filter = SB_IS_DEVICE;
        return eat_path(c, out) && eat(c, SB_DEVICE_CLOSE);
    }
    out->filter = eat(c, SB_LITERAL) ? SB_IS_LITERAL : SB_IS_SUBPATH;
    if (out->filter == SB_IS_SUBPATH && !eat(c, SB_SUBPATH))
        return false;
    return eat_path(c, out) && eat(c, ")");
}

/* Each at most once, in the order of the table; a filter follows the last. */
static unsigned eat_operations(struct cursor *c)
{
    unsigned set = 0;
    for (unsigned i = 0; i < SB_OPERATION_COUNT; i++) {
        struct cursor next = *c;
        if (eat(&next, " ") && eat(&next, OPERATIONS[i]) && next.at < next.end && *next.at == ' ') {
            set |= 1u << i;
            *c = next;
        }
    }
    return set;
}

static bool is_rule(bool allow, unsigned set)
{
    bool grant = set && !(set & ~(unsigned)SB_BIT_GRANT) &&
                 ((set & SB_BIT_EXEC) == 0 || (set & SB_BIT_EXEC) == SB_BIT_EXEC);
    return grant || set == (allow ? (unsigned)SB_BIT_FOLDER : (unsigned)SB_BIT_PIN);
}

/* ---- The whole --------------------------------------------------------------------------------------- */

static const char *check_form(struct cursor *c, bool allow, bool *folders, bool *tmpdir)
{
    unsigned set = eat_operations(c);
    if (!is_rule(allow, set))
        return "a rule for operations that sbxc does not write";
    if (set != SB_BIT_FOLDER)
        *folders = false;
    else if (!*folders)
        return "a rule for a folder above a grant stands behind the grants";
    size_t n = 0;
    for (struct sb_item item; c->at < c->end && *c->at != ')'; n++) {
        if (!eat_filter(c, &item))
            return "a filter that sbxc does not write";
        if ((set == SB_BIT_FOLDER || set == SB_BIT_PIN) && item.filter != SB_IS_LITERAL)
            return "a rule for single names has a wider filter";
        *tmpdir |= item.tmpdir;
    }
    if (!n)
        return "a rule without a filter";
    return eat(c, ")\n") ? NULL : "a rule does not end with its line";
}

static const char *check_comment(struct cursor *c)
{
    while (c->at < c->end && !is_control(*c->at))
        c->at++;
    return eat(c, "\n") ? NULL : "a comment with a control character, or without an end";
}

static const char *check_rules(struct cursor *c, bool guarded)
{
    bool folders = true, tmpdir = false;
    const char *why = NULL;
    while (!why && c->at < c->end) {
        if (eat(c, "\n; ") || eat(c, "; "))
            why = check_comment(c);
        else if (eat(c, SB_ALLOW))
            why = check_form(c, true, &folders, &tmpdir);
        else if (eat(c, SB_DENY))
            why = check_form(c, false, &folders, &tmpdir);
        else
            why = "a line that is neither a rule nor a comment";
    }
    if (!why && tmpdir != guarded)
        why = "the guard of TMPDIR is missing, or guards nothing";
    return why;
}

const char *sb_check(const char *profile, size_t len, bool confined, bool network_open)
{
    struct cursor c = {profile, profile + len};
    if (len > SB_PROFILE_MAX)
        return "the profile is larger than one argument may be";
    if (!eat(&c, SB_VERSION))
        return "the profile does not begin with (version 1)";
    if (!confined)
        return eat(&c, SB_ALLOW_DEFAULT) && c.at == c.end ? NULL : "a profile that confines nothing holds more";
    if (!eat(&c, SB_DENY_DEFAULT SB_BASE))
        return "the fixed rules of any process are not those of sbxc";
    if (!eat(&c, network_open ? SB_NETWORK_OPEN : SB_NETWORK_NONE))
        return "the rules of the network are not those that the run section names";
    return check_rules(&c, eat(&c, SB_TMPDIR_GUARD));
}

void sb_begin(struct sb_rules *r, const char *profile, size_t len)
{
    struct cursor c = {profile, profile + len};
    if (!eat(&c, SB_VERSION SB_DENY_DEFAULT SB_BASE))
        c.at = c.end;
    if (!eat(&c, SB_NETWORK_OPEN))
        eat(&c, SB_NETWORK_NONE);
    eat(&c, SB_TMPDIR_GUARD);
    *r = (struct sb_rules){.at = c.at, .end = c.end};
}

bool sb_next(struct sb_rules *r, struct sb_item *out)
{
    struct cursor c = {r->at, r->end};
    while (c.at < c.end) {
        if (r->operations && eat_filter(&c, out)) {
            out->allow = r->allow;
            out->operations = r->operations;
            r->at = c.at;
            return true;
        }
        if (r->operations)
            eat(&c, ")\n");
        r->operations = 0;
        if ((r->allow = eat(&c, SB_ALLOW)) || eat(&c, SB_DENY)) {
            r->operations = eat_operations(&c);
            continue;
        }
        const char *line = memchr(c.at, '\n', (size_t)(c.end - c.at));
        c.at = line ? line + 1 : c.end;
    }
    r->at = c.at;
    return false;
}

void sb_path(const struct sb_item *item, char *out)
{
    for (size_t i = 0; i < item->len; i++) {
        if (item->path[i] == '\\' && i + 1 < item->len)
            i++;
        *out++ = item->path[i];
    }
    *out = '\0';
}
