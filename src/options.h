/* The command line of sbxc: one table, from which parsing and --help are made. */
#ifndef SBX_OPTIONS_H
#define SBX_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "buf.h"
#include "resolve.h"

enum command { COMMAND_COMPILE, COMMAND_DUMP, COMMAND_FMT, COMMAND_CONVERT, COMMAND_PRESET, COMMAND_HELP };

struct string_list {
    const char **items;
    size_t n, cap;
};

struct options {
    enum command command;
    struct string_list operands;
    struct string_list targets, ceilings, accepted, late;
    struct resolve_var *vars;
    size_t n_vars, cap_vars;
    const char *output, *from, *to, *shape, *base, *sysroot, *image, *profile, *format, *resolve, *diagnostics;
    bool strict, portable, ceiling_env, json, trust_core, check, write, help, version;
};

/* Fills out; returns NULL, or what is wrong with the command line. */
const char *options_parse(struct arena *a, int argc, char **argv, struct options *out);
/* The command that a word was probably meant to be, or NULL. */
const char *options_near_command(const char *word);
void options_help(struct buf *out);

#endif
