/* The parts of the docker engine: reader of .docker words (docker_words.h) and the seccomp profile.
 *
 * Nothing here touches the system.
 */
#ifndef SBX_ENGINE_DOCKER_H
#define SBX_ENGINE_DOCKER_H

#include <stdbool.h>
#include <stddef.h>

#include "../docker_words.h"
#include "runtime.h"

/* One --mount of the file. Its words are words[at] and words[at + 1], and two more if it is optional. */
struct docker_mount {
    const char *source, *dest; /* unquoted; no final slash but "/" */
    size_t at;
    bool write, optional;
    bool folder; /* the source was a folder when it was compiled */
};

struct docker_words {
    const char **words; /* all words before the run section, into the file */
    size_t n_words;
    struct docker_mount *mounts;
    size_t n_mounts;
    char *paths; /* unquoted sources and destinations */
    size_t paths_len;
};

/* Checks data[0, len), the words before the run section, against the table and the run section. The caller
 * gives room in *out: `words` for len pointers at most as many as words are there, `mounts` for half of that,
 * `paths` for 2 * len bytes. NULL, or why the data is no file of sbxc's. */
const char *docker_read(const char *data, size_t len, const struct rt_policy *policy,
                        struct docker_words *out);

/* One field of a --mount record, quoted as the emitter does; its length without the NUL, or 0 if it does not
 * fit. */
size_t docker_csv_field(char *out, size_t cap, const char *key, const char *path);

/* The seccomp profile as JSON; its length, or 0 if it does not fit. */
enum { DOCKER_PROFILE_MAX = 16384 };
size_t docker_profile(char *data, size_t cap, bool network_open);

#endif
