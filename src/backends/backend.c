#include "backend.h"

#include <string.h>

const struct backend *const backends[] = {
    &be_seatbelt,
    &be_bwrap,
    &be_landlock,
    &be_docker,
};
const size_t n_backends = sizeof backends / sizeof *backends;

const struct backend *be_find(const char *name, size_t len)
{
    for (size_t i = 0; i < n_backends; i++)
        if (strlen(backends[i]->name) == len && !memcmp(backends[i]->name, name, len))
            return backends[i];
    return NULL;
}

const struct backend *be_by_suffix(const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < n_backends; i++) {
        size_t n = strlen(backends[i]->suffix);
        /* Longer than the suffix: a file named just ".sb" is a hidden file without one. */
        if (len > n && path[len - n - 1] != '/' && !strcmp(path + len - n, backends[i]->suffix))
            return backends[i];
    }
    return NULL;
}
