/* Diagnostics: what is wrong, where, and what would be right.
 *
 * Library code never prints and never exits: it adds to a diag_list, and main.c renders. A message is
 * one line without a full stop; a hint says what would be right. Texts are kept in the arena; of one id
 * only so many are kept that hostile input cannot make memory of its mistakes, the rest is counted.
 */
#ifndef SBX_DIAG_H
#define SBX_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "buf.h"
#include "source.h"

enum diag_severity {
    DIAG_NOTE,    /* said, changes nothing */
    DIAG_WARNING, /* said, compiles all the same */
    DIAG_ERROR,   /* no artifact */
};

/* Every message has an id: the word in brackets, a golden case, a line in the manual. */
enum diag_id {
#define DIAG(id, name, severity, summary) id,
#include "diag.def"
#undef DIAG
    DIAG_COUNT
};

struct diag_note {
    struct diag_note *next;
    struct span span; /* span.src == NULL: a hint without a place */
    const char *text;
};

struct diag {
    enum diag_id id;
    enum diag_severity severity;
    struct span span;
    const char *text;
    struct diag_note *notes, *last_note; /* in the order added */
    size_t order;                        /* of arrival, so that sorting by place is stable */
};

enum { DIAG_MAX_KEPT = 10000 }; /* of one id */

struct diag_list {
    struct arena *arena;
    struct diag **items;
    size_t n, cap;
    size_t n_errors;                   /* kept or not */
    size_t n_of[DIAG_COUNT];           /* kept, by id */
    size_t n_unkept[DIAG_ERROR + 1];   /* by severity */
    struct diag unkept;                /* stands in for a message that is only counted */
    bool strict;                       /* DIAG_WARNING and cuts become errors */
};

void diag_init(struct diag_list *l, struct arena *a);

/* Adds a message and returns it for notes and hints; never NULL. */
struct diag *diag_add(struct diag_list *l, enum diag_id id, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A second place: "first said here". */
void diag_also(struct diag_list *l, struct diag *d, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* What would be right. */
void diag_hint(struct diag_list *l, struct diag *d, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

const char *diag_name(enum diag_id id);
const char *diag_summary(enum diag_id id);
enum diag_severity diag_default_severity(enum diag_id id);
const char *diag_severity_name(enum diag_severity s);

/* What is shown of a list, whatever the form: file by file in the order in which they first spoke, each in the
 * order of its text, a message that was given again for another system once, at most 20 errors. */
struct diag_shown {
    const struct diag **items;
    size_t n;
    size_t n_omitted[DIAG_ERROR + 1]; /* by severity */
};
void diag_select(const struct diag_list *l, struct diag_shown *out);

/* Text for people: FILE:LINE:COL: severity: text [id], the line, a caret. Control bytes of the input are escaped. */
void diag_render(const struct diag_list *l, struct buf *out);

/* s with bytes below 0x20, 0x7f and invalid UTF-8 as \xNN; for any input echoed in a message. */
const char *diag_escape(struct arena *a, const char *s, size_t len);
void diag_put_escaped(struct buf *out, const char *s, size_t len);

/* The candidate nearest to `word` within a distance that a slip explains, or NULL. Distance counts
 * insert, delete, replace and swap of neighbours. */
const char *diag_nearest(const char *word, size_t len, const char *const *candidates, size_t n);
/* That distance, capped at `limit` + 1. */
unsigned diag_distance(const char *a, size_t la, const char *b, size_t lb, unsigned limit);

#endif
