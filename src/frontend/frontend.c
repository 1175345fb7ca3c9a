#include "frontend.h"

#include <string.h>

const struct frontend *const frontends[] = {&fe_dsl, &fe_yaml, &fe_skill};
const size_t n_frontends = sizeof frontends / sizeof *frontends;

const struct frontend *fe_find(const char *name)
{
    for (size_t i = 0; i < n_frontends; i++)
        if (!strcmp(frontends[i]->name, name))
            return frontends[i];
    return NULL;
}

static bool has_suffix(const char *list, const char *path)
{
    size_t path_len = strlen(path);
    for (const char *s = list; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (path_len > n && !memcmp(path + path_len - n, s, n))
            return true;
        s += n;
    }
    return false;
}

const struct frontend *fe_by_suffix(const char *path)
{
    for (size_t i = 0; i < n_frontends; i++)
        if (has_suffix(frontends[i]->suffixes, path))
            return frontends[i];
    return NULL;
}
