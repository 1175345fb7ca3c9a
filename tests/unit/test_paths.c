/* LINK: src/resolve.c src/rules.c src/sort.c src/pattern.c src/ir.c src/network.c src/units.c src/diag.c src/source.c src/arena.c src/buf.c */
/* Paths as written become paths as they are. Every case is asked beneath a tree of its own, so a wrong answer
 * shows as a path that only the host has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pattern.h"
#include "resolve.h"

struct fixture {
    char tree[64];
    struct arena arena;
    struct diag_list diags;
    struct resolve_env env;
    struct resolver r;
    bool pattern; /* the path resolved last is one */
};

static void run(const struct fixture *f, const char *script)
{
    char command[4096];
    snprintf(command, sizeof command, "cd '%s' && %s", f->tree, script);
    assert_int_equal(system(command), 0);
}

/* As if a new compilation began. */
static void again(struct fixture *f)
{
    diag_init(&f->diags, &f->arena);
    resolve_init(&f->r, &f->env, IR_LINUX, &f->arena, &f->diags);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    strcpy(f->tree, "/tmp/sbx-paths-XXXXXX");
    assert_non_null(mkdtemp(f->tree));
    arena_init(&f->arena, NULL, NULL);
    f->env = (struct resolve_env){.sysroot = f->tree,
                                  .base = "/ws",
                                  .home = "/home/u",
                                  .work_dir = "/work",
                                  .skill_dir = "/skill",
                                  .host = true};
    again(f);
    run(f, "mkdir -p ws/a/b home/u work skill data/deep/er && echo x > ws/f && echo x > data/f");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -rf '%s'", f->tree, f->tree);
    int status = system(command);
    arena_done(&f->arena);
    free(f);
    return status;
}

static enum resolve_result resolve_bytes(struct fixture *f, const char *text, size_t len, unsigned flags,
                                         struct ir_rule *out)
{
    const struct decl_path p = {.text = text, .len = (uint32_t)len, .allow = IR_READ, .flags = (uint8_t)flags};
    f->pattern = false;
    return resolve_path(&f->r, &p, WANT_PATH, out, &f->pattern);
}

/* The path or pattern that `text` becomes, or the id of the error in brackets. */
static const char *becomes_with(struct fixture *f, const char *text, unsigned flags)
{
    struct ir_rule out;
    size_t said = f->diags.n;
    switch (resolve_bytes(f, text, strlen(text), flags, &out)) {
    case RESOLVED:
        assert_int_equal(out.path_len, strlen(out.path));
        return arena_printf(&f->arena, "%s%s%s", f->pattern ? "pattern " : "", out.root == IR_ROOT_TMPDIR ? "T:" : "", out.path);
    case RESOLVE_SKIP:
        return "skip";
    case RESOLVE_ERROR:
        break;
    }
    /* Whatever is refused is said, and as an error. */
    assert_true(f->diags.n > said);
    assert_int_equal(f->diags.items[f->diags.n - 1]->severity, DIAG_ERROR);
    return arena_printf(&f->arena, "[%s]", diag_name(f->diags.items[f->diags.n - 1]->id));
}

static const char *becomes(struct fixture *f, const char *text)
{
    return becomes_with(f, text, 0);
}

static unsigned type_of(struct fixture *f, const char *text)
{
    struct ir_rule out;
    assert_int_equal(resolve_bytes(f, text, strlen(text), 0, &out), RESOLVED);
    return out.type;
}

static bool said(const struct fixture *f, enum diag_id id)
{
    for (size_t i = 0; i < f->diags.n; i++)
        if (f->diags.items[i]->id == id)
            return true;
    return false;
}

/* ---- The text of a path ------------------------------------------------------------------------------ */

static void test_plain(void **state)
{
    struct fixture *f = *state;
    const char *const same[][2] = {
        {"/ws/a", "/ws/a"},   {"//ws//a", "/ws/a"}, {"/ws/a/", "/ws/a"},   {"/ws/a/.", "/ws/a"},
        {"/ws/./a", "/ws/a"}, {"/", "/"},           {"//", "/"},           {"///", "/"},
        {"/.", "/"},          {"/./", "/"},         {"a", "/ws/a"},        {"./a", "/ws/a"},
        {".", "/ws"},         {"./", "/ws"},        {"a/b/", "/ws/a/b"},   {"././a/./b", "/ws/a/b"},
        {"/ws/f", "/ws/f"},   {"f", "/ws/f"},       {"/ws/a/**", "/ws/a"}, {"/**", "/"},
        {"**", "/ws"},        {"a/**", "/ws/a"},    {"//**", "/"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_string_equal(becomes(f, same[i][0]), same[i][1]);
    assert_int_equal(f->diags.n, 0);
}

static void test_types(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s f ws/tofile && ln -s a ws/todir && ln -s . ws/here && ln -s / ws/top && ln -s a/b/.. "
           "ws/upagain");
    const char *const folders[] = {"/", "/ws", "/ws/a/b", "/ws/todir", "/ws/here", "/ws/top", "/ws/upagain"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(type_of(f, folders[i]), IR_TYPE_DIR);
    assert_int_equal(type_of(f, "/ws/f"), IR_TYPE_FILE);
    assert_int_equal(type_of(f, "/ws/tofile"), IR_TYPE_FILE);
    assert_int_equal(type_of(f, "/ws/here/f"), IR_TYPE_FILE);
}

static void test_not_a_path(void **state)
{
    struct fixture *f = *state;
    struct ir_rule out;
    const char *const bad[] = {"", " ", "\t", "\n", " \t\r\n "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(becomes(f, bad[i]), "[bad-path]");
    assert_int_equal(resolve_bytes(f, "/ws\0/x", 6, 0, &out), RESOLVE_ERROR);
    assert_int_equal(resolve_bytes(f, "\0", 1, 0, &out), RESOLVE_ERROR);
    assert_int_equal(resolve_bytes(f, "/ws\0", 4, DECL_LITERAL, &out), RESOLVE_ERROR);
}

static void test_blanks_belong_to_names(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir 'ws/b ' 'ws/ b' ");
    assert_string_equal(becomes(f, "/ws/ b"), "/ws/ b");
    assert_int_equal(f->diags.n, 0);
    assert_string_equal(becomes(f, "/ws/b "), "/ws/b ");
    assert_true(said(f, DIAG_TRAILING_BLANK));
    /* A leading blank makes a relative path. */
    assert_string_equal(becomes(f, " /ws"), "[missing-path]");
}

static void test_any_byte(void **state)
{
    struct fixture *f = *state;
    for (int c = 1; c < 256; c++) {
        char name[128], path[8] = "/ws/ xy";
        if (c == '/')
            continue;
        path[4] = (char)c;
        snprintf(name, sizeof name, "%s%s", f->tree, path);
        assert_int_equal(mkdir(name, 0700), 0);
        assert_string_equal(becomes_with(f, path, DECL_LITERAL), path);
        char pattern[24];
        snprintf(pattern, sizeof pattern, "pattern %s", path);
        assert_string_equal(becomes(f, path), c == '$'              ? "[unknown-variable]"
                                              : c == '[' || c == '{' ? "[pattern]"
                                              : c == '*' || c == '?' ? pattern
                                                                     : path);
    }
}

static void test_unicode_slashes_are_no_slashes(void **state)
{
    struct fixture *f = *state;
    const char *const names[] = {"/ws/a\xe2\x88\x95"
                                 "b",
                                 "/ws/a\xef\xbc\x8f"
                                 "b",
                                 "/ws/\xc2\xa0", "/ws/\xe3\x80\x80"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_string_equal(becomes(f, names[i]), "[missing-path]");
        assert_int_equal(mkdir(arena_printf(&f->arena, "%s%s", f->tree, names[i]), 0700), 0);
        assert_string_equal(becomes(f, names[i]), names[i]);
    }
    assert_string_equal(becomes(f, "/WS/a"), "[missing-path]");
}

static void test_long(void **state)
{
    struct fixture *f = *state;
    enum { N = 70000 };
    struct ir_rule out;
    char *text = arena_alloc(&f->arena, N);
    memset(text, '/', N);
    assert_int_equal(resolve_bytes(f, text, N, 0, &out), RESOLVE_ERROR);
    assert_true(said(f, DIAG_TOO_LARGE));
    /* Below the limit slashes and dots fold away, however many. */
    assert_int_equal(resolve_bytes(f, text, 60000, 0, &out), RESOLVED);
    assert_string_equal(out.path, "/");
    for (size_t i = 1; i < 60000; i += 2)
        text[i] = '.';
    assert_int_equal(resolve_bytes(f, text, 60000, 0, &out), RESOLVED);
    assert_string_equal(out.path, "/");
    /* A name that no file can have is an error of the look-up. */
    memset(text + 1, 'n', 5000);
    assert_int_equal(resolve_bytes(f, text, 5000, 0, &out), RESOLVE_ERROR);
    assert_true(said(f, DIAG_PATH_ACCESS));
}

/* ---- Variables --------------------------------------------------------------------------------------- */

static void test_variables(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir -p home/u/x work/x skill/x data/x");
    const struct resolve_var vars[] = {{"DATA", "/data"}, {"D_2", "/data/deep"}, {"WORK_DIR", "/data"}};
    f->env.vars = vars;
    f->env.n_vars = 3;
    const char *const good[][2] = {
        {"~", "/home/u"},
        {"~/x", "/home/u/x"},
        {"~/", "/home/u"},
        {"~/**", "/home/u"},
        {"$HOME", "/home/u"},
        {"$HOME/x", "/home/u/x"},
        {"$SKILL_DIR/x", "/skill/x"},
        {"$DATA", "/data"},
        {"$D_2/er", "/data/deep/er"},
        {"$DATA/**", "/data"},
        {"$WORK_DIR/x", "/data/x"}, /* -D comes first */
        {"$TMPDIR", "T:"},
        {"$TMPDIR/", "T:"},
        {"$TMPDIR/**", "T:"},
        {"$TMPDIR/x/./y", "T:/x/y"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_string_equal(becomes(f, good[i][0]), good[i][1]);
    assert_int_equal(f->diags.n, 0);
}

static void test_wrong_variables(void **state)
{
    struct fixture *f = *state;
    const char *const bad[] = {"$",           "$/x",      "$$",          "${",       "${HOME}/x",
                               "${X:-/}",     "$NOSUCH",  "$NOSUCH/x",   "$HOMER/x", "$home/x",
                               "$HOME.x",     "$HOME x",  "/ws/$HOME",   "x$HOME",   "~/$HOME",
                               "$HOME/$HOME", "$TMPDIRS", "$TMPDIR$HOME"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(becomes(f, bad[i]), "[unknown-variable]");
    assert_string_equal(becomes(f, "~nosuchuser/x"), "[unknown-user]");
    assert_string_equal(becomes(f, "$TMPDIR/.."), "[dot-dot]");
    assert_string_equal(becomes(f, "$TMPDIR/x/../y"), "[dot-dot]");
}

/* Never another path: an empty home must not turn ~/x into /x. */
static void test_home_that_is_none(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir x");
    const char *const homes[] = {NULL, "", "home", "./x"};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        f->env.home = homes[i];
        assert_string_equal(becomes(f, "~/x"), "[unknown-user]");
        assert_string_equal(becomes(f, "~"), "[unknown-user]");
        assert_string_equal(becomes(f, "$HOME/x"), "[unknown-variable]");
    }
    f->env.home = "/";
    assert_string_equal(becomes(f, "~/x"), "/x");
    f->env.skill_dir = NULL; /* standard input */
    assert_string_equal(becomes(f, "$SKILL_DIR/x"), "[unknown-variable]");
}

static void test_tilde_of_a_user(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir -p root/x");
    assert_string_equal(becomes(f, "~root/x"), "/root/x");
    run(f, "mkdir 'ws/~'");
    assert_string_equal(becomes(f, "/ws/~"), "/ws/~");
    assert_string_equal(becomes(f, "./~"), "/ws/~");
}

static void test_literal(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir -p 'ws/~/x' 'ws/$HOME' 'ws/*' 'ws/a/**' 'ws/[' && touch 'ws/?'");
    const char *const names[] = {"~/x", "$HOME", "*", "a/**", "[", "?"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(becomes_with(f, names[i], DECL_LITERAL),
                            arena_printf(&f->arena, "/ws/%s", names[i]));
    assert_int_equal(f->diags.n, 0);
}

/* Pattern characters never make a plain path: they are a pattern, beneath folders that are resolved, or an error. */
static void test_patterns(void **state)
{
    struct fixture *f = *state;
    const char *const good[][2] = {
        {"*", "pattern /ws/*"},          {"/*", "pattern /*"},         {"/ws/**/b", "pattern /ws/**/b"},
        {"**/x", "pattern /ws/**/x"},    {"a*", "pattern /ws/a*"},     {"/ws/[a]", "pattern /ws/[a]"},
        {"~/*", "pattern /home/u/*"},    {"$HOME/*", "pattern /home/u/*"}, {"/ws//./a*/b/", "pattern /ws/a*/b"},
        {"/ws/todir/x*", "pattern /ws/a/x*"}, {"$TMPDIR/x*", "pattern T:/x*"},
    };
    run(f, "mkdir -p 'star/[*]' && ln -s 'star/[*]' odd && mkdir -p ws/a && (test -e ws/todir || ln -s a ws/todir)");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        again(f);
        if (!strcmp(good[i][0], "/ws/todir/x*")) {
            assert_non_null(strstr(becomes(f, good[i][0]), "pattern /ws/"));
            continue;
        }
        assert_string_equal(becomes(f, good[i][0]), good[i][1]);
    }
    const char *const bad[] = {"[", "/ws/[!", "/ws/\\*", "/ws/***", "/ws/{a,b}", "/ws/a/[z-a]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        again(f);
        assert_string_equal(becomes(f, bad[i]), "[pattern]");
    }
    again(f);
    /* A folder above, whatever it is called, is a name. */
    const char *odd = becomes(f, "/odd/x*");
    assert_true(pattern_matches(odd + strlen("pattern "), "/star/[*]/xy"));
    assert_false(pattern_matches(odd + strlen("pattern "), "/star/*/xy"));
}

static void test_base(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s /data ws/link");
    f->env.base = "/data/deep";
    assert_string_equal(becomes(f, "er"), "/data/deep/er");
    assert_string_equal(becomes(f, "../f"), "/data/f");
    f->env.base = "/";
    assert_string_equal(becomes(f, "ws"), "/ws");
    assert_string_equal(becomes(f, "../ws"), "[dot-dot]");
    f->env.base = "/ws/link";
    assert_string_equal(becomes(f, "f"), "/data/f");
    assert_string_equal(becomes(f, "../f"), "[dot-dot]");
}

/* ---- Links ------------------------------------------------------------------------------------------- */

static void test_links(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s /data ws/abs && ln -s ../data ws/rel && ln -s rel ws/chain && ln -s /ws/chain top &&"
           "ln -s ../../../../../../../data ws/a/far && ln -s er/../../f data/deep/dots && ln -s f ws/file &&"
           "ln -s /data/deep ws/ld");
    const char *const good[][2] = {
        {"/ws/abs", "/data"},
        {"/ws/rel", "/data"},
        {"/ws/chain", "/data"},
        {"/top", "/data"},
        {"/ws/abs/f", "/data/f"},
        {"/ws/rel/deep", "/data/deep"},
        {"/top/deep/er", "/data/deep/er"},
        {"/ws/rel/", "/data"},
        {"/ws/rel/.", "/data"},
        {"/ws/file", "/ws/f"},
        {"/ws/a/far/f", "/data/f"}, /* more `..` than folders, as the kernel takes them in a link */
        {"/data/deep/dots", "/data/f"},
        {"/ws/rel/deep/dots", "/data/f"},
        {"/ws/ld/dots", "/data/f"},
        {"/ws/abs/deep/../f", "/data/f"}, /* within what the link leads to */
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        again(f);
        assert_string_equal(becomes(f, good[i][0]), good[i][1]);
        assert_int_equal(f->diags.n, 0);
    }
}

static void test_links_are_remembered(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s ../data ws/rel && ln -s rel ws/chain");
    assert_string_equal(becomes(f, "/ws/chain/deep"), "/data/deep");
    assert_int_equal(f->r.n_aliases, 1);
    assert_string_equal(f->r.aliases[0].name, "/ws/chain/deep");
    assert_string_equal(f->r.aliases[0].path, "/data/deep");
    assert_int_equal(f->r.n_links, 2);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(f->r.links[i].target, "/data");
    /* What is left out leaves no names behind. */
    size_t links = f->r.n_links;
    assert_string_equal(becomes_with(f, "/ws/chain/none", DECL_OPTIONAL), "skip");
    assert_int_equal(f->r.n_links, links);
    assert_int_equal(f->r.n_aliases, 1);
}

static void test_dot_dot(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s /data/deep ws/l && ln -s l ws/l2 && ln -s /ws data/back");
    const char *const good[][2] = {
        {"/ws/a/..", "/ws"},           {"/ws/a/../f", "/ws/f"},
        {"/ws/a/b/../..", "/ws"},      {"/ws/..", "/"},
        {"../data", "/data"},          {"/ws/a/../../data", "/data"},
        {"/ws/l/er/..", "/data/deep"}, {"/data/back/a/../l/er", "/data/deep/er"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_string_equal(becomes(f, good[i][0]), good[i][1]);
    assert_int_equal(f->diags.n, 0);
    const char *const bad[] = {"/..",
                               "/../ws",
                               "/ws/../..",
                               "/ws/../../ws",
                               "/ws/l/..",
                               "/ws/l/../f",
                               "/ws/l2/..",
                               "/ws/l/./..",
                               "/ws/l/er/../..",
                               "/ws/l/er/../../deep",
                               "/data/back/a/../..",
                               "../.."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_string_equal(becomes(f, bad[i]), "[dot-dot]");
    /* `..` behind a file or behind nothing is no path at all: the kernel says ENOTDIR and ENOENT. */
    const char *const none[] = {"/ws/f/..", "/ws/f/../a", "/ws/none/..", "/ws/none/../a",
                                "/ws/none/x/../../a"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_string_equal(becomes(f, none[i]), "[missing-path]");
        assert_string_equal(becomes_with(f, none[i], DECL_OPTIONAL), "skip");
    }
    /* Names that only begin with dots are names. */
    run(f, "mkdir ws/... ws/..x ws/.x");
    assert_string_equal(becomes(f, "/ws/..."), "/ws/...");
    assert_string_equal(becomes(f, "/ws/..x"), "/ws/..x");
    assert_string_equal(becomes(f, "/ws/.x"), "/ws/.x");
}

static void test_loops(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s self ws/self && ln -s two ws/one && ln -s one ws/two && ln -s .. ws/a/up &&"
           "i=0; ln -s /data ws/c0; while [ $i -lt 45 ]; do ln -s c$i ws/c$((i + 1)); i=$((i + 1)); done");
    assert_string_equal(becomes(f, "/ws/self"), "[link-loop]");
    assert_string_equal(becomes(f, "/ws/self/x"), "[link-loop]");
    assert_string_equal(becomes(f, "/ws/one"), "[link-loop]");
    assert_string_equal(becomes_with(f, "/ws/one", DECL_OPTIONAL), "[link-loop]");
    /* As many as the kernel follows, and not one more. */
    assert_string_equal(becomes(f, "/ws/c39"), "/data");
    assert_string_equal(becomes(f, "/ws/c40"), "[link-loop]");
    /* The bound is for each look-up alone. */
    for (size_t i = 0; i < 50; i++)
        assert_string_equal(becomes(f, "/ws/a/up/f"), "/ws/f");
}

static void test_missing(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s nowhere ws/dangling && ln -s dangling ws/chain");
    const char *const none[] = {"/none",     "/ws/none",     "/ws/none/x/y", "/ws/f/x",
                                "/ws/f/x/y", "/ws/dangling", "/ws/chain/x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        again(f);
        assert_string_equal(becomes(f, none[i]), "[missing-path]");
        again(f);
        assert_string_equal(becomes_with(f, none[i], DECL_OPTIONAL), "skip");
        assert_true(said(f, DIAG_SKIPPED_PATH));
        again(f);
        struct ir_rule out;
        bool pattern = false;
        const struct decl_path p = {.text = none[i], .len = (uint32_t)strlen(none[i])};
        assert_int_equal(resolve_path(&f->r, &p, WANT_NAME, &out, &pattern), RESOLVED);
        assert_int_equal(out.type, IR_TYPE_NONE);
        assert_int_equal(f->diags.n, 0);
    }
}

/* `optional` holds at launch as well. */
static void test_optional_is_kept(void **state)
{
    struct fixture *f = *state;
    struct ir_rule out;
    assert_int_equal(resolve_bytes(f, "/ws/a", 5, DECL_OPTIONAL, &out), RESOLVED);
    assert_int_equal(out.flags, IR_OPTIONAL);
    assert_int_equal(resolve_bytes(f, "/ws/a", 5, 0, &out), RESOLVED);
    assert_int_equal(out.flags, 0);
}

static void test_permissions(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir -p ws/shut/in && chmod 755 . ws && chmod 700 ws/shut");
    if (getuid() == 0) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            struct ir_rule out;
            bool ok = setgid(1001) == 0 && setuid(1001) == 0 &&
                      resolve_bytes(f, "/ws/shut", 8, 0, &out) == RESOLVED &&
                      resolve_bytes(f, "/ws/shut/in", 11, DECL_OPTIONAL, &out) == RESOLVE_ERROR &&
                      said(f, DIAG_PATH_ACCESS);
            _exit(ok ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    } else {
        run(f, "chmod 0 ws/shut");
        assert_string_equal(becomes(f, "/ws/shut/in"), "[path-access]");
    }
}

static void test_special_files_warn(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/ws/sock", f->tree);
    assert_int_equal(bind(s, (const struct sockaddr *)&at, sizeof at), 0);
    run(f, "mkfifo ws/fifo && ln -s fifo ws/tofifo");
    const char *const names[] = {"/ws/fifo", "/ws/sock", "/ws/tofifo"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        again(f);
        assert_int_equal(type_of(f, names[i]), IR_TYPE_FILE);
        assert_true(said(f, DIAG_DEVICE_PATH));
    }
    close(s);
}

/* ---- The sysroot ------------------------------------------------------------------------------------- */

static void test_sysroot_is_the_root(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir etc && ln -s /etc ws/etc && ln -s ../../../../../../etc/passwd ws/out && ln -s / ws/root");
    assert_string_equal(becomes(f, "/ws/etc"), "/etc");
    assert_string_equal(becomes(f, "/ws/root"), "/");
    assert_string_equal(becomes(f, "/ws/root/ws/f"), "/ws/f");
    /* The host has this file, the tree does not. */
    assert_string_equal(becomes(f, "/ws/out"), "[missing-path]");
    assert_string_equal(becomes(f, "/ws/etc/passwd"), "[missing-path]");
    f->env.sysroot = NULL;
    again(f);
    assert_string_equal(becomes(f, "/etc/passwd"), "/etc/passwd");
}

static void test_without_sysroot(void **state)
{
    struct fixture *f = *state;
    f->env.sysroot = NULL;
    f->env.base = f->tree;
    again(f);
    run(f, "ln -s data link");
    assert_string_equal(becomes(f, "link/f"), arena_printf(&f->arena, "%s/data/f", f->tree));
}

/* ---- Known folders ----------------------------------------------------------------------------------- */

/* A folder seen once is not looked at again; that must never make a link or a missing name a folder. */
static void test_neighbours(void **state)
{
    struct fixture *f = *state;
    run(f, "mkdir -p ws/ab/c && ln -s ../data ws/a/l && ln -s /ws/a ws/abc");
    const char *const steps[][2] = {
        {"/ws/a/b", "/ws/a/b"},         {"/ws/a", "/ws/a"},       {"/ws/ab", "/ws/ab"},
        {"/ws/a/l", "[missing-path]"},  {"/ws/abc/b", "/ws/a/b"}, {"/ws/a/b/x", "[missing-path]"},
        {"/ws/a/b/../b", "/ws/a/b"},    {"/ws/f", "/ws/f"},       {"/ws/ab/c", "/ws/ab/c"},
        {"/ws/ab/b", "[missing-path]"}, {"/w", "[missing-path]"}, {"/ws/a/b", "/ws/a/b"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_string_equal(becomes(f, steps[i][0]), steps[i][1]);
}

/* All pairs of paths give, one after the other, what each gives alone. */
static void test_order_of_look_ups(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s ../data ws/rel && ln -s /ws/a ws/abs && ln -s none ws/dead && ln -s loop ws/loop");
    const char *const paths[] = {
        "/",          "/ws",        "/ws/a",      "/ws/a/b",  "/ws/f",         "/ws/rel",   "/ws/rel/deep",
        "/ws/abs/b",  "/ws/dead",   "/ws/loop/x", "/ws/f/x",  "/data/deep/er", "/data/dee", "/ws/rel/f",
        "/ws/a/../f", "/ws/rel/..", "~",          "$TMPDIR/x"};
    enum { N = sizeof paths / sizeof *paths };
    const char *alone[N];
    for (size_t i = 0; i < N; i++) {
        again(f);
        alone[i] = becomes(f, paths[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            again(f);
            assert_string_equal(becomes(f, paths[i]), alone[i]);
            assert_string_equal(becomes(f, paths[j]), alone[j]);
        }
}

/* ---- Other systems, folders --------------------------------------------------------------------------- */

static void test_macos_spelling(void **state)
{
    struct fixture *f = *state;
    f->env.host = false;
    resolve_init(&f->r, &f->env, IR_MACOS, &f->arena, &f->diags);
    const char *const names[][2] = {
        {"/tmp", "/private/tmp"},
        {"/tmp/x", "/private/tmp/x"},
        {"/var/x", "/private/var/x"},
        {"/etc", "/private/etc"},
        {"/tmpx", "/tmpx"},
        {"/private/tmp", "/private/tmp"},
        {"/x/tmp", "/x/tmp"},
        {"/", "/"},
        {"none//at/./all/", "/ws/none/at/all"},
        {"~/x", "/home/u/x"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(becomes(f, names[i][0]), names[i][1]);
    /* Said once, not for every path. */
    assert_int_equal(f->diags.n, 1);
    assert_true(said(f, DIAG_UNRESOLVED));
    assert_string_equal(becomes(f, "/tmp/../x"), "[dot-dot]");
    assert_string_equal(becomes(f, "../x"), "[dot-dot]");
    assert_int_equal(f->r.n_aliases, 4);
}

static void test_folder(void **state)
{
    struct fixture *f = *state;
    run(f, "ln -s ../data/deep ws/l");
    assert_string_equal(resolve_folder(&f->r, "/ws/a"), "/ws/a");
    assert_string_equal(resolve_folder(&f->r, "/"), "/");
    assert_string_equal(resolve_folder(&f->r, "/ws/l"), "/data/deep");
    /* Where the file really is, even through `..` behind a link. */
    assert_string_equal(resolve_folder(&f->r, "/ws/l/.."), "/data");
    assert_null(resolve_folder(&f->r, "/ws/f"));
    assert_null(resolve_folder(&f->r, "/none"));
}

static void test_absolute(void **state)
{
    struct fixture *f = *state;
    struct arena *a = &f->arena;
    assert_null(resolve_absolute(a, "/b", ""));
    assert_string_equal(resolve_absolute(a, "/b", "x"), "/b/x");
    assert_string_equal(resolve_absolute(a, "/b/", "./x//"), "/b/x");
    assert_string_equal(resolve_absolute(a, "/b", "/x/./y"), "/x/y");
    assert_string_equal(resolve_absolute(a, "/b", "../x"), "/b/../x");
    assert_string_equal(resolve_absolute(a, "/", "."), "/");
}

/* Places lead to the byte, unless escapes make text and source differ. */
static void test_places(void **state)
{
    struct fixture *f = *state;
    const char *text = "read \"/ws/a$bc\"";
    const struct source *src = source_new(&f->arena, "x", text, strlen(text));
    struct decl_path p = {.text = "/ws/a$bc", .len = 8, .span = {src, 5, 10}};
    struct ir_rule out;
    bool pattern = false;
    assert_int_equal(resolve_path(&f->r, &p, WANT_PATH, &out, &pattern), RESOLVE_ERROR);
    assert_int_equal(f->diags.items[0]->span.start, 11);
    assert_int_equal(f->diags.items[0]->span.len, 1);
    p.span.len = 12;
    assert_int_equal(resolve_path(&f->r, &p, WANT_PATH, &out, &pattern), RESOLVE_ERROR);
    assert_int_equal(f->diags.items[1]->span.start, 5);
    assert_int_equal(f->diags.items[1]->span.len, 12);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plain),
        TEST(test_types),
        TEST(test_not_a_path),
        TEST(test_blanks_belong_to_names),
        TEST(test_any_byte),
        TEST(test_unicode_slashes_are_no_slashes),
        TEST(test_long),
        TEST(test_variables),
        TEST(test_wrong_variables),
        TEST(test_home_that_is_none),
        TEST(test_tilde_of_a_user),
        TEST(test_literal),
        TEST(test_patterns),
        TEST(test_base),
        TEST(test_links),
        TEST(test_links_are_remembered),
        TEST(test_dot_dot),
        TEST(test_loops),
        TEST(test_missing),
        TEST(test_optional_is_kept),
        TEST(test_permissions),
        TEST(test_special_files_warn),
        TEST(test_sysroot_is_the_root),
        TEST(test_without_sysroot),
        TEST(test_neighbours),
        TEST(test_order_of_look_ups),
        TEST(test_macos_spelling),
        TEST(test_folder),
        TEST(test_absolute),
        TEST(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
