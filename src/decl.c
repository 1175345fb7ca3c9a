#include "decl.h"

struct decl_profile *decl_new_profile(struct decl_file *f, struct arena *a, struct span at)
{
    struct decl_profile *p = ARENA_NEW(a, struct decl_profile);
    p->span = at;
    f->profiles = arena_grow(a, f->profiles, &f->cap_profiles, f->n_profiles + 1, sizeof(struct decl_profile *));
    f->profiles[f->n_profiles++] = p;
    return p;
}
