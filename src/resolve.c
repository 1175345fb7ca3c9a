#include "resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixed.h"

/* As the kernel's own bound on links in one look-up (path_resolution(7)). */
enum { MAX_LINKS = 40, MAX_LINK_BYTES = 4096, MAX_TEXT_BYTES = 64 * 1024 };

void resolve_init(struct resolver *r, const struct resolve_env *env, enum ir_system system, struct arena *a,
                  struct diag_list *diags)
{
    *r = (struct resolver){.env = env, .arena = a, .diags = diags, .system = system};
}

/* ---- The text of a path --------------------------------------------------------------------------------- */

struct text {
    const char *s;
    size_t len;
};

static struct diag *complain(struct resolver *r, enum diag_id id, const struct decl_path *p, size_t at, size_t len,
                             const char *text)
{
    /* Escapes make offsets in the text and in the source differ; then the whole path is marked. */
    struct span span = p->span;
    bool quoted = span.len == p->len + 2;
    if (span.src && (quoted || span.len == p->len) && len) {
        span.start += (uint32_t)at + (quoted ? 1 : 0);
        span.len = (uint32_t)len;
    }
    return diag_add(r->diags, id, span, "%s", text);
}

/* How a path word is written in the syntax that the path came from. */
static const char *word_form(struct resolver *r, const struct decl_path *p, const char *word, const char *where)
{
    if (p->flags & DECL_YAML)
        return arena_printf(r->arena, "write {path: ..., %s: true}", word);
    return arena_printf(r->arena, "write `%s` %s the path", word, where);
}

static bool check_text(struct resolver *r, const struct decl_path *p)
{
    size_t blank = 0;
    while (blank < p->len && strchr(" \t\r\n", p->text[blank]) && p->text[blank])
        blank++;
    if (blank == p->len) {
        struct diag *d = complain(r, DIAG_BAD_PATH, p, 0, 0, p->len ? "this path is blank" : "this path is empty");
        diag_hint(r->diags, d, "write an absolute path, or one that begins with ~/ or a $NAME");
        return false;
    }
    const char *nul = memchr(p->text, '\0', p->len);
    if (nul) {
        complain(r, DIAG_BAD_PATH, p, (size_t)(nul - p->text), 1, "a path cannot hold a NUL byte");
        return false;
    }
    if (p->len > MAX_TEXT_BYTES) {
        diag_add(r->diags, DIAG_TOO_LARGE, p->span, "a path is longer than %d bytes", MAX_TEXT_BYTES);
        return false;
    }
    if (strchr(" \t\r\n", p->text[p->len - 1]))
        diag_add(r->diags, DIAG_TRAILING_BLANK, p->span, "this path ends in a blank, which is taken as part of the name");
    return true;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The value of a variable; NULL if there is none of that name, or it is not known here. */
static const char *variable(const struct resolve_env *e, struct text name)
{
    for (size_t i = 0; i < e->n_vars; i++)
        if (strlen(e->vars[i].name) == name.len && !memcmp(e->vars[i].name, name.s, name.len))
            return e->vars[i].value;
    const struct {
        const char *name, *value;
    } own[] = {{"HOME", e->home}, {"WORK_DIR", e->work_dir}, {"SKILL_DIR", e->skill_dir}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i].name) == name.len && !memcmp(own[i].name, name.s, name.len))
            return own[i].value;
    return NULL;
}

/* `$NAME` or `$NAME/...`: *root is what NAME stands for, *rest what follows. */
static bool expand_variable(struct resolver *r, const struct decl_path *p, const char **root, struct text *rest,
                            bool *tmpdir)
{
    size_t n = 1;
    while (n < p->len && is_name_byte(p->text[n]))
        n++;
    struct text name = {p->text + 1, n - 1};
    *rest = (struct text){p->text + n, p->len - n};
    if (!name.len || (rest->len && rest->s[0] != '/')) {
        struct diag *d = complain(r, DIAG_UNKNOWN_VARIABLE, p, 0, n, "a variable is written $NAME, and `/` follows it");
        diag_hint(r->diags, d, "for a `$` that belongs to the name %s", word_form(r, p, "literal", "before"));
        return false;
    }
    if (name.len == 6 && !memcmp(name.s, "TMPDIR", 6)) {
        *tmpdir = true;
        *root = "";
        return true;
    }
    *root = variable(r->env, name);
    /* A home that is not absolute would make `$HOME/x` another path, at worst /x. */
    if (*root && **root == '/')
        return true;
    struct diag *d = complain(r, DIAG_UNKNOWN_VARIABLE, p, 0, n, "this variable is not known here");
    diag_hint(r->diags, d, "known are $HOME, $WORK_DIR, $SKILL_DIR, $TMPDIR and those of -D NAME=VALUE");
    return false;
}

/* `~`, `~/x` and `~user/x`. */
static bool expand_tilde(struct resolver *r, const struct decl_path *p, const char **root, struct text *rest)
{
    size_t n = 1;
    while (n < p->len && p->text[n] != '/')
        n++;
    *rest = (struct text){p->text + n, p->len - n};
    if (n == 1) {
        *root = variable(r->env, (struct text){"HOME", 4});
    } else {
        const struct passwd *pw = getpwnam(arena_strn(r->arena, p->text + 1, n - 1));
        *root = pw ? arena_str(r->arena, pw->pw_dir) : NULL;
    }
    if (*root && **root == '/')
        return true;
    complain(r, DIAG_UNKNOWN_USER, p, 0, n, n == 1 ? "the user has no absolute home folder" : "there is no such user");
    return false;
}

/* `dir/` and two stars is dir itself; any other pattern character is refused. */
static bool check_pattern(struct resolver *r, const struct decl_path *p, struct text *rest)
{
    if (rest->len >= 3 && !memcmp(rest->s + rest->len - 3, "/**", 3))
        rest->len -= 3;
    else if (rest->len == 2 && !memcmp(rest->s, "**", 2) && rest->s == p->text)
        rest->len = 0;
    for (size_t i = 0; i < rest->len; i++) {
        if (rest->s[i] != '$' && !strchr("*?[", rest->s[i]))
            continue;
        size_t at = (size_t)(rest->s - p->text) + i;
        if (rest->s[i] == '$') {
            struct diag *d = complain(r, DIAG_UNKNOWN_VARIABLE, p, at, 1, "a variable stands only at the start of a path");
            diag_hint(r->diags, d, "for a `$` that belongs to the name %s", word_form(r, p, "literal", "before"));
        } else {
            struct diag *d = complain(r, DIAG_PATTERN, p, at, 1, "patterns are not accepted in this clause");
            diag_hint(r->diags, d, "grant the folder; for a character that belongs to the name %s",
                      word_form(r, p, "literal", "before"));
        }
        return false;
    }
    return true;
}

/* The path as an absolute text, links and `..` still in it. NULL after an error. */
static const char *expand(struct resolver *r, const struct decl_path *p, bool *tmpdir)
{
    struct text rest = {p->text, p->len};
    const char *root = NULL;
    if (!(p->flags & DECL_LITERAL)) {
        if (p->text[0] == '$' && !expand_variable(r, p, &root, &rest, tmpdir))
            return NULL;
        if (p->text[0] == '~' && !expand_tilde(r, p, &root, &rest))
            return NULL;
        if (!check_pattern(r, p, &rest))
            return NULL;
    }
    if (!root && !(rest.len && rest.s[0] == '/') && !(rest.len == 0 && p->text[0] == '/'))
        root = r->env->base;
    return arena_printf(r->arena, "%s/%.*s", root ? root : "", (int)rest.len, rest.s);
}

const char *resolve_absolute(struct arena *a, const char *base, const char *path)
{
    if (!*path)
        return NULL;
    const char *whole = *path == '/' ? path : arena_printf(a, "%s/%s", base, path);
    char *out = arena_alloc(a, strlen(whole) + 2), *w = out;
    for (const char *s = whole; *s;) {
        s += strspn(s, "/");
        size_t n = strcspn(s, "/");
        if (n && !(n == 1 && s[0] == '.')) {
            *w++ = '/';
            memcpy(w, s, n);
            w += n;
        }
        s += n;
    }
    if (w == out)
        *w++ = '/';
    *w = '\0';
    return out;
}

/* ---- Walking -------------------------------------------------------------------------------------------- */

/* Where a walk stands: `cur` is canonical, "" meaning the root. */
struct walk {
    char *cur;
    size_t len, cap;
    bool missing;      /* what cur names does not exist, nor anything beneath */
    bool below_file;   /* ... because a part of it is no folder */
    bool linked;       /* a component of the written path was a link; cur[0, led) is where it led */
    size_t led;
    const char *dot_dot; /* why a `..` of the written path is refused, or NULL */
    unsigned links, depth; /* links followed so far, and being followed now */
    mode_t mode; /* of cur, 0 when missing or not looked at */
    int error;   /* errno of a look-up that failed otherwise */
};

static void push(struct resolver *r, struct walk *w, const char *name, size_t n)
{
    w->cur = arena_grow(r->arena, w->cur, &w->cap, w->len + n + 2, 1);
    w->cur[w->len++] = '/';
    memcpy(w->cur + w->len, name, n);
    w->len += n;
    w->cur[w->len] = '\0';
}

static void pop(struct walk *w)
{
    while (w->len && w->cur[w->len - 1] != '/')
        w->len--;
    if (w->len)
        w->len--;
    if (w->cur)
        w->cur[w->len] = '\0';
}

static bool is_known(const struct resolver *r, const struct walk *w)
{
    return r->known_len >= w->len && !memcmp(r->known, w->cur, w->len) &&
           (r->known_len == w->len || r->known[w->len] == '/');
}

static void learn(struct resolver *r, const struct walk *w)
{
    r->known = arena_grow(r->arena, r->known, &r->known_cap, w->len + 1, 1);
    memcpy(r->known, w->cur, w->len + 1);
    r->known_len = w->len;
}

static const char *on_host(struct resolver *r, const char *path)
{
    return r->env->sysroot ? arena_printf(r->arena, "%s%s", r->env->sysroot, path) : path;
}

static void walk(struct resolver *r, struct walk *w, const char *text);

static void follow(struct resolver *r, struct walk *w)
{
    char target[MAX_LINK_BYTES];
    const char *link = arena_strn(r->arena, w->cur, w->len);
    ssize_t n = readlink(on_host(r, w->cur), target, sizeof target - 1);
    if (n <= 0 || ++w->links > MAX_LINKS) {
        w->error = n <= 0 ? (n < 0 ? errno : ENOENT) : ELOOP;
        return;
    }
    target[n] = '\0';
    if (target[0] == '/')
        w->len = 0;
    else
        pop(w);
    w->cur[w->len] = '\0';
    w->mode = S_IFDIR; /* of the folder that the link stands in, or the root */
    w->depth++;
    walk(r, w, arena_strn(r->arena, target, (size_t)n));
    w->depth--;
    if (w->error)
        return;
    r->links = arena_grow(r->arena, r->links, &r->cap_links, r->n_links + 1, sizeof *r->links);
    r->links[r->n_links++] = (struct ir_link){link, w->len ? arena_strn(r->arena, w->cur, w->len) : "/"};
}

static void look(struct resolver *r, struct walk *w)
{
    struct stat st;
    if (is_known(r, w)) {
        w->mode = S_IFDIR;
        return;
    }
    if (lstat(on_host(r, w->cur), &st) < 0) {
        w->mode = 0;
        if (errno == ENOENT || errno == ENOTDIR) {
            w->missing = true;
            w->below_file = errno == ENOTDIR;
        } else {
            w->error = errno;
        }
        return;
    }
    w->mode = st.st_mode;
    if (S_ISDIR(st.st_mode))
        learn(r, w);
    if (!S_ISLNK(st.st_mode))
        return;
    follow(r, w);
    w->linked = true;
    w->led = w->len;
}

/* `..` goes where the kernel goes. In the written path it must also be where a reader thinks it goes, so it
 * neither leaves what a link led to nor stands at the root; in the text of a link both are usual. */
static void dot_dot(struct resolver *r, struct walk *w)
{
    if (w->len && !S_ISDIR(w->mode)) {
        push(r, w, "..", 2); /* only for the message */
        w->missing = w->below_file = true;
        return;
    }
    if (!w->depth && w->linked && w->len <= w->led)
        w->dot_dot = "`..` stands behind a link here";
    else if (!w->depth && !w->len)
        w->dot_dot = "`..` leads above the root";
    pop(w);
    w->mode = S_IFDIR;
}

/* Takes the components of text one by one, as the kernel would. Beneath what is missing nothing is looked at. */
static void walk(struct resolver *r, struct walk *w, const char *text)
{
    for (const char *s = text; *s && !w->error;) {
        s += strspn(s, "/");
        size_t n = strcspn(s, "/");
        if (n == 2 && s[0] == '.' && s[1] == '.') {
            if (w->missing)
                return;
            dot_dot(r, w);
        } else if (n && !(n == 1 && s[0] == '.')) {
            push(r, w, s, n);
            if (!w->missing)
                look(r, w);
        }
        s += n;
    }
}

/* ---- The whole ------------------------------------------------------------------------------------------ */

static enum resolve_result failed(struct resolver *r, const struct decl_path *p, const struct walk *w)
{
    const char *shown = diag_escape(r->arena, w->cur ? w->cur : "/", w->cur ? w->len : 1);
    if (w->error == ELOOP)
        diag_add(r->diags, DIAG_LINK_LOOP, p->span, "more than %d links lead from here", MAX_LINKS);
    else
        diag_add(r->diags, DIAG_PATH_ACCESS, p->span, "%s cannot be looked at: %s", shown, strerror(w->error));
    return RESOLVE_ERROR;
}

static enum resolve_result missing(struct resolver *r, const struct decl_path *p, const struct walk *w)
{
    const char *shown = diag_escape(r->arena, w->cur, w->len);
    if (p->flags & DECL_OPTIONAL) {
        diag_add(r->diags, DIAG_SKIPPED_PATH, p->span, "%s does not exist and is left out", shown);
        return RESOLVE_SKIP;
    }
    struct diag *d = diag_add(r->diags, DIAG_MISSING_PATH, p->span, "%s does not exist now, at compile time%s", shown,
                              w->below_file ? ": a part of it is no folder" : "");
    diag_hint(r->diags, d, "make it before compiling, or %s", word_form(r, p, "optional", "behind"));
    return RESOLVE_ERROR;
}

static void note_special(struct resolver *r, const struct decl_path *p, mode_t mode)
{
    const char *what = S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : S_ISSOCK(mode) ? "a socket" : S_ISFIFO(mode) ? "a FIFO" : NULL;
    if (what)
        diag_add(r->diags, DIAG_DEVICE_PATH, p->span, "this path is %s", what);
}

/* macOS keeps these folders beneath /private; a rule on the short name would match nothing there. */
static const char *macos_spelling(struct resolver *r, const char *path)
{
    static const char *const moved[] = {"/tmp", "/var", "/etc"};
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if (ir_path_within(path, moved[i]))
            return arena_printf(r->arena, "/private%s", path);
    return path;
}

static void add_alias(struct resolver *r, const char *name, const char *path)
{
    r->aliases = arena_grow(r->arena, r->aliases, &r->cap_aliases, r->n_aliases + 1, sizeof *r->aliases);
    r->aliases[r->n_aliases++] = (struct ir_alias){name, path};
}

static bool has_dot_dot(const char *path)
{
    for (const char *s = path; (s = strstr(s, "/..")); s += 3)
        if (s[3] == '/' || !s[3])
            return true;
    return false;
}

static enum resolve_result as_written(struct resolver *r, const struct decl_path *p, const char *path, struct ir_rule *out)
{
    if (has_dot_dot(path)) {
        struct diag *d = diag_add(r->diags, DIAG_DOT_DOT, p->span, "`..` cannot be followed for another system");
        diag_hint(r->diags, d, "write the path without `..`");
        return RESOLVE_ERROR;
    }
    if (!r->said_unresolved)
        diag_add(r->diags, DIAG_UNRESOLVED, p->span,
                 "paths of the declaration are taken as written: links on the target system are not looked at");
    r->said_unresolved = true;
    const char *there = r->system == IR_MACOS ? macos_spelling(r, path) : path;
    if (there != path)
        add_alias(r, path, there);
    out->path = there;
    return RESOLVED;
}

static enum resolve_result on_this_host(struct resolver *r, const struct decl_path *p, const char *path, bool must_exist,
                                        struct ir_rule *out)
{
    struct walk w = {.cap = 0};
    size_t links = r->n_links;
    walk(r, &w, path);
    if (w.dot_dot) {
        struct diag *d = diag_add(r->diags, DIAG_DOT_DOT, p->span, "%s", w.dot_dot);
        diag_hint(r->diags, d, "write where it leads, without `..`");
        return RESOLVE_ERROR;
    }
    if (w.error)
        return failed(r, p, &w);
    if (w.missing) {
        r->n_links = links;
        return must_exist ? missing(r, p, &w) : RESOLVE_SKIP;
    }
    note_special(r, p, w.mode);
    out->path = w.len ? w.cur : "/";
    out->type = !w.len || S_ISDIR(w.mode) ? IR_TYPE_DIR : IR_TYPE_FILE;
    /* The name that the user knows; `..` in it is followed by now and only blurs it. */
    if (r->n_links > links && !has_dot_dot(path) && strcmp(path, out->path) != 0)
        add_alias(r, path, out->path);
    return RESOLVED;
}

enum resolve_result resolve_path(struct resolver *r, const struct decl_path *p, bool must_exist, struct ir_rule *out)
{
    bool tmpdir = false;
    if (!check_text(r, p))
        return RESOLVE_ERROR;
    const char *text = expand(r, p, &tmpdir);
    if (!text)
        return RESOLVE_ERROR;
    const char *path = resolve_absolute(r->arena, "", text);
    *out = (struct ir_rule){.span = p->span, .root = IR_ROOT_SLASH, .type = IR_TYPE_ANY};
    if (p->flags & DECL_OPTIONAL)
        out->flags = IR_OPTIONAL;
    enum resolve_result result = RESOLVED;
    if (tmpdir) {
        /* The private TMPDIR is made at launch: there is nothing to look at. */
        out->root = IR_ROOT_TMPDIR;
        out->path = strcmp(path, "/") != 0 ? path : "";
        if (has_dot_dot(path)) {
            diag_add(r->diags, DIAG_DOT_DOT, p->span, "`..` leads out of $TMPDIR");
            result = RESOLVE_ERROR;
        }
    } else if (r->system == IR_LINUX && ir_path_within(path, "/proc") && !has_dot_dot(path)) {
        /* The sandbox has a /proc of its own: where the links of this one lead says nothing of that. */
        out->path = path;
    } else if (!r->env->host) {
        result = as_written(r, p, path, out);
    } else {
        result = on_this_host(r, p, path, must_exist, out);
    }
    if (result != RESOLVED)
        return result;
    out->path_len = (uint32_t)strlen(out->path);
    if (out->path_len > FIXED_PATH_BYTES) {
        diag_add(r->diags, DIAG_TOO_LARGE, p->span, "the whole path is longer than %d bytes", FIXED_PATH_BYTES);
        return RESOLVE_ERROR;
    }
    return RESOLVED;
}

const char *resolve_folder(struct resolver *r, const char *path)
{
    if (!r->env->host)
        return r->system == IR_MACOS ? macos_spelling(r, path) : path;
    struct walk w = {.cap = 0};
    walk(r, &w, path);
    if (w.error || w.missing || (w.len && !S_ISDIR(w.mode)))
        return NULL;
    return w.len ? w.cur : "/";
}
