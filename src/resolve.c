#include "resolve.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixed.h"
#include "pattern.h"

/* As the kernel's own bound on links in one look-up (path_resolution(7)). */
enum { MAX_LINKS = 40, MAX_LINK_BYTES = 4096, MAX_TEXT_BYTES = 64 * 1024 };

void resolve_init(struct resolver *r, const struct resolve_env *env, enum ir_system system, struct arena *a,
                  struct diag_list *diags)
{
    *r = (struct resolver){.env = env, .arena = a, .diags = diags, .system = system};
}

/* ---- The text of a path ---------------------------------------------------------------------------------
 */

struct text {
    const char *s;
    size_t len;
};

static struct diag *complain(struct resolver *r, enum diag_id id, const struct decl_path *p, size_t at,
                             size_t len, const char *text)
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
static const char *word_form(struct resolver *r, const struct decl_path *p, const char *word,
                             const char *where)
{
    if (p->flags & DECL_YAML)
        return arena_printf(r->arena, "write {path: ..., %s: true}", word);
    return arena_printf(r->arena, "write `%s` %s the path", word, where);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool check_text(struct resolver *r, const struct decl_path *p)
{
    size_t blank = 0;
    while (blank < p->len && is_blank(p->text[blank]))
        blank++;
    if (blank == p->len) {
        struct diag *d =
            complain(r, DIAG_BAD_PATH, p, 0, 0, p->len ? "this path is blank" : "this path is empty");
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
    if (is_blank(p->text[p->len - 1]))
        diag_add(r->diags, DIAG_TRAILING_BLANK, p->span,
                 "this path ends in a blank, which is taken as part of the name");
    return true;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_name(struct text name, const char *s)
{
    return strlen(s) == name.len && !memcmp(s, name.s, name.len);
}

/* The value of a variable; NULL if there is none of that name, or it is not known here. */
static const char *variable(const struct resolve_env *e, struct text name)
{
    for (size_t i = 0; i < e->n_vars; i++)
        if (is_name(name, e->vars[i].name))
            return e->vars[i].value;
    const struct {
        const char *name, *value;
    } own[] = {{"HOME", e->home}, {"WORK_DIR", e->work_dir}, {"SKILL_DIR", e->skill_dir}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_name(name, own[i].name))
            return own[i].value;
    return NULL;
}

/* A root that the launcher fills: its number, or IR_ROOT_SLASH. */
static uint8_t late_root(const struct resolve_env *e, struct text name)
{
    for (size_t i = 0; i < e->n_late; i++)
        if (is_name(name, e->late[i].name))
            return (uint8_t)(IR_ROOT_LATE + i);
    return IR_ROOT_SLASH;
}

static const struct decl_param *parameter(const struct resolver *r, struct text name)
{
    for (size_t i = 0; i < r->n_params; i++)
        if (is_name(name, r->params[i].name))
            return &r->params[i];
    return NULL;
}

static const char *expand(struct resolver *r, const struct decl_path *p, uint8_t *root_kind,
                          struct text *pattern);

/* What a parameter stands for where -D does not say: its default, in which other parameters have no meaning.
 */
static bool default_of(struct resolver *r, const struct decl_param *param, const struct decl_path *at,
                       size_t len, const char **root, uint8_t *root_kind)
{
    if (!param->value.text) {
        struct diag *d = complain(r, DIAG_UNKNOWN_VARIABLE, at, 0, len, "this parameter has no value");
        diag_also(r->diags, d, param->span, "its clause is here");
        diag_hint(r->diags, d, "give -D %s=PATH, or --late %s to leave it to the launcher", param->name,
                  param->name);
        return false;
    }
    const struct decl_param *params = r->params;
    size_t n = r->n_params;
    struct text pattern = {0};
    r->n_params = 0;
    *root = expand(r, &param->value, root_kind, &pattern);
    r->params = params;
    r->n_params = n;
    if (*root && pattern.s) {
        complain(r, DIAG_PATTERN, &param->value, 0, 0, "a parameter cannot be a pattern");
        return false;
    }
    return *root != NULL;
}

/* `$NAME` or `$NAME/...`: *root is what NAME stands for, *rest what follows. */
static bool expand_variable(struct resolver *r, const struct decl_path *p, const char **root,
                            struct text *rest, uint8_t *root_kind)
{
    size_t n = 1;
    while (n < p->len && is_name_byte(p->text[n]))
        n++;
    struct text name = {p->text + 1, n - 1};
    *rest = (struct text){p->text + n, p->len - n};
    if (!name.len || (rest->len && rest->s[0] != '/')) {
        struct diag *d =
            complain(r, DIAG_UNKNOWN_VARIABLE, p, 0, n, "a variable is written $NAME, and `/` follows it");
        diag_hint(r->diags, d, "for a `$` that belongs to the name %s", word_form(r, p, "literal", "before"));
        return false;
    }
    *root_kind = is_name(name, "TMPDIR") ? IR_ROOT_TMPDIR : late_root(r->env, name);
    if (*root_kind != IR_ROOT_SLASH) {
        *root = "";
        return true;
    }
    *root = variable(r->env, name);
    const struct decl_param *param = *root ? NULL : parameter(r, name);
    if (param)
        return default_of(r, param, p, n, root, root_kind);
    /* A home that is not absolute would make `$HOME/x` another path, at worst /x. */
    if (*root && **root == '/')
        return true;
    struct diag *d = complain(r, DIAG_UNKNOWN_VARIABLE, p, 0, n, "this variable is not known here");
    diag_hint(r->diags, d, "known are $HOME, $WORK_DIR, $SKILL_DIR, $TMPDIR and those of -D NAME=VALUE");
    return false;
}

/* `~`, `~/x` and `~user/x`. */
static bool expand_tilde(struct resolver *r, const struct decl_path *p, const char **root, struct text *rest,
                         uint8_t *root_kind)
{
    size_t n = 1;
    while (n < p->len && p->text[n] != '/')
        n++;
    *rest = (struct text){p->text + n, p->len - n};
    if (n == 1 && (*root_kind = late_root(r->env, (struct text){"HOME", 4})) != IR_ROOT_SLASH) {
        *root = "";
        return true;
    }
    if (n == 1) {
        *root = variable(r->env, (struct text){"HOME", 4});
    } else {
        const struct passwd *pw = getpwnam(arena_strn(r->arena, p->text + 1, n - 1));
        *root = pw ? arena_str(r->arena, pw->pw_dir) : NULL;
    }
    if (*root && **root == '/')
        return true;
    complain(r, DIAG_UNKNOWN_USER, p, 0, n,
             n == 1 ? "the user has no absolute home folder" : "there is no such user");
    return false;
}

/* The first `$` that does not stand in a set of its own, `[$]`. */
static const char *bare_dollar(const struct text *t)
{
    for (const char *s = t->s, *end = t->s + t->len; (s = memchr(s, '$', (size_t)(end - s))) != NULL; s++)
        if (s == t->s || s[-1] != '[' || end - s < 2 || s[1] != ']')
            return s;
    return NULL;
}

/* `dir/` and two stars is dir itself. Any other pattern character makes a pattern, which begins at
 * *out_pattern. */
static bool check_pattern(struct resolver *r, const struct decl_path *p, struct text *rest,
                          struct text *out_pattern)
{
    if (rest->len >= 3 && !memcmp(rest->s + rest->len - 3, "/**", 3))
        rest->len -= 3;
    else if (rest->len == 2 && !memcmp(rest->s, "**", 2) && rest->s == p->text)
        rest->len = 0;
    const char *dollar = bare_dollar(rest);
    if (dollar) {
        struct diag *d = complain(r, DIAG_UNKNOWN_VARIABLE, p, (size_t)(dollar - p->text), 1,
                                  "a variable stands only at the start of a path");
        diag_hint(r->diags, d, "for a `$` that belongs to the name %s", word_form(r, p, "literal", "before"));
        return false;
    }
    if (!pattern_is(rest->s, rest->len))
        return true;
    while (rest->len > 1 && rest->s[rest->len - 1] == '/')
        rest->len--; /* as in any other path */
    size_t at = 0;
    const char *why = pattern_problem(rest->s, rest->len, &at);
    if (why) {
        struct diag *d = complain(r, DIAG_PATTERN, p, (size_t)(rest->s - p->text) + at, 1, why);
        diag_hint(r->diags, d, "for a character that belongs to the name %s",
                  word_form(r, p, "literal", "before"));
        return false;
    }
    *out_pattern = *rest;
    return true;
}

/* Absolute and made of plain components, as absolute() leaves it. */
static bool is_plain(const char *s, size_t len)
{
    if (!len || s[0] != '/')
        return false;
    const char *end = s + len;
    for (const char *slash = s; slash && len > 1; slash = memchr(slash + 1, '/', (size_t)(end - slash - 1))) {
        const char *c = slash + 1;
        if (c == end || *c == '/' || (*c == '.' && (c + 1 == end || c[1] == '/')))
            return false;
    }
    return true;
}

/* Appends the components of s but for empty ones and `.`, each behind a slash. */
static char *put_components(char *w, const char *s, size_t len)
{
    for (const char *end = s + len; s < end; s++) {
        const char *slash = memchr(s, '/', (size_t)(end - s));
        size_t n = (size_t)((slash ? slash : end) - s);
        if (n && !(n == 1 && *s == '.')) {
            *w++ = '/';
            memcpy(w, s, n);
            w += n;
        }
        s += n;
    }
    return w;
}

static const char *absolute(struct arena *a, const char *root, const char *rest, size_t len)
{
    size_t root_len = strlen(root);
    char *out = arena_alloc(a, root_len + len + 3);
    char *w = put_components(put_components(out, root, root_len), rest, len);
    if (w == out)
        *w++ = '/';
    *w = '\0';
    return out;
}

const char *resolve_absolute(struct arena *a, const char *base, const char *path)
{
    return *path ? absolute(a, *path == '/' ? "" : base, path, strlen(path)) : NULL;
}

/* The path as an absolute text of plain components, links and `..` still in it, beneath the root in
 * *root_kind. NULL after an error. For a pattern pattern->s is set, and the text ends in it as it was
 * written. */
static const char *expand(struct resolver *r, const struct decl_path *p, uint8_t *root_kind,
                          struct text *pattern)
{
    struct text rest = {p->text, p->len};
    const char *root = NULL;
    if (!check_text(r, p))
        return NULL;
    if (!(p->flags & DECL_LITERAL)) {
        if (p->text[0] == '$' && !expand_variable(r, p, &root, &rest, root_kind))
            return NULL;
        if (p->text[0] == '~' && !expand_tilde(r, p, &root, &rest, root_kind))
            return NULL;
        if (!check_pattern(r, p, &rest, pattern))
            return NULL;
    }
    if (!root && !(rest.len && rest.s[0] == '/') && !(rest.len == 0 && p->text[0] == '/'))
        root = r->env->base;
    if (pattern->s)
        return arena_printf(r->arena, "%s/%.*s", root ? root : "", (int)rest.len, rest.s);
    /* Most paths are written as they are: all systems share the text. */
    if (!root && rest.s == p->text && rest.len == p->len && is_plain(p->text, p->len))
        return p->text;
    return absolute(r->arena, root ? root : "", rest.s, rest.len);
}

/* ---- Walking --------------------------------------------------------------------------------------------
 */

/* Where a walk stands: `cur` is canonical, "" meaning the root. */
struct walk {
    char *cur;
    size_t len, cap;
    bool missing;    /* what cur names does not exist, nor anything beneath */
    size_t exists;   /* then: bytes of cur that name the last folder that does */
    bool last_link;  /* the last component of the written path is a link */
    bool below_file; /* ... because a part of it is no folder */
    bool linked;     /* a component of the written path was a link; cur[0, led) is where it led */
    size_t led;
    const char *dot_dot;   /* why a `..` of the written path is refused, or NULL */
    unsigned links, depth; /* links followed so far, and being followed now */
    mode_t mode;           /* of cur, 0 when missing or not looked at */
    int error;             /* errno of a look-up that failed otherwise */
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

static void walk(struct resolver *r, struct walk *w, const char *text);

/* Good until the next call. */
static const char *on_host(struct resolver *r, const char *path)
{
    if (!r->env->sysroot)
        return path;
    size_t root = strlen(r->env->sysroot), len = strlen(path);
    r->on_host = arena_grow(r->arena, r->on_host, &r->on_host_cap, root + len + 1, 1);
    memcpy(r->on_host, r->env->sysroot, root);
    memcpy(r->on_host + root, path, len + 1);
    return r->on_host;
}

/* A walk along `text`, in the buffer of the one before. */
static struct walk walk_along(struct resolver *r, const char *text)
{
    struct walk w = {.cur = r->walked, .cap = r->walked_cap};
    walk(r, &w, text);
    r->walked = w.cur;
    r->walked_cap = w.cap;
    return w;
}

/* Where a walk along `text` ended: mostly at that very text. */
static const char *end_of(struct resolver *r, const struct walk *w, const char *text)
{
    if (!w->len)
        return "/";
    bool same = !strncmp(text, w->cur, w->len) && !text[w->len];
    return same ? text : arena_strn(r->arena, w->cur, w->len);
}

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
    r->links[r->n_links++] =
        (struct ir_link){.link = link, .target = w->len ? arena_strn(r->arena, w->cur, w->len) : "/"};
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
            w->exists = (size_t)(strrchr(w->cur, '/') - w->cur);
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
        w->exists = w->len - 3;
        return;
    }
    if (!w->depth && w->linked && w->len <= w->led)
        w->dot_dot = "`..` stands behind a link here";
    else if (!w->depth && !w->len)
        w->dot_dot = "`..` leads above the root";
    pop(w);
    w->mode = S_IFDIR;
}

/* Takes the components of text one by one, as the kernel would. Beneath what is missing nothing is looked at.
 */
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
            size_t links = r->n_links;
            if (!w->missing)
                look(r, w);
            if (!w->depth)
                w->last_link = r->n_links > links && w->linked && w->led == w->len;
        }
        s += n;
    }
}

/* ---- The whole ------------------------------------------------------------------------------------------
 */

static enum resolve_result failed(struct resolver *r, const struct decl_path *p, const struct walk *w)
{
    const char *shown = diag_escape(r->arena, w->len ? w->cur : "/", w->len ? w->len : 1);
    if (w->error == ELOOP)
        diag_add(r->diags, DIAG_LINK_LOOP, p->span, "more than %d links lead from here", MAX_LINKS);
    else
        diag_add(r->diags, DIAG_PATH_ACCESS, p->span, "%s cannot be looked at: %s", shown,
                 strerror(w->error));
    return RESOLVE_ERROR;
}

/* Is all but the last component there? */
static bool only_last_missing(const struct walk *w, const char *known_parent_end)
{
    return !w->below_file && strchr(known_parent_end, '/') == NULL;
}

static enum resolve_result missing(struct resolver *r, const struct decl_path *p, const struct walk *w,
                                   enum resolve_want want, struct ir_rule *out)
{
    const char *shown = diag_escape(r->arena, w->cur, w->len);
    bool create = p->flags & (DECL_CREATE | DECL_CREATE_FILE);
    out->path = arena_strn(r->arena, w->cur, w->len);
    out->type = IR_TYPE_NONE;
    if (want == WANT_NAME && w->below_file && p->deny && !p->allow) {
        diag_add(r->diags, DIAG_DEAD_DENY, p->span, "%s cannot come to exist: a part of it is no folder",
                 shown);
        return RESOLVE_SKIP;
    }
    if (want == WANT_NAME)
        return RESOLVED;
    if (create && only_last_missing(w, w->cur + w->exists + 1)) {
        out->type = p->flags & DECL_CREATE ? IR_TYPE_DIR : IR_TYPE_FILE;
        return RESOLVED;
    }
    if (create) {
        struct diag *d =
            diag_add(r->diags, DIAG_MISSING_PATH, p->span, "the folder of %s does not exist", shown);
        diag_hint(r->diags, d, "`create` makes the last part of a path only");
        return RESOLVE_ERROR;
    }
    if (p->flags & DECL_OPTIONAL) {
        diag_add(r->diags, DIAG_SKIPPED_PATH, p->span, "%s does not exist and is left out", shown);
        return RESOLVE_SKIP;
    }
    struct diag *d =
        diag_add(r->diags, DIAG_MISSING_PATH, p->span, "%s does not exist now, at compile time%s", shown,
                 w->below_file ? ": a part of it is no folder" : "");
    bool words = p->allow || p->deny; /* a working folder and a socket take no `optional` */
    diag_hint(r->diags, d, words ? "make it before compiling, or %s" : "make it before compiling%.0s",
              word_form(r, p, "optional", "behind"));
    return RESOLVE_ERROR;
}

static void note_special(struct resolver *r, const struct decl_path *p, mode_t mode)
{
    if (r->quiet || !p->allow)
        return;
    const char *what = S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                       : S_ISSOCK(mode)               ? "a socket"
                       : S_ISFIFO(mode)               ? "a FIFO"
                                                      : NULL;
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
    for (const char *s = path; (s = strchr(s, '/')); s++)
        if (s[1] == '.' && s[2] == '.' && (s[3] == '/' || !s[3]))
            return true;
    return false;
}

static enum resolve_result as_written(struct resolver *r, const struct decl_path *p, const char *path,
                                      struct ir_rule *out)
{
    if (has_dot_dot(path)) {
        struct diag *d =
            diag_add(r->diags, DIAG_DOT_DOT, p->span, "`..` cannot be followed for another system");
        diag_hint(r->diags, d, "write the path without `..`");
        return RESOLVE_ERROR;
    }
    if (!r->said_unresolved)
        diag_add(
            r->diags, DIAG_UNRESOLVED, p->span,
            "paths of the declaration are taken as written: links on the target system are not looked at");
    r->said_unresolved = true;
    const char *there = r->system == IR_MACOS ? macos_spelling(r, path) : path;
    if (there != path)
        add_alias(r, path, there);
    out->path = there;
    return RESOLVED;
}

/* `create` says what is made; what stands there already must be of that kind. */
static bool fits_create(struct resolver *r, const struct decl_path *p, const struct ir_rule *out)
{
    bool dir = out->type == IR_TYPE_DIR;
    bool wrong = (p->flags & DECL_CREATE && !dir) || (p->flags & DECL_CREATE_FILE && dir);
    if (!wrong)
        return true;
    struct diag *d = diag_add(r->diags, DIAG_BAD_PATH, p->span,
                              dir ? "this path is a folder, not a file" : "this path is no folder");
    diag_hint(r->diags, d, dir ? "write `create`" : "write `create file`");
    return false;
}

/* The path without `.` and `..`: where `..` is accepted, it never leads back over a link. */
static const char *plain_name(struct resolver *r, const char *path)
{
    char *out = arena_str(r->arena, path), *w = out;
    for (const char *s = path; *s;) {
        size_t n = strcspn(s + 1, "/") + 1;
        bool up = n == 3 && s[1] == '.' && s[2] == '.';
        while (up && w > out && *--w != '/')
            ;
        if (!up) {
            memmove(w, s, n);
            w += n;
        }
        s += n;
    }
    *w = '\0';
    return w == out ? "/" : out;
}

static enum resolve_result on_this_host(struct resolver *r, const struct decl_path *p, const char *path,
                                        enum resolve_want want, struct ir_rule *out)
{
    size_t links = r->n_links;
    const struct walk w = walk_along(r, path);
    if (w.dot_dot) {
        struct diag *d = diag_add(r->diags, DIAG_DOT_DOT, p->span, "%s", w.dot_dot);
        diag_hint(r->diags, d, "write where it leads, without `..`");
        return RESOLVE_ERROR;
    }
    if (w.error)
        return failed(r, p, &w);
    enum resolve_result result = RESOLVED;
    if (w.missing) {
        result = missing(r, p, &w, want, out);
    } else {
        note_special(r, p, w.mode);
        out->path = end_of(r, &w, path);
        out->type = !w.len || S_ISDIR(w.mode) ? IR_TYPE_DIR : IR_TYPE_FILE;
        if (!fits_create(r, p, out))
            result = RESOLVE_ERROR;
    }
    if (result != RESOLVED) {
        r->n_links = links;
        return result;
    }
    if (p->deny & (IR_READ | IR_WRITE) && w.last_link)
        out->flags |= IR_NAME;
    for (size_t i = links; i < r->n_links; i++)
        r->links[i].end = out->path;
    if (r->n_links > links && strcmp(path, out->path) != 0)
        add_alias(r, has_dot_dot(path) ? plain_name(r, path) : path, out->path);
    return RESOLVED;
}

/* Splits a pattern from the folders that hold all it matches; these are resolved, the rest is taken as
 * written. */
static enum resolve_result whole_path(struct resolver *r, const struct decl_path *p, const char *path,
                                      enum resolve_want want, struct ir_rule *out)
{
    if (out->root != IR_ROOT_SLASH) {
        /* Known at launch only: there is nothing to look at. */
        out->path = strcmp(path, "/") != 0 ? path : "";
        if (!has_dot_dot(path))
            return RESOLVED;
        diag_add(r->diags, DIAG_DOT_DOT, p->span,
                 out->root == IR_ROOT_TMPDIR ? "`..` leads out of $TMPDIR"
                                             : "`..` leads out of a path that is known at launch only");
        return RESOLVE_ERROR;
    }
    /* The sandbox has a /proc of its own: where the links of this one lead says nothing of that. */
    if (r->system == IR_LINUX && ir_path_within(path, "/proc") && !has_dot_dot(path)) {
        out->path = path;
        return RESOLVED;
    }
    return r->env->host ? on_this_host(r, p, path, want, out) : as_written(r, p, path, out);
}

/* `text` ends in the `len` bytes that hold the pattern; what stands before them is a name, whatever it holds.
 */
static enum resolve_result pattern_path(struct resolver *r, const struct decl_path *p, const char *text,
                                        size_t len, enum resolve_want want, struct ir_rule *out)
{
    size_t root = strlen(text) - len;
    const char *rest = resolve_absolute(r->arena, "", arena_printf(r->arena, "/%s", text + root));
    size_t n = pattern_prefix(rest);
    struct decl_path folder = *p;
    folder.flags &= (uint8_t) ~(DECL_CREATE | DECL_CREATE_FILE);
    if (p->flags & (DECL_CREATE | DECL_CREATE_FILE)) {
        diag_add(r->diags, DIAG_PATTERN, p->span, "`create` cannot make what a pattern stands for");
        return RESOLVE_ERROR;
    }
    size_t names = r->n_aliases;
    const char *above = arena_printf(r->arena, "%.*s/%.*s", (int)root, text, (int)n, rest);
    enum resolve_result result = whole_path(r, &folder, resolve_absolute(r->arena, "", above), want, out);
    r->n_aliases = names; /* a second name of a folder above grants nothing */
    if (result != RESOLVED)
        return result;
    const char *name = strcmp(out->path, "/") != 0 ? out->path : "";
    out->path = arena_printf(r->arena, "%s%s", pattern_quote(r->arena, name, strlen(name)), rest + n);
    out->type = IR_TYPE_ANY;
    return RESOLVED;
}

enum resolve_result resolve_path(struct resolver *r, const struct decl_path *p, enum resolve_want want,
                                 struct ir_rule *out, bool *out_pattern)
{
    uint8_t root = IR_ROOT_SLASH;
    struct text pattern = {0};
    const char *text = expand(r, p, &root, &pattern);
    if (!text)
        return RESOLVE_ERROR;
    *out = (struct ir_rule){.span = p->span, .root = root, .type = IR_TYPE_ANY};
    *out_pattern = pattern.s != NULL;
    if (p->flags & DECL_OPTIONAL)
        out->flags = IR_OPTIONAL;
    if (p->flags & (DECL_CREATE | DECL_CREATE_FILE))
        out->flags |= IR_CREATE;
    if (p->flags & DECL_STUB)
        out->flags |= IR_STUB;
    if (p->flags & DECL_SNAPSHOT && !*out_pattern) {
        diag_add(r->diags, DIAG_PATTERN, p->span,
                 "`snapshot` stands behind a pattern, and this path is none");
        return RESOLVE_ERROR;
    }
    /* What is made later has the kind that the words say. */
    if (!r->env->host || root != IR_ROOT_SLASH)
        out->type = p->flags & DECL_CREATE        ? IR_TYPE_DIR
                    : p->flags & DECL_CREATE_FILE ? IR_TYPE_FILE
                                                  : IR_TYPE_ANY;
    enum resolve_result result =
        *out_pattern ? pattern_path(r, p, text, pattern.len, want, out) : whole_path(r, p, text, want, out);
    if (result != RESOLVED)
        return result;
    out->path_len = (uint32_t)strlen(out->path);
    if (out->path_len > FIXED_PATH_BYTES) {
        diag_add(r->diags, DIAG_TOO_LARGE, p->span, "the whole path is longer than %d bytes",
                 FIXED_PATH_BYTES);
        return RESOLVE_ERROR;
    }
    return RESOLVED;
}

/* ---- Snapshots of patterns -------------------------------------------------------------------------------
 */

enum { MAX_MATCHES = 100000, MAX_VISITS = 1000000, MAX_DEPTH = 64 };

struct snapshot {
    struct resolver *r;
    const struct decl_path *p;
    const struct ir_rule *like;
    struct rule_list *found;
    size_t visits, matches;
    bool failed;
};

static bool too_much(struct snapshot *s)
{
    if (s->visits <= MAX_VISITS && s->matches <= MAX_MATCHES)
        return false;
    if (!s->failed)
        diag_add(s->r->diags, DIAG_TOO_LARGE, s->p->span,
                 "this pattern matches more than %d paths, or lies in too large a tree", MAX_MATCHES);
    return s->failed = true;
}

static void take_match(struct snapshot *s, const char *path)
{
    struct ir_rule rule = *s->like;
    s->matches++;
    if (too_much(s) || on_this_host(s->r, s->p, path, WANT_NAME, &rule) != RESOLVED)
        return;
    rule.path_len = (uint32_t)strlen(rule.path);
    rules_add(s->found, s->r->arena, rule);
}

/* Folders in the order of their names do not matter: the rules are sorted afterwards. */
static void look_through(struct snapshot *s, const char *dir, size_t depth)
{
    DIR *d = opendir(on_host(s->r, *dir ? dir : "/"));
    if (!d && errno != ENOENT && errno != ENOTDIR) {
        diag_add(s->r->diags, DIAG_PATH_ACCESS, s->p->span, "%s cannot be looked through: %s",
                 diag_escape(s->r->arena, dir, strlen(dir)), strerror(errno));
        s->failed = true;
    }
    if (!d)
        return;
    for (struct dirent *e; !s->failed && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        s->visits++;
        if (too_much(s))
            break;
        const char *path = arena_printf(s->r->arena, "%s/%s", dir, e->d_name);
        struct stat st;
        bool match = pattern_matches(s->like->path, path);
        if (match)
            take_match(s, path);
        /* All beneath a match is part of it, and links are not descended into: what lies there has another
         * name. */
        if (!match && depth < MAX_DEPTH && lstat(on_host(s->r, path), &st) == 0 && S_ISDIR(st.st_mode) &&
            pattern_reaches(s->like->path, path))
            look_through(s, path, depth + 1);
    }
    closedir(d);
}

bool resolve_snapshot(struct resolver *r, const struct decl_path *p, const struct ir_rule *like,
                      struct rule_list *found)
{
    struct snapshot s = {.r = r, .p = p, .like = like, .found = found};
    const char *folder = arena_strn(r->arena, like->path, pattern_prefix(like->path));
    if (!r->env->host || like->root != IR_ROOT_SLASH) {
        diag_add(r->diags, DIAG_PATTERN, p->span,
                 "`snapshot` cannot look at what is known on another system or at launch only");
        return false;
    }
    look_through(&s, folder, 0);
    if (!s.failed && !s.matches && p->allow && !(p->flags & DECL_OPTIONAL)) {
        struct diag *d = diag_add(r->diags, DIAG_MISSING_PATH, p->span,
                                  "this pattern matches nothing now, at compile time");
        diag_hint(r->diags, d, "for no path at all %s", word_form(r, p, "optional", "behind"));
        return false;
    }
    if (!s.failed)
        diag_add(r->diags, DIAG_SNAPSHOT, p->span,
                 "this pattern stands for the %zu path%s that it matches now", s.matches,
                 s.matches == 1 ? "" : "s");
    return !s.failed;
}

const char *resolve_shown(const struct resolve_env *env, struct arena *a, uint8_t root, const char *path)
{
    const char *name = root == IR_ROOT_TMPDIR ? "TMPDIR"
                       : root >= IR_ROOT_LATE ? env->late[root - IR_ROOT_LATE].name
                                              : NULL;
    return diag_escape(a, name ? arena_printf(a, "$%s%s", name, path) : path,
                       strlen(path) + (name ? strlen(name) + 1 : 0));
}

const char *resolve_folder(struct resolver *r, const char *path)
{
    if (!r->env->host)
        return r->system == IR_MACOS ? macos_spelling(r, path) : path;
    const struct walk w = walk_along(r, path);
    if (w.error || w.missing || (w.len && !S_ISDIR(w.mode)))
        return NULL;
    return end_of(r, &w, path);
}

/* ---- What a program is run by -----------------------------------------------------------------------------
 */

static bool script_interpreter(const char *head, size_t n, char out[INTERPRETER_BYTES])
{
    size_t i = 2;
    while (i < n && (head[i] == ' ' || head[i] == '\t'))
        i++;
    size_t len = 0;
    while (i + len < n && !strchr(" \t\n\r", head[i + len]) && head[i + len])
        len++;
    if (!len || head[i] != '/')
        return false;
    memcpy(out, head + i, len);
    out[len] = '\0';
    return true;
}

/* PT_INTERP of a 64-bit program in this machine's byte order; elf(5). Anything else is not judged. */
static bool elf_interpreter(int fd, const char *head, size_t n, char out[INTERPRETER_BYTES])
{
    Elf64_Ehdr e;
    if (n < sizeof e)
        return false;
    memcpy(&e, head, sizeof e);
    if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (unsigned i = 0; i < e.e_phnum && i < 256; i++) {
        Elf64_Phdr ph;
        if (pread(fd, &ph, sizeof ph, (off_t)(e.e_phoff + i * sizeof ph)) != (ssize_t)sizeof ph)
            return false;
        if (ph.p_type != PT_INTERP)
            continue;
        if (ph.p_filesz < 2 || ph.p_filesz > INTERPRETER_BYTES ||
            pread(fd, out, ph.p_filesz, (off_t)ph.p_offset) != (ssize_t)ph.p_filesz || out[ph.p_filesz - 1])
            return false;
        return out[0] == '/';
    }
    return false;
}

bool resolve_interpreter(struct resolver *r, const char *path, char out[INTERPRETER_BYTES])
{
    char head[256];
    int fd = open(on_host(r, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    struct stat st;
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof head) : -1;
    bool found = false;
    if (n > 2 && head[0] == '#' && head[1] == '!')
        found = script_interpreter(head, (size_t)n, out);
    else if (n > EI_NIDENT && !memcmp(head, ELFMAG, SELFMAG))
        found = elf_interpreter(fd, head, (size_t)n, out);
    close(fd);
    return found;
}
