/* Path patterns: `*`, `?`, `[..]` within one component, and a component `**` for any number of them.
 *
 * A pattern is absolute text of plain components (no `//`, `.`, `..`, no final slash). `*` and `?` never
 * match a slash, and match a leading dot like any byte. `[a-z]` `[!a-z]` are sets of bytes, ASCII as written;
 * a range runs between two digits or two letters of one case. There are no classes, no braces, no lists
 * `@(..)` and no escapes: a character that belongs to the name is written in a set of its own, `[*]`. What
 * shells would read in another way is refused. Bytes are compared, whatever the encoding. `dir/` and `**`
 * matches dir, too. All but pattern_is() and pattern_problem() want a text that has no problem.
 */
#ifndef SBX_PATTERN_H
#define SBX_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/* Does the text hold a pattern character, or something that others would read as one (braces, lists)? */
bool pattern_is(const char *text, size_t len);
/* NULL if text is a well-formed pattern (of len bytes, perhaps only the tail of one), else what is wrong at
 * text[*out_at]. */
const char *pattern_problem(const char *text, size_t len, size_t *out_at);
/* A pattern that matches just the path `text`, which a pattern's tail may follow. */
char *pattern_quote(struct arena *a, const char *text, size_t len);
/* Bytes of the folder that holds whatever the pattern matches, as far as it is written without a pattern
 * character: "/a/b" of "/a/b/c*d/e", all of a path that is no pattern. 0: the root. */
size_t pattern_prefix(const char *pattern);
/* Does it match the whole path? */
bool pattern_matches(const char *pattern, const char *path);
/* Does it match the path or a folder above it? What it matches holds all beneath. */
bool pattern_covers(const char *pattern, const char *path);
/* Could it match something strictly beneath the folder `dir`? False only if that is impossible. */
bool pattern_reaches(const char *pattern, const char *dir);
/* Could what `b` matches lie at or beneath something that `a` matches? False only if that is impossible. */
bool pattern_meets(const char *a, const char *b);

#endif
