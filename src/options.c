#include "options.h"

#include <stdint.h>
#include <string.h>

#include "diag.h"

enum kind {
    FLAG, /* sets a bool */
    TEXT, /* one value, given once */
    LIST, /* may be repeated */
    COMMAS, /* may be repeated, and holds several with commas between */
    VAR,  /* NAME=VALUE */
};

struct option {
    char letter;
    const char *name, *value, *help;
    enum kind kind;
    size_t field; /* offset in struct options */
};

#define FIELD(f) offsetof(struct options, f)

static const struct option OPTIONS[] = {
    {'t', "target", "NAME,...", "targets to compile for; else by the suffix of -o", COMMAS, FIELD(targets)},
    {'o', "output", "FILE", "where the artifact goes, `-` for standard output; a prefix with several targets", TEXT, FIELD(output)},
    {0, "from", "KIND", "what the input is: dsl, yaml or skill; else by its suffix", TEXT, FIELD(from)},
    {0, "to", "dsl|yaml", "convert: which syntax; else the one that the input is not", TEXT, FIELD(to)},
    {0, "shape", "NAME", "whose keys the YAML holds: robot_lab, clawtool, littleghost, rustyclaw; else by its marker", TEXT, FIELD(shape)},
    {0, "profile", "NAME", "which profile of the input, where it holds several", TEXT, FIELD(profile)},
    {0, "ceiling", "FILE", "grant no more than this file allows; may be repeated", LIST, FIELD(ceilings)},
    {0, "ceiling-env", NULL, "take robot_lab's variables ROBOT_LAB_SANDBOX__* as a ceiling too", FLAG, FIELD(ceiling_env)},
    {'D', "define", "NAME=PATH", "what $NAME stands for in paths", VAR, 0},
    {0, "late", "NAME,...", "leave these variables to sbxrun -D; NAME:under=NAME where one lies in another", COMMAS, FIELD(late)},
    {0, "base", "DIR", "where relative paths begin (default: the current folder)", TEXT, FIELD(base)},
    {0, "sysroot", "DIR", "look paths up beneath DIR and write them without it", TEXT, FIELD(sysroot)},
    {0, "resolve", "host|none", "follow links on this host, or take paths as written", TEXT, FIELD(resolve)},
    {0, "image", "NAME", "the docker target's image", TEXT, FIELD(image)},
    {0, "format", "native|text", "text prints any artifact for review", TEXT, FIELD(format)},
    {0, "accept", "LOSS", "compile although a target enforces less here; may be repeated", LIST, FIELD(accepted)},
    {0, "trust-core", NULL, "grant a declaration's `trust core`: run it unconfined", FLAG, FIELD(trust_core)},
    {0, "strict", NULL, "warnings, cuts by a ceiling and grants beneath a deny are errors", FLAG, FIELD(strict)},
    {0, "portable", NULL, "paths of this machine in the artifact are errors", FLAG, FIELD(portable)},
    {0, "json", NULL, "dump: as JSON", FLAG, FIELD(json)},
    {0, "check", NULL, "fmt: only name the files that would change", FLAG, FIELD(check)},
    {'w', "write", NULL, "fmt: change the files", FLAG, FIELD(write)},
    {0, "diagnostics", "text|json", "how messages are printed; json: one object a line", TEXT, FIELD(diagnostics)},
    {'h', "help", NULL, "this text", FLAG, FIELD(help)},
    {'V', "version", NULL, "version, format and targets", FLAG, FIELD(version)},
};
enum { N_OPTIONS = sizeof OPTIONS / sizeof *OPTIONS };

static const struct {
    const char *name;
    enum command command;
    const char *operands, *help;
} COMMANDS[] = {
    {"compile", COMMAND_COMPILE, "FILE", "compile a declaration (the command that need not be named)"},
    {"dump", COMMAND_DUMP, "FILE", "print the policy that a target's artifact would hold"},
    {"fmt", COMMAND_FMT, "FILE...", "format files of the declaration language"},
    {"convert", COMMAND_CONVERT, "FILE", "print a declaration in the other syntax (--to), another system's file in the language"},
    {"preset", COMMAND_PRESET, "[NAME]", "print a preset, or their names"},
    {"help", COMMAND_HELP, "", "this text"},
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

struct parser {
    struct arena *arena;
    struct options *out;
    char **argv;
    int argc, i;
};

static void push(struct arena *a, struct string_list *l, const char *s)
{
    l->items = arena_grow(a, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = s;
}

static const char *store_var(struct parser *p, const char *value)
{
    const char *equal = strchr(value, '=');
    if (!equal || equal == value)
        return arena_printf(p->arena, "-D takes NAME=PATH, not `%s`", value);
    if (equal[1] != '/')
        return arena_printf(p->arena, "-D %s: the value must be an absolute path", value);
    struct options *o = p->out;
    o->vars = arena_grow(p->arena, o->vars, &o->cap_vars, o->n_vars + 1, sizeof *o->vars);
    o->vars[o->n_vars++] = (struct resolve_var){arena_strn(p->arena, value, (size_t)(equal - value)),
                                                resolve_absolute(p->arena, "", equal + 1)};
    return NULL;
}

static const char *store(struct parser *p, const struct option *opt, const char *value)
{
    void *field = (char *)p->out + opt->field;
    switch (opt->kind) {
    case FLAG:
        *(bool *)field = true;
        return NULL;
    case TEXT: {
        const char **text = field;
        if (*text)
            return arena_printf(p->arena, "--%s is given twice", opt->name);
        *text = value;
        return NULL;
    }
    case LIST:
        push(p->arena, field, value);
        return NULL;
    case COMMAS:
        for (const char *s = value;;) {
            size_t n = strcspn(s, ",");
            push(p->arena, field, arena_strn(p->arena, s, n));
            if (!s[n])
                return NULL;
            s += n + 1;
        }
    case VAR:
        return store_var(p, value);
    }
    return NULL;
}

static const char *unknown(struct parser *p, const char *word, size_t len)
{
    const char *names[N_OPTIONS];
    for (size_t i = 0; i < N_OPTIONS; i++)
        names[i] = OPTIONS[i].name;
    const char *near = diag_nearest(word, len, names, N_OPTIONS);
    if (near)
        return arena_printf(p->arena, "unknown option --%.*s; did you mean --%s?", (int)len, word, near);
    return arena_printf(p->arena, "unknown option --%.*s", (int)len, word);
}

/* --name, --name=value, --name value */
static const char *long_option(struct parser *p, const char *word)
{
    size_t len = strcspn(word, "=");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *opt = &OPTIONS[i];
        if (strlen(opt->name) != len || memcmp(opt->name, word, len) != 0)
            continue;
        if (opt->kind == FLAG)
            return word[len] ? arena_printf(p->arena, "--%s takes no value", opt->name) : store(p, opt, NULL);
        if (word[len])
            return store(p, opt, word + len + 1);
        if (p->i + 1 >= p->argc)
            return arena_printf(p->arena, "--%s needs a value: %s", opt->name, opt->value);
        return store(p, opt, p->argv[++p->i]);
    }
    return unknown(p, word, len);
}

/* -x, -xVALUE, -x VALUE */
static const char *short_option(struct parser *p, const char *word)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *opt = &OPTIONS[i];
        if (!opt->letter || opt->letter != word[0])
            continue;
        if (opt->kind == FLAG)
            return word[1] ? arena_printf(p->arena, "-%c takes no value", word[0]) : store(p, opt, NULL);
        if (word[1])
            return store(p, opt, word + 1);
        if (p->i + 1 >= p->argc)
            return arena_printf(p->arena, "-%c needs a value: %s", word[0], opt->value);
        return store(p, opt, p->argv[++p->i]);
    }
    return arena_printf(p->arena, "unknown option -%c", word[0]);
}

/* A first word that is a command is that command; a file of such a name is written ./dump. */
static bool take_command(struct parser *p)
{
    for (size_t i = 0; p->argc > 1 && i < N_COMMANDS; i++)
        if (!strcmp(p->argv[1], COMMANDS[i].name)) {
            p->out->command = COMMANDS[i].command;
            return true;
        }
    return false;
}

const char *options_parse(struct arena *a, int argc, char **argv, struct options *out)
{
    struct parser p = {.arena = a, .out = out, .argv = argv, .argc = argc};
    *out = (struct options){.command = COMMAND_COMPILE};
    bool options = true;
    const char *first = NULL; /* what is wrong; options behind it still say how that is printed */
    for (p.i = take_command(&p) ? 2 : 1; p.i < argc; p.i++) {
        const char *word = argv[p.i], *why = NULL;
        if (options && !strcmp(word, "--"))
            options = false;
        else if (options && !strncmp(word, "--", 2))
            why = long_option(&p, word + 2);
        else if (options && word[0] == '-' && word[1])
            why = short_option(&p, word + 1);
        else
            push(a, &out->operands, word);
        if (!first)
            first = why;
    }
    return first;
}

const char *options_near_command(const char *word)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = COMMANDS[i].name;
    return diag_nearest(word, strlen(word), names, N_COMMANDS);
}

void options_help(struct buf *out)
{
    buf_str(out, "usage: sbxc [OPTIONS] FILE\n       sbxc COMMAND [OPTIONS] ...\n\n"
                 "Compiles a declaration of what a program may do into what sandboxes understand.\n\ncommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        buf_printf(out, "  %-8s %-7s %s\n", COMMANDS[i].name, COMMANDS[i].operands, COMMANDS[i].help);
    buf_str(out, "\noptions:\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *o = &OPTIONS[i];
        char letter[5] = "    ";
        if (o->letter)
            memcpy(letter, (char[]){'-', o->letter, ',', ' '}, 4);
        int width = buf_ok(out) ? (int)(20 - strlen(o->name)) : 0;
        buf_printf(out, "  %s--%s %-*s %s\n", letter, o->name, width, o->value ? o->value : "", o->help);
    }
    buf_str(out, "\nexit status: 0 compiled, 1 refused, 2 usage or input and output\n");
}
