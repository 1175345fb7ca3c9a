#include "inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/robot_env.h"
#include "preset.h"
#include "resolve.h"

/* Files of one input, itself included; how deep files include each other; names shown in a message. */
enum { MAX_FILES = 256, MAX_DEPTH = 16, MAX_NAMES_SHOWN = 20 };

/* One file has many names (`a/../b`, links): it is known by what stat(2) says of it. */
struct file {
    dev_t dev;
    ino_t ino;
    bool open; /* being read: to be met again is a circle */
};

struct reader {
    struct inputs *in;
    enum fe_role role;
    struct file files[MAX_FILES];
    size_t n_files;
    struct decl_profile **profiles;
    size_t n_profiles, cap_profiles;
};

static const char *escaped(struct inputs *in, const char *s)
{
    return diag_escape(in->arena, s, strlen(s));
}

static const char *why_not(struct inputs *in)
{
    return errno == EFBIG ? arena_printf(in->arena, "larger than %d MiB", SOURCE_MAX_MIB)
                          : arena_printf(in->arena, "%s", strerror(errno));
}

/* ---- Includes -------------------------------------------------------------------------------------------
 */

/* A file without a profile's name is known by its own: base.sbx is `base`. */
static void name_profile(struct inputs *in, struct decl_file *f, const char *path, struct span at)
{
    if (f->n_profiles != 1 || f->profiles[0]->name.text)
        return;
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path, *dot = strrchr(stem, '.');
    size_t len = dot && dot > stem ? (size_t)(dot - stem) : strlen(stem);
    f->profiles[0]->name = (struct ir_text){arena_strn(in->arena, stem, len), at};
}

static void take(struct reader *r, const struct decl_file *f)
{
    for (size_t i = 0; i < f->n_profiles; i++) {
        r->profiles =
            arena_grow(r->in->arena, r->profiles, &r->cap_profiles, r->n_profiles + 1, sizeof *r->profiles);
        r->profiles[r->n_profiles++] = f->profiles[i];
    }
}

static void read_includes(struct reader *r, const struct decl_file *f, const char *path, size_t depth);

/* Names begin at the folder of the file that includes them. */
static const char *beside(struct inputs *in, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    if (*name == '/' || !slash)
        return name;
    return arena_printf(in->arena, "%.*s/%s", (int)(slash - path), path, name);
}

/* Without a number: standard input, or a file that is not there. */
static struct file identify(const char *path)
{
    struct stat st = {0};
    return stat(path, &st) == 0 ? (struct file){st.st_dev, st.st_ino, true} : (struct file){0, 0, true};
}

static void read_include(struct reader *r, const char *from, const struct ir_text *name, size_t depth)
{
    struct inputs *in = r->in;
    const char *path = beside(in, from, name->text);
    struct file known = identify(path);
    for (size_t i = 0; i < r->n_files; i++) {
        if (!known.ino || r->files[i].dev != known.dev || r->files[i].ino != known.ino)
            continue;
        if (r->files[i].open)
            diag_add(in->diags, DIAG_CYCLE, name->span, "%s includes itself", escaped(in, path));
        return;
    }
    if (depth == MAX_DEPTH || r->n_files == MAX_FILES) {
        diag_add(in->diags, DIAG_TOO_LARGE, name->span,
                 "files include each other deeper than %d, or more than %d of them", MAX_DEPTH, MAX_FILES);
        return;
    }
    const struct frontend *fe = fe_by_suffix(path);
    errno = 0;
    const struct source *src = fe ? source_read(in->arena, path) : NULL;
    if (!src) {
        diag_add(in->diags, DIAG_INCLUDE, name->span, "%s: %s", escaped(in, path),
                 fe ? why_not(in) : "its suffix is none of a declaration");
        return;
    }
    struct file *file = &r->files[r->n_files++];
    *file = known;
    struct decl_file parsed = {0};
    fe->parse(src, r->role, in->arena, in->diags, &parsed);
    name_profile(in, &parsed, path, name->span);
    take(r, &parsed);
    read_includes(r, &parsed, path, depth + 1);
    file->open = false;
}

static void read_includes(struct reader *r, const struct decl_file *f, const char *path, size_t depth)
{
    for (size_t i = 0; i < f->n_includes; i++)
        read_include(r, path, &f->includes[i], depth);
}

/* ---- The whole ------------------------------------------------------------------------------------------
 */

static const struct decl_profile *pick(struct inputs *in, const struct decl_file *f, enum fe_role role,
                                       const char *name)
{
    if (!name && f->n_profiles == 1)
        return f->profiles[0];
    if (!f->n_profiles && in->diags->n_errors)
        return NULL;
    struct buf list = {0};
    const struct decl_profile *found = NULL;
    const char *names[MAX_NAMES_SHOWN];
    size_t n = 0;
    for (size_t i = 0; i < f->n_profiles && !found; i++) {
        const char *known = f->profiles[i]->name.text ? f->profiles[i]->name.text : "main";
        if (name && !strcmp(known, name))
            found = f->profiles[i];
        else if (n < MAX_NAMES_SHOWN)
            buf_printf(&list, "%s%s", n ? ", " : "", escaped(in, names[n] = known)), n++;
    }
    if (f->n_profiles > MAX_NAMES_SHOWN)
        buf_str(&list, " and others");
    if (!found) {
        const char *why = name            ? "there is no profile `%s` here"
                          : f->n_profiles ? "this file holds several profiles%s"
                                          : "this file holds no profile%s";
        struct span at = f->n_profiles ? f->profiles[0]->span : (struct span){f->src, 0, 0};
        struct diag *e = diag_add(in->diags, DIAG_UNKNOWN_PROFILE, at, why, name ? escaped(in, name) : "");
        const char *near = name ? diag_nearest(name, strlen(name), names, n) : NULL;
        if (near)
            diag_hint(in->diags, e, "did you mean `%s`?", escaped(in, near));
        if (role == FE_CEILING)
            diag_hint(in->diags, e, "a ceiling is the only profile of its file");
        else if (n)
            diag_hint(in->diags, e, "--profile takes one of: %s", list.data ? list.data : "");
    }
    buf_done(&list);
    return found;
}

static int by_name(const void *x, const void *y)
{
    const struct decl_profile *a = *(const struct decl_profile *const *)x,
                              *b = *(const struct decl_profile *const *)y;
    int c = strcmp(a->name.text ? a->name.text : "", b->name.text ? b->name.text : "");
    return c ? c : a->name.span.start < b->name.span.start ? -1 : a->name.span.start > b->name.span.start;
}

/* Which of two profiles of one name is meant nobody can say. */
static void report_same_names(struct reader *r)
{
    if (r->n_profiles < 2)
        return;
    struct decl_profile **sorted = arena_array(r->in->arena, r->n_profiles, sizeof *sorted);
    memcpy(sorted, r->profiles, r->n_profiles * sizeof *sorted);
    qsort(sorted, r->n_profiles, sizeof *sorted, by_name);
    for (size_t i = 1; i < r->n_profiles; i++) {
        const struct ir_text *a = &sorted[i - 1]->name, *b = &sorted[i]->name;
        if (!a->text || !b->text || strcmp(a->text, b->text) != 0)
            continue;
        struct diag *d =
            diag_add(r->in->diags, DIAG_DUPLICATE_KEY, b->span, "there are two profiles of this name");
        diag_also(r->in->diags, d, a->span, "the other is here");
    }
}

bool inputs_read(struct inputs *in, const char *path, const char *from, const char *shape, enum fe_role role,
                 const char *name, struct policy_input *out, const struct frontend **out_fe,
                 const char **out_usage)
{
    const struct frontend *fe = from ? fe_find(from) : fe_by_suffix(path);
    if (!fe) {
        bool exists = !strcmp(path, "-") || access(path, F_OK) == 0;
        *out_usage =
            !exists ? arena_printf(in->arena, "%s: %s", path, strerror(errno))
                    : arena_printf(in->arena,
                                   "%s: what kind of input is this? Name it with --from dsl, yaml or skill",
                                   path);
        return false;
    }
    const struct source *src = source_read(in->arena, path);
    if (!src) {
        *out_usage = arena_printf(in->arena, "%s: %s", path, why_not(in));
        return false;
    }
    struct reader *r = ARENA_NEW(in->arena, struct reader);
    struct decl_file file = {.shape = shape};
    *r = (struct reader){.in = in, .role = role};
    fe->parse(src, role, in->arena, in->diags, &file);
    r->files[r->n_files++] = identify(path);
    take(r, &file);
    read_includes(r, &file, path, 0);
    report_same_names(r);
    *out_fe = fe;
    *out = (struct policy_input){pick(in, &file, role, name), r->profiles, r->n_profiles};
    return out->profile != NULL;
}

void inputs_environment(struct inputs *in, char *const *environ, struct policy_input *out)
{
    struct decl_file *file = ARENA_NEW(in->arena, struct decl_file);
    robot_env_read(environ, in->arena, in->diags, file);
    *out = (struct policy_input){file->profiles[0], file->profiles, file->n_profiles};
}

const struct decl_profile *inputs_preset(const char *name, struct arena *a, struct diag_list *diags)
{
    for (size_t i = 0; i < n_preset_texts; i++) {
        if (strcmp(preset_texts[i].name, name) != 0)
            continue;
        struct decl_file file = {0};
        const struct source *src =
            source_new(a, arena_printf(a, "preset %s", name), preset_texts[i].text, preset_texts[i].len);
        fe_dsl.parse(src, FE_DECLARATION, a, diags, &file);
        return file.profiles[0];
    }
    return NULL;
}
