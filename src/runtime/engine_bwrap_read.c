#include <string.h>

#include "../artifact.h"
#include "engine_bwrap.h"

enum { PATH_BYTES_MAX = 4095 }; /* PATH_MAX without its NUL */

static const struct row {
    const char *word;
    enum bw_operand first, second;
    enum bw_place place;
    enum bw_often confined, core;
} ROWS[BW_WORD_COUNT] = {
#define X(id, word, first, second, place, confined, core) [id] = {word, first, second, place, confined, core},
    BWRAP_WORDS(X)
#undef X
};

/* Where the walk is, for the rules about order. */
struct walk {
    const char *at, *end;
    enum bw_place place;
    int last_head;         /* index of the last word of BW_HEAD, -1 before the first */
    const char *last_dest; /* in BW_FILES, or NULL */
    const char *last_link; /* in BW_LINKS, or NULL */
    const char *mode;      /* operand of the --perms just read, or NULL */
    const char *home_of;   /* destination of a --tmpfs whose HOME has to follow, or NULL */
    const char *tmpdir;    /* the run section's first, or NULL */
    enum bw_word before;   /* the word just read */
};

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

bool bwrap_is_bind(enum bw_word word)
{
    return word >= BW_BIND && word <= BW_DEV_BIND_TRY;
}

static bool is_dev_bind(enum bw_word word)
{
    return word == BW_DEV_BIND || word == BW_DEV_BIND_TRY;
}

/* By whole components; "/" holds everything. */
static bool within(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    if (n == 1)
        return true;
    return !strncmp(path, dir, n) && (path[n] == '\0' || path[n] == '/');
}

/* Path order: a folder, all that is beneath it, its neighbours. True if a stands before b. */
static bool before(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    unsigned x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1u : 0;
    unsigned y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1u : 0;
    return x < y;
}

/* Absolute, canonical, without a final slash but for "/". */
static bool is_path(const char *s)
{
    if (*s != '/' || strlen(s) > PATH_BYTES_MAX)
        return false;
    if (!s[1])
        return true;
    while (*s) {
        const char *name = ++s;
        s = strchrnul(s, '/');
        size_t n = (size_t)(s - name);
        if (!n || (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.'))
            return false;
    }
    return true;
}

/* A source is its destination, with a final slash if it must be a folder. */
static bool is_source_of(const char *source, const char *dest)
{
    size_t n = strlen(dest);
    return !strncmp(source, dest, n) && (!source[n] || (n > 1 && is(source + n, "/")));
}

static bool fits(enum bw_operand kind, const char *s)
{
    switch (kind) {
    case BW_NONE:
        return true;
    case BW_ALL:
        return is(s, "ALL");
    case BW_FILTER:
        return is(s, BWRAP_FILTER_FD_TEXT);
    case BW_NAME:
        return *s && !strchr(s, '=');
    case BW_VALUE:
    case BW_TARGET:
    case BW_SOURCE: /* compared with the destination */
        return *s != '\0';
    case BW_MODE:
        return is(s, "0700") || is(s, "1777");
    case BW_DEST:
    case BW_LINK:
        return is_path(s);
    case BW_PROC:
        return is(s, "/proc");
    case BW_SLASH:
        return is(s, "/");
    }
    return false;
}

static bool is_sink(const char *path)
{
    static const char *const SINKS[] = {ARTIFACT_SINKS};
    for (size_t i = 0; i < sizeof SINKS / sizeof *SINKS; i++)
        if (is(path, SINKS[i]))
            return true;
    return false;
}

static const char *take(const char **at, const char *end)
{
    const char *s = *at;
    if (s >= end)
        return NULL;
    *at = s + strlen(s) + 1;
    return s;
}

/* Finds the row whose word and operands fit: one word may have several rows. */
static bool read_item(const char **at, const char *end, struct bwrap_item *out)
{
    const char *word = take(at, end);
    for (int i = 0; word && i < BW_WORD_COUNT; i++) {
        const struct row *row = &ROWS[i];
        const char *rest = *at;
        if (!is(word, row->word))
            continue;
        const char *first = row->first ? take(&rest, end) : NULL;
        const char *second = row->second ? take(&rest, end) : NULL;
        if ((row->first && !first) || (row->second && !second))
            continue;
        if ((first && !fits(row->first, first)) || (second && !fits(row->second, second)))
            continue;
        *at = rest;
        *out = (struct bwrap_item){(enum bw_word)i, first, second};
        return true;
    }
    return false;
}

/* What only devices may be bound from: anything else is bound without them. */
static bool may_hold_devices(const char *path)
{
    return is(path, "/") || (within(path, "/dev") && !within(path, "/dev/shm"));
}

static const char *check_bind(const struct bwrap_item *item)
{
    const char *dest = item->second;
    bool folder = item->first[strlen(item->first) - 1] == '/';
    if (!is_source_of(item->first, dest))
        return "a source is not its destination";
    if (is_dev_bind(item->word)) {
        if (!may_hold_devices(dest))
            return "--dev-bind of what is no device";
        return folder && is_sink(dest) ? "a device sink is no folder" : NULL;
    }
    bool write = item->word == BW_BIND || item->word == BW_BIND_TRY;
    if (may_hold_devices(dest) && (write || (!folder && within(dest, "/dev") && !is(dest, "/dev"))))
        return "a device is bound without --dev-bind";
    return NULL;
}

/* The private TMPDIR has mode 0700 and HOME directly behind it; other private folders are open to all. */
static const char *check_private(struct walk *w, const struct bwrap_item *item)
{
    bool own = is(w->mode, "0700");
    if (item->word == BW_DIR) {
        size_t n = w->home_of ? strlen(w->home_of) : 0;
        if (!n || !own || strncmp(item->first, w->home_of, n) != 0 || !is(item->first + n, "/home"))
            return "--dir that is no HOME";
        w->home_of = NULL;
        return NULL;
    }
    if (own && (!w->tmpdir || !is(item->first, w->tmpdir)))
        return "--tmpfs that is not at the run section's tmpdir";
    if (is(item->first, "/") || is_sink(item->first))
        return "--tmpfs at a place of its own";
    w->home_of = own ? item->first : NULL;
    return NULL;
}

static const char *check_files(struct walk *w, const struct bwrap_item *item)
{
    bool private = item->word == BW_TMPFS || item->word == BW_DIR;
    if (item->word == BW_PERMS) {
        w->mode = item->first;
        return NULL;
    }
    if (item->word == BW_REMOUNT_PROC)
        return w->before == BW_PROCFS ? NULL : "--remount-ro /proc stands away from --proc";
    const char *dest = item->second ? item->second : item->first;
    if (w->last_dest && !before(w->last_dest, dest))
        return "destinations are not in order";
    w->last_dest = dest;
    if ((w->mode != NULL) != private || (w->home_of && item->word != BW_DIR))
        return "--perms and what it is for stand apart";
    if (item->word != BW_PROCFS && within(dest, "/proc"))
        return "something is mounted in /proc";
    const char *wrong = bwrap_is_bind(item->word) ? check_bind(item) : NULL;
    if (private)
        wrong = check_private(w, item);
    w->mode = NULL;
    return wrong;
}

static const char *check_place(struct walk *w, const struct bwrap_item *item)
{
    const struct row *row = &ROWS[item->word];
    if (row->place < w->place || w->place == BW_LAST)
        return "a word stands out of order";
    if ((w->mode || w->home_of) && row->place != BW_FILES)
        return "--perms and what it is for stand apart";
    w->place = row->place;
    switch (row->place) {
    case BW_HEAD:
        if ((int)item->word <= w->last_head)
            return "a word stands out of order";
        w->last_head = (int)item->word;
        return NULL;
    case BW_FILES:
        return check_files(w, item);
    case BW_LINKS:
        if (w->last_link && !before(w->last_link, item->second))
            return "links are not in order";
        w->last_link = item->second;
        return NULL;
    case BW_ENV:
    case BW_LAST:
        return NULL;
    }
    return "a word stands out of order";
}

/* bwrap would make a link beneath a bind on the host, and mount through a link of its own. */
static const char *check_link(struct bwrap_words w, const char *link)
{
    if (is(link, "/") || within(link, "/proc"))
        return "a link stands where sbxc makes none";
    struct bwrap_item item;
    enum bw_word nearest = BW_WORD_COUNT;
    while (bwrap_next(&w, &item) && item.word != BW_SYMLINK) {
        if (ROWS[item.word].place != BW_FILES || item.word == BW_PERMS)
            continue;
        const char *dest = item.second ? item.second : item.first;
        if (within(dest, link))
            return "a link stands where something is mounted";
        if (within(link, dest))
            nearest = item.word;
    }
    return bwrap_is_bind(nearest) || nearest == BW_PROCFS ? "a link stands beneath a grant" : NULL;
}

static const char *check_links(struct bwrap_words w)
{
    struct bwrap_words all = w;
    struct bwrap_item item;
    const char *wrong = NULL;
    while (!wrong && bwrap_next(&w, &item))
        if (item.word == BW_SYMLINK)
            wrong = check_link(all, item.second);
    return wrong;
}

/* Only with "/" itself granted for writing may the root stay writable. */
static const char *check_root(struct bwrap_words w)
{
    struct bwrap_item item;
    bool writable = w.n_of[BW_REMOUNT_ROOT] == 0;
    while (writable && bwrap_next(&w, &item))
        if (item.word == BW_DEV_BIND && is(item.second, "/"))
            writable = false;
    return writable ? "the root stays writable" : NULL;
}

static size_t count_words(const char *data, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += data[i] == '\0';
    return n;
}

/* The value of the first `tmpdir` behind `--`. The run section itself is checked elsewhere (load.c). */
static const char *find_tmpdir(const char *data, const char *end)
{
    static const char KEY[] = RUN_PREFIX_BWRAP "tmpdir=";
    bool behind = false;
    for (const char *s; (s = take(&data, end)); behind |= is(s, "--"))
        if (behind && !strncmp(s, KEY, sizeof KEY - 1))
            return s + sizeof KEY - 1;
    return NULL;
}

static const char *walk_words(struct walk *w, struct bwrap_words *words)
{
    while (w->at < w->end && !is(w->at, "--")) {
        struct bwrap_item item;
        if (!read_item(&w->at, w->end, &item))
            return "a word that sbxc does not write, or one with wrong operands";
        const char *wrong = check_place(w, &item);
        if (wrong)
            return wrong;
        words->n_of[item.word]++;
        w->before = item.word;
    }
    if (w->at >= w->end)
        return "the word `--` is missing";
    return w->mode || w->home_of ? "--perms and what it is for stand apart" : NULL;
}

const char *bwrap_check(const char *data, size_t len, struct bwrap_words *out)
{
    if (!len || data[len - 1] != '\0')
        return "the last word is cut";
    struct bwrap_words words = {.at = data, .n_words = count_words(data, len)};
    if (words.n_words > BWRAP_WORDS_MAX - BWRAP_WORDS_RESERVED)
        return "more words than bwrap takes";
    struct walk w = {.at = data, .end = data + len, .last_head = -1, .before = BW_WORD_COUNT};
    w.tmpdir = find_tmpdir(data, w.end);
    const char *wrong = walk_words(&w, &words);
    if (wrong)
        return wrong;
    words.end = w.at;
    words.run = w.at + sizeof "--";
    words.run_len = (size_t)(w.end - words.run);
    wrong = check_links(words);
    if (!wrong)
        wrong = check_root(words);
    if (!wrong)
        *out = words;
    return wrong;
}

const char *bwrap_check_counts(const struct bwrap_words *w, bool confined, bool network_none)
{
    for (int i = 0; i < BW_WORD_COUNT; i++) {
        size_t n = w->n_of[i];
        bool right = false;
        switch (confined ? ROWS[i].confined : ROWS[i].core) {
        case BW_NEVER:
            right = n == 0;
            break;
        case BW_ONCE:
            right = n == 1;
            break;
        case BW_OPT:
            right = n <= 1;
            break;
        case BW_NET:
            right = n == (network_none ? 1u : 0u);
            break;
        case BW_ANY:
            right = true;
            break;
        }
        if (!right)
            return n ? "a word that must not stand here, or too often" : "a word that confines is missing";
    }
    return NULL;
}

bool bwrap_next(struct bwrap_words *w, struct bwrap_item *out)
{
    return w->at < w->end && read_item(&w->at, w->end, out);
}
