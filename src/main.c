/* sbxc: a compiler for sandboxes. The files in the order in which a declaration passes through them:
 *
 *   options.c             the command line
 *   source.c diag.c       input text, places in it, messages
 *   frontend/             text -> struct decl_file: dsl.c (grammar/), yaml.c, skill.c, all through keys.c
 *   inputs.c              files, the files that they include, presets
 *   resolve.c             paths as written -> paths as they are; pattern.c
 *   ask.c compose.c       one profile -> struct ask: rules.c, network.c, env_names.c; use and scope
 *   ceiling.c             what a ceiling leaves of it
 *   policy.c              presets, floor, trust -> struct ir_policy (ir.h)
 *   backends/             struct ir_policy -> artifact: seatbelt.c, bwrap.c, landlock.c, docker.c
 *   output.c              artifacts whole or not at all
 */
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact.h"
#include "backends/backend.h"
#include "diag_json.h"
#include "dump_json.h"
#include "frontend/comments.h"
#include "frontend/fmt.h"
#include "frontend/frontend.h"
#include "frontend/shapes.h"
#include "frontend/write.h"
#include "inputs.h"
#include "options.h"
#include "output.h"
#include "policy.h"
#include "preset.h"

#ifdef __APPLE__
static const enum ir_system HOST = IR_MACOS;
#else
static const enum ir_system HOST = IR_LINUX;
#endif

enum status { STATUS_OK = 0, STATUS_REFUSED = 1, STATUS_USAGE = 2 };

struct driver {
    struct arena arena;
    struct diag_list diags;
    struct options options;
    struct resolve_env env;
    struct policy_input declaration, *ceilings;
    size_t n_ceilings;
    bool has_inputs; /* every file had a profile to go on with */
    struct ir_late late[IR_LATE_MAX];
    size_t n_late;
    const struct backend **targets;
    size_t n_targets;
    const struct ir_policy *policies[2]; /* by enum ir_system */
};

static void out_of_memory(void *ctx)
{
    (void)ctx;
    fputs("sbxc: out of memory\n", stderr);
    exit(STATUS_USAGE);
}

static void print(struct buf *b, FILE *to)
{
    if (!buf_ok(b))
        out_of_memory(NULL);
    if (b->len)
        fwrite(b->data, 1, b->len, to);
    buf_done(b);
}

static bool as_json(const struct driver *d)
{
    return d->options.diagnostics && !strcmp(d->options.diagnostics, "json");
}

static enum status usage(struct driver *d, const char *text)
{
    struct buf out = {0};
    if (as_json(d))
        diag_json_usage(text, &out);
    else
        buf_printf(&out, "sbxc: %s\n", diag_escape(&d->arena, text, strlen(text)));
    print(&out, stderr);
    return STATUS_USAGE;
}

static void render_diags(struct driver *d)
{
    struct buf out = {0};
    if (as_json(d))
        diag_render_json(&d->diags, &out);
    else
        diag_render(&d->diags, &out);
    print(&out, stderr);
}

/* ---- Inputs ---------------------------------------------------------------------------------------------
 */

static const struct source *read_source(struct driver *d, const char *path, const char **out_usage)
{
    const struct source *src = source_read(&d->arena, path);
    if (!src)
        *out_usage = errno == EFBIG ? arena_printf(&d->arena, "%s: larger than %d MiB", path, SOURCE_MAX_MIB)
                                    : arena_printf(&d->arena, "%s: %s", path, strerror(errno));
    return src;
}

/* ---- Where paths are looked up --------------------------------------------------------------------------
 */

static const char *defined(const struct driver *d, const char *name)
{
    for (size_t i = 0; i < d->options.n_vars; i++)
        if (!strcmp(d->options.vars[i].name, name))
            return d->options.vars[i].value;
    return NULL;
}

/* The folder of the declaration, in absolute spelling; NULL for standard input. */
static const char *folder_of(struct driver *d, const char *path, const char *cwd)
{
    if (!strcmp(path, "-"))
        return NULL;
    const char *whole = resolve_absolute(&d->arena, cwd, path);
    const char *slash = strrchr(whole, '/');
    return slash == whole ? "/" : arena_strn(&d->arena, whole, (size_t)(slash - whole));
}

static int late_index(const struct driver *d, const char *name, size_t len)
{
    for (size_t i = 0; i < d->n_late; i++)
        if (strlen(d->late[i].name) == len && !memcmp(d->late[i].name, name, len))
            return (int)i;
    return -1;
}

static bool is_variable(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool letter = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_';
        if (!letter && !(i && s[i] >= '0' && s[i] <= '9'))
            return false;
    }
    return len > 0;
}

/* --late NAME[:under=NAME]: the one above is named before. */
static const char *read_late(struct driver *d)
{
    static const char UNDER[] = ":under=";
    const struct options *o = &d->options;
    for (size_t i = 0; i < o->late.n; i++) {
        const char *word = o->late.items[i];
        size_t n = strcspn(word, ":");
        const char *above = word[n] ? word + n + strlen(UNDER) : NULL;
        if (!is_variable(word, n) || (above && strncmp(word + n, UNDER, strlen(UNDER)) != 0))
            return arena_printf(&d->arena,
                                "--late takes names such as HOME, or WORK_DIR:under=HOME, not `%s`", word);
        const char *name = arena_strn(&d->arena, word, n);
        if (!strcmp(name, "TMPDIR"))
            return "--late TMPDIR: the private TMPDIR is chosen when the program starts";
        if (defined(d, name) || late_index(d, word, n) >= 0)
            return arena_printf(&d->arena, "--late %s: it is given twice, or by -D as well", name);
        if (d->n_late == IR_LATE_MAX)
            return arena_printf(&d->arena, "--late takes at most %d names", IR_LATE_MAX);
        int under = above ? late_index(d, above, strlen(above)) : -1;
        if (above && under < 0)
            return arena_printf(&d->arena, "--late %s: %s is named before it", name, above);
        d->late[d->n_late++] = (struct ir_late){name, under};
    }
    return NULL;
}

static const char *set_env(struct driver *d, const char *input)
{
    const struct options *o = &d->options;
    char *cwd = getcwd(NULL, 0);
    if (!cwd)
        return arena_printf(&d->arena, "the current folder is not known: %s", strerror(errno));
    const char *here = arena_str(&d->arena, cwd);
    free(cwd);
    const struct passwd *pw = getpwuid(getuid());
    struct resolve_env *e = &d->env;
    const char *late = read_late(d);
    if (late)
        return late;
    *e = (struct resolve_env){.vars = o->vars, .n_vars = o->n_vars, .late = d->late, .n_late = d->n_late};
    e->home = defined(d, "HOME") ? defined(d, "HOME") : pw ? arena_str(&d->arena, pw->pw_dir) : NULL;
    e->work_dir = defined(d, "WORK_DIR") ? defined(d, "WORK_DIR") : here;
    const char *temp = getenv("TMPDIR");
    e->temp_dir = temp && *temp == '/' ? resolve_absolute(&d->arena, "", temp) : NULL;
    e->skill_dir = defined(d, "SKILL_DIR") ? defined(d, "SKILL_DIR") : folder_of(d, input, here);
    e->base = o->base ? resolve_absolute(&d->arena, here, o->base) : here;
    if (!e->base)
        return "--base is empty";
    if (o->sysroot) {
        e->sysroot = resolve_absolute(&d->arena, here, o->sysroot);
        if (!e->sysroot)
            return "--sysroot is empty";
        if (access(e->sysroot, F_OK) < 0)
            return arena_printf(&d->arena, "--sysroot %s: %s", o->sysroot, strerror(errno));
    }
    if (defined(d, "TMPDIR"))
        return "-D TMPDIR: the private TMPDIR is chosen when the program starts";
    return NULL;
}

/* ---- Targets --------------------------------------------------------------------------------------------
 */

static const char *target_names(struct driver *d)
{
    struct buf list = {0};
    for (size_t i = 0; i < n_backends; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", backends[i]->name);
    const char *s = arena_str(&d->arena, list.data ? list.data : "");
    buf_done(&list);
    return s;
}

static const char *target_suffixes(struct driver *d)
{
    struct buf list = {0};
    for (size_t i = 0; i < n_backends; i++)
        buf_printf(&list, "%s%s", i ? " " : "", backends[i]->suffix);
    const char *s = arena_str(&d->arena, list.data ? list.data : "");
    buf_done(&list);
    return s;
}

static const char *choose_targets(struct driver *d)
{
    const struct string_list *names = &d->options.targets;
    d->targets = arena_array(&d->arena, names->n + 1, sizeof *d->targets);
    for (size_t i = 0; i < names->n; i++) {
        const struct backend *b = be_find(names->items[i], strlen(names->items[i]));
        if (!b)
            return arena_printf(&d->arena, "there is no target `%s`; targets are %s", names->items[i],
                                target_names(d));
        for (size_t j = 0; j < i; j++)
            if (d->targets[j] == b)
                return arena_printf(&d->arena, "target %s is named twice", b->name);
        d->targets[d->n_targets++] = b;
    }
    if (d->n_targets)
        return NULL;
    const struct backend *b = d->options.output ? be_by_suffix(d->options.output) : NULL;
    if (!b)
        return arena_printf(&d->arena, "which target? Name it with -t (%s), or by the suffix of -o (%s)",
                            target_names(d), target_suffixes(d));
    d->targets[d->n_targets++] = b;
    return NULL;
}

static const char *check_losses(struct driver *d)
{
    static const char *const known[] = {
#define LOSS(name, summary) name,
#include "losses.def"
#undef LOSS
    };
    size_t n = sizeof known / sizeof *known;
    for (size_t i = 0; i < d->options.accepted.n; i++) {
        const char *name = d->options.accepted.items[i];
        bool found = false;
        for (size_t j = 0; j < n; j++)
            found |= !strcmp(known[j], name);
        if (!found)
            return arena_printf(&d->arena, "--accept %s: no loss of that name; the first is `%s`", name,
                                known[0]);
    }
    return NULL;
}

/* One word, as the clause has it: it stands in the run section and on the engine's command line. */
static bool is_image(const char *name)
{
    if (!*name || *name == '-')
        return false;
    for (; *name; name++)
        if ((unsigned char)*name <= ' ' || *name == 0x7f)
            return false;
    return true;
}

static const char *check_words(const struct options *o)
{
    if (o->check || o->write)
        return "--check and --write are for `sbxc fmt`";
    if (o->from && !fe_find(o->from))
        return "--from takes dsl, yaml or skill";
    if (o->shape && !shape_find(o->shape) && strcmp(o->shape, SHAPE_ROBOT_LAB) != 0)
        return "--shape takes robot_lab, clawtool, littleghost or rustyclaw";
    if (o->format && strcmp(o->format, "native") != 0 && strcmp(o->format, "text") != 0)
        return "--format takes native or text";
    if (o->resolve && strcmp(o->resolve, "host") != 0 && strcmp(o->resolve, "none") != 0)
        return "--resolve takes host or none";
    if (o->output && !*o->output)
        return "--output is empty";
    if (o->image && !is_image(o->image))
        return "--image takes the name of an image";
    return NULL;
}

/* One policy serves all targets of one system. */
static const struct ir_policy *policy_for(struct driver *d, enum ir_system system)
{
    const struct options *o = &d->options;
    if (d->policies[system])
        return d->policies[system];
    struct resolve_env *env = arena_alloc(&d->arena, sizeof *env);
    *env = d->env;
    env->host = system == HOST && !(o->resolve && !strcmp(o->resolve, "none"));
    struct policy_request q = {.declaration = d->declaration,
                               .ceilings = d->ceilings,
                               .n_ceilings = d->n_ceilings,
                               .env = env,
                               .system = system,
                               .trust_core = o->trust_core,
                               .portable = o->portable,
                               .image = o->image,
                               .accepted = o->accepted.items,
                               .n_accepted = o->accepted.n,
                               .preset = inputs_preset};
    d->policies[system] = policy_make(&q, &d->arena, &d->diags);
    return d->policies[system];
}

/* ---- compile --------------------------------------------------------------------------------------------
 */

struct artifact {
    const struct backend *target;
    const char *path;
    struct buf bytes;
};

static const char *output_path(struct driver *d, const struct backend *b)
{
    const char *o = d->options.output ? d->options.output : "-";
    return d->n_targets > 1 ? arena_printf(&d->arena, "%s%s", o, b->suffix) : o;
}

/* Everything is made in memory first: nothing is written unless all of it can be. */
static bool emit_all(struct driver *d, struct artifact *all)
{
    bool text = d->options.format && !strcmp(d->options.format, "text"), ok = true;
    bool parsed = !d->diags.n_errors; /* else only the paths are looked at */
    for (size_t i = 0; i < d->n_targets; i++) {
        const struct backend *b = d->targets[i];
        const struct ir_policy *p = policy_for(d, b->system);
        all[i] = (struct artifact){.target = b, .path = output_path(d, b)};
        if (!p || !parsed || !be_emit(b, p, &d->arena, &d->diags, &all[i].bytes)) {
            ok = false;
            continue;
        }
        if (text) {
            struct buf shown = {0};
            ok &= b->text(all[i].bytes.data, all[i].bytes.len, &shown);
            buf_done(&all[i].bytes);
            all[i].bytes = shown;
        }
        if (!buf_ok(&all[i].bytes))
            out_of_memory(NULL);
    }
    return ok && !d->diags.n_errors;
}

/* Only what people read goes to a terminal, and no input is ever written over. */
static const char *refuse_output(struct driver *d, const char *path, bool binary)
{
    if (!strcmp(path, "-"))
        return binary && isatty(STDOUT_FILENO)
                   ? "this artifact is binary: write it to a file, or ask for --format text"
                   : NULL;
    if (output_same_file(path, d->options.operands.items[0]))
        return "the output is the input";
    for (size_t i = 0; i < d->options.ceilings.n; i++)
        if (output_same_file(path, d->options.ceilings.items[i]))
            return "the output is a ceiling";
    return NULL;
}

static enum status write_all(struct driver *d, struct output *files, size_t n)
{
    const char *path = NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (output_same_file(files[i].path, files[j].path))
                return usage(d,
                             arena_printf(&d->arena, "%s and %s are one file", files[j].path, files[i].path));
    const char *why = output_write(&d->arena, files, n, &path);
    return why ? usage(d, arena_printf(&d->arena, "%s %s", path, why)) : STATUS_OK;
}

static enum status write_artifacts(struct driver *d, const struct artifact *all)
{
    bool text = d->options.format && !strcmp(d->options.format, "text");
    struct output *files = arena_array(&d->arena, d->n_targets, sizeof *files);
    for (size_t i = 0; i < d->n_targets; i++) {
        const char *why = refuse_output(d, all[i].path, all[i].target->binary && !text);
        if (why)
            return usage(d, arena_printf(&d->arena, "%s: %s", all[i].path, why));
        files[i] = (struct output){.path = all[i].path, .data = all[i].bytes.data, .len = all[i].bytes.len};
    }
    return write_all(d, files, d->n_targets);
}

static const char *read_inputs(struct driver *d)
{
    const char *why = NULL;
    const struct options *o = &d->options;
    struct inputs in = {&d->arena, &d->diags};
    const struct frontend *fe;
    d->ceilings = arena_array(&d->arena, o->ceilings.n + 1, sizeof *d->ceilings);
    d->has_inputs = inputs_read(&in, o->operands.items[0], o->from, o->shape, FE_DECLARATION, o->profile,
                                &d->declaration, &fe, &why);
    for (size_t i = 0; i < o->ceilings.n && !why; i++)
        d->has_inputs &=
            inputs_read(&in, o->ceilings.items[i], NULL, NULL, FE_CEILING, NULL, &d->ceilings[i], &fe, &why);
    d->n_ceilings = o->ceilings.n;
    if (o->ceiling_env)
        inputs_environment(&in, environ, &d->ceilings[d->n_ceilings++]);
    return why;
}

static const char *count_problem(struct driver *d)
{
    if (!d->options.operands.n)
        return "which declaration? `sbxc --help` shows how";
    const char *near = options_near_command(d->options.operands.items[0]);
    if (near)
        return arena_printf(&d->arena, "there is no command `%s`; did you mean `%s`?",
                            d->options.operands.items[0], near);
    return "one declaration at a time";
}

static const char *prepare(struct driver *d)
{
    if (d->options.operands.n != 1)
        return count_problem(d);
    if (!*d->options.operands.items[0])
        return "the name of the declaration is empty";
    const char *why = check_words(&d->options);
    if (!why)
        why = check_losses(d);
    if (!why)
        why = choose_targets(d);
    if (!why && d->n_targets > 1 && d->options.command == COMMAND_COMPILE &&
        (!d->options.output || !strcmp(d->options.output, "-")))
        why = "several targets need -o PREFIX";
    if (!why && d->n_targets > 1 && d->options.command == COMMAND_DUMP)
        why = "dump prints the policy of one target";
    if (!why)
        why = set_env(d, d->options.operands.items[0]);
    d->diags.strict = d->options.strict;
    return why ? why : read_inputs(d);
}

static enum status compile(struct driver *d)
{
    const char *why = prepare(d);
    if (why)
        return usage(d, why);
    struct artifact *all = arena_array(&d->arena, d->n_targets, sizeof *all);
    enum status status = STATUS_REFUSED;
    bool made = d->has_inputs && emit_all(d, all);
    render_diags(d);
    if (made)
        status = write_artifacts(d, all);
    for (size_t i = 0; i < d->n_targets; i++)
        buf_done(&all[i].bytes);
    return status;
}

/* ---- Other commands -------------------------------------------------------------------------------------
 */

static enum status dump(struct driver *d)
{
    const char *why = prepare(d);
    if (why)
        return usage(d, why);
    const struct ir_policy *p = d->has_inputs ? policy_for(d, d->targets[0]->system) : NULL;
    render_diags(d);
    if (!p || d->diags.n_errors)
        return STATUS_REFUSED;
    struct buf out = {0};
    if (d->options.json)
        dump_json(p, &out);
    else
        ir_print(p, &out);
    if (!buf_ok(&out))
        out_of_memory(NULL);
    struct output file = {
        .path = d->options.output ? d->options.output : "-", .data = out.data, .len = out.len};
    why = refuse_output(d, file.path, false);
    enum status status =
        why ? usage(d, arena_printf(&d->arena, "%s: %s", file.path, why)) : write_all(d, &file, 1);
    buf_done(&out);
    return status;
}

/* ---- fmt ------------------------------------------------------------------------------------------------
 */

static const char *check_fmt_words(const struct options *o)
{
    if (!o->operands.n)
        return "which files? `sbxc --help` shows how";
    if (o->from && strcmp(o->from, fe_dsl.name) != 0)
        return "--from: fmt is for the declaration language, dsl";
    if (o->check && o->write)
        return "--check and --write exclude each other";
    if (o->output && (o->check || o->write || o->operands.n > 1))
        return "--output is for one file, without --check and --write";
    if (o->output && !*o->output)
        return "--output is empty";
    for (size_t i = 0; i < o->operands.n && o->write; i++)
        if (!strcmp(o->operands.items[i], "-"))
            return "--write: standard input is no file";
    return NULL;
}

/* False where it was refused, with the reason in diags or, if it could not be read, in *out_usage. */
static bool format_one(struct driver *d, const char *path, struct buf *out, bool *out_changed,
                       const char **out_usage)
{
    if ((d->options.from ? fe_find(d->options.from) : fe_by_suffix(path)) != &fe_dsl) {
        *out_usage =
            arena_printf(&d->arena, "%s: no .sbx file; --from dsl says that it is of that kind", path);
        return false;
    }
    const struct source *src = read_source(d, path, out_usage);
    if (!src || !fmt_text(src, &d->arena, &d->diags, out))
        return false;
    if (!buf_ok(out))
        out_of_memory(NULL);
    *out_changed =
        src->skipped || src->len != out->len || (out->len && memcmp(src->text, out->data, out->len) != 0);
    return true;
}

/* All files or none: nothing is written, named or printed before each of them was formatted. */
static enum status put_formatted(struct driver *d, const struct buf *texts, const bool *changed)
{
    const struct options *o = &d->options;
    const struct string_list *paths = &o->operands;
    struct output *files = arena_array(&d->arena, paths->n, sizeof *files);
    size_t n = 0;
    for (size_t i = 0; i < paths->n; i++)
        if (changed[i] && o->check)
            puts(paths->items[i]);
        else if (changed[i] && o->write)
            files[n++] = (struct output){
                .path = paths->items[i], .data = texts[i].data, .len = texts[i].len, .edit = true};
        else if (!o->check && !o->write && !o->output)
            fwrite(texts[i].data, 1, texts[i].len, stdout);
    if (o->output)
        files[n++] = (struct output){.path = o->output, .data = texts[0].data, .len = texts[0].len};
    const char *why = o->output ? refuse_output(d, o->output, false) : NULL;
    if (why)
        return usage(d, arena_printf(&d->arena, "%s: %s", o->output, why));
    return write_all(d, files, n);
}

static enum status format(struct driver *d)
{
    const char *why = check_fmt_words(&d->options);
    if (why)
        return usage(d, why);
    size_t n = d->options.operands.n;
    struct buf *texts = arena_array(&d->arena, n, sizeof *texts);
    bool *changed = arena_array(&d->arena, n, sizeof *changed), ok = true, any = false;
    for (size_t i = 0; i < n && !why; i++) {
        ok &= format_one(d, d->options.operands.items[i], &texts[i], &changed[i], &why);
        any |= changed[i];
    }
    enum status status = STATUS_REFUSED;
    if (!ok)
        render_diags(d);
    if (why)
        status = usage(d, why);
    else if (ok)
        status = put_formatted(d, texts, changed);
    for (size_t i = 0; i < n; i++)
        buf_done(&texts[i]);
    return status == STATUS_OK && d->options.check && any ? STATUS_REFUSED : status;
}

/* ---- convert --------------------------------------------------------------------------------------------
 */

static enum status convert(struct driver *d)
{
    const struct options *o = &d->options;
    const char *path = o->operands.n == 1 ? o->operands.items[0] : NULL,
               *why = path ? check_words(o) : count_problem(d);
    const struct frontend *fe = why ? NULL : o->from ? fe_find(o->from) : fe_by_suffix(path);
    if (!why && o->to && strcmp(o->to, "dsl") != 0 && strcmp(o->to, "yaml") != 0)
        why = "--to takes dsl or yaml";
    if (!why && !fe)
        why = arena_printf(&d->arena,
                           "%s: what kind of input is this? Name it with --from dsl, yaml or skill", path);
    const struct source *src = why ? NULL : read_source(d, path, &why);
    if (why)
        return usage(d, why);
    struct decl_file file = {.shape = o->shape};
    struct buf out = {0};
    fe->parse(src, FE_DECLARATION, &d->arena, &d->diags, &file);
    struct span comment;
    if (!d->diags.n_errors && comments_first(src, fe, &comment))
        diag_add(&d->diags, DIAG_COMMENTS, comment, "comments are not carried over");
    enum key_syntax to = (o->to ? !strcmp(o->to, "yaml") : fe == &fe_dsl) ? KEY_YAML : KEY_DSL;
    bool ok = !d->diags.n_errors && write_declaration(&file, to, &d->arena, &d->diags, &out);
    render_diags(d);
    if (!buf_ok(&out))
        out_of_memory(NULL);
    enum status status = STATUS_REFUSED;
    struct output result = {.path = o->output ? o->output : "-", .data = out.data, .len = out.len};
    why = ok ? refuse_output(d, result.path, false) : NULL;
    if (ok)
        status =
            why ? usage(d, arena_printf(&d->arena, "%s: %s", result.path, why)) : write_all(d, &result, 1);
    buf_done(&out);
    return status;
}

/* ---- preset, help ---------------------------------------------------------------------------------------
 */

static enum status preset(struct driver *d)
{
    if (d->options.operands.n > 1)
        return usage(d, "one preset at a time");
    const char *name = d->options.operands.n ? d->options.operands.items[0] : NULL;
    for (size_t i = 0; i < n_preset_texts; i++) {
        if (!name)
            puts(preset_texts[i].name);
        else if (!strcmp(name, preset_texts[i].name))
            return fwrite(preset_texts[i].text, 1, preset_texts[i].len, stdout) == preset_texts[i].len
                       ? STATUS_OK
                       : STATUS_USAGE;
    }
    return name ? usage(d, arena_printf(&d->arena, "there is no preset `%s`; `sbxc preset` lists them", name))
                : STATUS_OK;
}

static enum status help(void)
{
    struct buf out = {0};
    options_help(&out);
    buf_str(&out, "\ntargets:\n");
    for (size_t i = 0; i < n_backends; i++)
        buf_printf(&out, "  %-9s %-10s %s\n", backends[i]->name, backends[i]->suffix, backends[i]->summary);
    buf_str(&out, "\nlosses that --accept takes:\n");
#define LOSS(name, summary) buf_printf(&out, "  %s: %s\n", name, summary);
#include "losses.def"
#undef LOSS
    print(&out, stdout);
    return STATUS_OK;
}

static enum status version(struct driver *d)
{
    printf("sbxc %s, artifact format %d, targets %s\n", SBX_VERSION, ARTIFACT_FORMAT, target_names(d));
    return STATUS_OK;
}

static enum status run(struct driver *d, int argc, char **argv)
{
    const char *why = options_parse(&d->arena, argc, argv, &d->options);
    const char *form = d->options.diagnostics;
    if (!why && form && strcmp(form, "text") != 0 && strcmp(form, "json") != 0)
        why = "--diagnostics takes text or json";
    if (why)
        return usage(d, why);
    if (d->options.help)
        return help();
    if (d->options.version)
        return version(d);
    switch (d->options.command) {
    case COMMAND_COMPILE:
        return compile(d);
    case COMMAND_DUMP:
        return dump(d);
    case COMMAND_FMT:
        return format(d);
    case COMMAND_CONVERT:
        return convert(d);
    case COMMAND_PRESET:
        return preset(d);
    case COMMAND_HELP:
        return help();
    }
    return STATUS_USAGE;
}

int main(int argc, char **argv)
{
    struct driver d = {0};
#ifdef __GLIBC__
    /* Else each large buffer that is freed lets later ones grow on the heap, which never shrinks below them.
     */
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
    arena_init(&d.arena, out_of_memory, NULL);
    diag_init(&d.diags, &d.arena);
    enum status status = run(&d, argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == STATUS_OK)
        status = usage(&d, "standard output cannot be written");
    arena_done(&d.arena);
    return (int)status;
}
