/* Reads an artifact: bytes, kind, run section, digest; then its engine reads the body.
 *
 * An artifact is hostile input. Nothing of it is used before its place and form are checked; what is not
 * known is refused. */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../sha256.h"

enum { ARTIFACT_MAX_BYTES = 16 << 20, PATH_BYTES_MAX = 4095 /* PATH_MAX without its NUL */ };
/* As in src/units.c: a thousand years. */
#define LONGEST_MS UINT64_C(31536000000000)

static const char STEP[] = "artifact";

/* ---- Bytes ------------------------------------------------------------------------------------------- */

static bool read_whole(struct rt_run *run, int fd, unsigned char *data, size_t len)
{
    size_t have = 0;
    ssize_t n;
    while (have <= len && (n = read(fd, data + have, len + 1 - have)) != 0) {
        if (n < 0)
            return rt_fail_errno(run, errno, STEP, "`%s` cannot be read", run->options.artifact);
        have += (size_t)n;
    }
    if (have != len)
        return rt_fail(run, STEP, "`%s` changed while it was read", run->options.artifact);
    return true;
}

/* The file is copied: whoever may write it could change a mapping after the check. */
static bool read_file(struct rt_run *run, int fd)
{
    struct rt_artifact *a = &run->artifact;
    if (fstat(fd, &a->st))
        return rt_fail_errno(run, errno, STEP, "`%s`", run->options.artifact);
    if (!S_ISREG(a->st.st_mode))
        return rt_fail(run, STEP, "`%s` is not a regular file", run->options.artifact);
    if (!a->st.st_size || a->st.st_size > ARTIFACT_MAX_BYTES)
        return rt_fail(run, STEP, "`%s` has %lld bytes; between 1 and %d are expected", run->options.artifact,
                       (long long)a->st.st_size, (int)ARTIFACT_MAX_BYTES);
    size_t len = (size_t)a->st.st_size;
    unsigned char *data = mmap(NULL, len + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return rt_fail_errno(run, errno, "memory", "%zu bytes", len);
    if (!read_whole(run, fd, data, len))
        return false;
    data[len] = 0; /* a file that grew */
    if (mprotect(data, len + 1, PROT_READ))
        return rt_fail_errno(run, errno, "memory", "a mapping cannot be made read-only");
    a->data = data;
    a->len = len;
    return true;
}

/* ---- Run section ------------------------------------------------------------------------------------- */

/* How one kind of file holds the strings. find() says whether the file is of this kind and where they stand;
 * next() gives one string, not NUL-terminated for .sb, and moves on; NULL at the end or at what is none. */
struct section {
    size_t start, end; /* of the strings */
};

struct format {
    const char *kind;
    bool (*find)(struct rt_artifact *a, struct section *out);
    const char *(*next)(const struct rt_artifact *a, size_t *at, size_t end, size_t *out_len);
    bool escaped; /* %XX */
};

static bool starts(const struct rt_artifact *a, size_t at, const char *prefix)
{
    size_t n = strlen(prefix);
    return at <= a->len && n <= a->len - at && !memcmp(a->data + at, prefix, n);
}

const char *rt_word(const struct rt_artifact *a, size_t *at, size_t end)
{
    const char *word = (const char *)a->data + *at;
    const char *nul = *at < end ? memchr(word, 0, end - *at) : NULL;
    if (!nul)
        return NULL;
    *at += (size_t)(nul - word) + 1;
    return word;
}

static bool find_blob(struct rt_artifact *a, struct section *out)
{
    (void)out; /* ll_open() finds it */
    return a->len >= LL_MAGIC_LEN && !memcmp(a->data, LL_MAGIC, LL_MAGIC_LEN);
}

static const char *next_blob(const struct rt_artifact *a, size_t *at, size_t end, size_t *out_len)
{
    const char *word = rt_word(a, at, end);
    *out_len = word ? strlen(word) : 0;
    return word;
}

static bool find_lines(struct rt_artifact *a, struct section *out)
{
    if (!starts(a, 0, RUN_PREFIX_SB))
        return false;
    size_t at = 0;
    while (starts(a, at, RUN_PREFIX_SB)) {
        const unsigned char *end = memchr(a->data + at, '\n', a->len - at);
        if (!end)
            return false;
        at = (size_t)(end - a->data) + 1;
    }
    *out = (struct section){0, at};
    a->body_start = at;
    a->body_end = a->len;
    return true;
}

static const char *next_line(const struct rt_artifact *a, size_t *at, size_t end, size_t *out_len)
{
    const unsigned char *newline = *at < end ? memchr(a->data + *at, '\n', end - *at) : NULL;
    if (!newline)
        return NULL;
    const char *string = (const char *)a->data + *at + strlen(RUN_PREFIX_SB);
    *out_len = (size_t)((const char *)newline - string);
    *at = (size_t)(newline - a->data) + 1;
    return string;
}

/* Words that end in NUL; `before` is the word in front of each (docker) or of all (bwrap) strings. */
static bool find_words(struct rt_artifact *a, const char *before, const char *first, struct section *out)
{
    size_t at = 0, word_at = 0, before_at = 0;
    bool after = false;
    for (const char *word; (word = rt_word(a, &at, a->len)); word_at = at) {
        if (after && !strncmp(word, first, strlen(first))) {
            *out = (struct section){word_at, a->len};
            a->body_start = 0;
            a->body_end = before_at;
            return true;
        }
        after = !strcmp(word, before);
        before_at = word_at;
    }
    return false;
}

static bool find_bwrap(struct rt_artifact *a, struct section *out)
{
    return find_words(a, "--", RUN_PREFIX_BWRAP "format=", out);
}

static bool find_docker(struct rt_artifact *a, struct section *out)
{
    if (!find_words(a, "--label", RUN_PREFIX_DOCKER "format=", out))
        return false;
    out->start = a->body_end;
    return true;
}

static const char *strip(const char *word, const char *prefix, size_t *out_len)
{
    size_t n = strlen(prefix);
    if (!word || strncmp(word, prefix, n) != 0)
        return NULL;
    *out_len = strlen(word + n);
    return word + n;
}

static const char *next_bwrap(const struct rt_artifact *a, size_t *at, size_t end, size_t *out_len)
{
    size_t next = *at;
    const char *string = strip(rt_word(a, &next, end), RUN_PREFIX_BWRAP, out_len);
    if (string)
        *at = next;
    return string;
}

static const char *next_docker(const struct rt_artifact *a, size_t *at, size_t end, size_t *out_len)
{
    size_t next = *at;
    const char *option = rt_word(a, &next, end);
    if (!option || strcmp(option, "--label") != 0)
        return NULL;
    const char *string = strip(rt_word(a, &next, end), RUN_PREFIX_DOCKER, out_len);
    if (string)
        *at = next;
    return string;
}

static const struct format FORMATS[] = {
    {"landlock", find_blob, next_blob, false},
    {"seatbelt", find_lines, next_line, true},
    {"bwrap", find_bwrap, next_bwrap, false},
    {"docker", find_docker, next_docker, false},
};

/* ---- Values ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum run_often often;
} KEYS[RUN_KEY_COUNT] = {
#define X(id, name, often) [id] = {name, often},
    RUN_KEYS(X)
#undef X
};

static bool is_digest(const char *v)
{
    return strlen(v) == SHA256_HEX_LEN && strspn(v, "0123456789abcdef") == SHA256_HEX_LEN;
}

static bool number(const char *v, uint64_t *out)
{
    uint64_t n = 0;
    if (!*v || (v[0] == '0' && v[1]))
        return false;
    for (; *v; v++) {
        if (*v < '0' || *v > '9' || (n = n * 10 + (uint64_t)(*v - '0')) > LONGEST_MS)
            return false;
    }
    *out = n;
    return true;
}

/* One line of text: no control bytes, and there is something. */
static bool is_line(const char *v, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)v[i] < 0x20 || v[i] == 0x7f)
            return false;
    return len;
}

bool rt_is_path(const char *path)
{
    if (strlen(path) > PATH_BYTES_MAX)
        return false;
    if (!strcmp(path, "/"))
        return true;
    do {
        size_t len = *path == '/' ? strcspn(path + 1, "/") : 0;
        if (!len || (len == 1 && path[1] == '.') || (len == 2 && path[1] == '.' && path[2] == '.'))
            return false;
        path += len + 1;
    } while (*path);
    return true;
}

static bool one_of(const char *v, const char *first, const char *second)
{
    return !strcmp(v, first) || !strcmp(v, second);
}

static bool is_pattern(const char *v)
{
    size_t n = strlen(v);
    return is_line(v, n) && !strchr(v, '=') && strcspn(v, "*") >= n - 1;
}

static bool is_setting(const char *v)
{
    size_t name = strcspn(v, "=");
    return v[name] && is_line(v, name) && !memchr(v, '*', name);
}

/* An engine takes options and the image in one line of words. */
static bool is_image(const char *v)
{
    return is_line(v, strlen(v)) && *v != '-' && !strchr(v, ' ');
}

/* Does the value stand behind the last one of its list? Names of settings end at `=`, which no name holds. */
static bool rises(const struct rt_list *list, const char *v)
{
    if (!list->n)
        return true;
    const char *last = list->items[list->n - 1];
    size_t a = strcspn(last, "="), b = strcspn(v, "=");
    int order = memcmp(last, v, a < b ? a : b);
    return order ? order < 0 : a < b;
}

/* Candidates for TMPDIR are few and fixed: the file says only which of them leave its grants alone. */
static bool is_next_tmpdir(const struct rt_list *list, const char *v)
{
    static const char *const ALL[] = {ARTIFACT_TMPDIRS};
    const char *last = list->n ? list->items[list->n - 1] : NULL;
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        if (last && !strcmp(ALL[i], last))
            last = NULL;
        else if (!last && !strcmp(ALL[i], v))
            return true;
    }
    return false;
}

static bool is_loss(const char *v)
{
    return *v && v[strspn(v, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static bool push(struct rt_list *list, const char *value)
{
    /* Allocated in begin_lists() for as many as there are. */
    list->items[list->n++] = value;
    return true;
}

/* Takes one value; false if it has not the form of its key. */
static bool take(struct rt_run *run, enum run_key key, const char *v)
{
    struct rt_policy *p = &run->policy;
    switch (key) {
    case RUN_FORMAT:
        return !strcmp(v, "1");
    case RUN_TARGET:
        p->target = v;
        return !strcmp(v, run->artifact.kind);
    case RUN_PROFILE:
        p->profile = v;
        return is_line(v, strlen(v));
    case RUN_POLICY_DIGEST:
        p->policy_digest = v;
        return is_digest(v);
    case RUN_BODY_DIGEST:
        return is_digest(v);
    case RUN_CONFINE:
        p->confine = strcmp(v, "no") != 0;
        return one_of(v, "yes", "no");
    case RUN_TIMEOUT:
        return number(v, &p->timeout_ms);
    case RUN_KILL_AFTER:
        return number(v, &p->kill_after_ms);
    case RUN_NETWORK:
        p->network = v;
        return one_of(v, "none", "open");
    case RUN_ENV_PASS:
        return is_pattern(v) && rises(&p->env_pass, v) && push(&p->env_pass, v);
    case RUN_ENV_SET:
        return is_setting(v) && rises(&p->env_set, v) && push(&p->env_set, v);
    case RUN_SKILL_DIR:
        p->skill_dir = v;
        return rt_is_path(v);
    case RUN_TMPDIR:
        return strcmp(p->target, "seatbelt") != 0 && is_next_tmpdir(&p->tmpdirs, v) && push(&p->tmpdirs, v);
    case RUN_IMAGE:
        p->image = v;
        return !strcmp(p->target, "docker") && is_image(v);
    case RUN_ACCEPT:
        return is_loss(v) && rises(&p->accept, v) && push(&p->accept, v);
    case RUN_KEY_COUNT:
        break;
    }
    return false;
}

/* The key at the start of a string, or RUN_KEY_COUNT. */
static enum run_key key_of(const char *string, size_t len)
{
    enum run_key key = 0;
    for (; key < RUN_KEY_COUNT; key++) {
        size_t n = strlen(KEYS[key].name);
        if (len > n && string[n] == '=' && !memcmp(string, KEYS[key].name, n))
            break;
    }
    return key;
}

static int hex(char c)
{
    const char *digits = "0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* A value of a .sb line: %XX stands for a byte that the line cannot hold, and only for such. */
static const char *unescape(struct rt_run *run, const char *s, size_t len)
{
    char *out = rt_strn(run, s, len);
    if (!out)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)s[i];
        if (c == '%') {
            int high = len - i > 2 ? hex(s[i + 1]) : -1, low = len - i > 2 ? hex(s[i + 2]) : -1;
            c = high * 16 + low;
            if (high < 0 || low < 0 || !c || (c >= 0x20 && c != 0x7f && c != '%'))
                return NULL;
            i += 2;
        } else if (c < 0x20 || c == 0x7f) {
            return NULL;
        }
        out[n++] = (char)c;
    }
    out[n] = '\0';
    return out;
}

/* Makes room for the lists; counts and checks keys and their order. */
static bool begin_lists(struct rt_run *run, const struct format *f, struct section s,
                        size_t count[RUN_KEY_COUNT])
{
    size_t at = s.start, len;
    enum run_key last = 0;
    for (const char *string; (string = f->next(&run->artifact, &at, s.end, &len));) {
        enum run_key key = key_of(string, len);
        if (key == RUN_KEY_COUNT)
            return rt_fail(run, STEP, "the run section holds `%.*s`, which is no key of format %d",
                           (int)(len < 60 ? len : 60), string, ARTIFACT_FORMAT);
        if (key < last)
            return rt_fail(run, STEP, "`%s` is not in its place in the run section", KEYS[key].name);
        count[last = key]++;
    }
    if (at != s.end)
        return rt_fail(run, STEP, "the run section is damaged at byte %zu", at);
    for (enum run_key key = 0; key < RUN_KEY_COUNT; key++)
        if ((KEYS[key].often == RUN_ONE && count[key] != 1) || (KEYS[key].often == RUN_OPT && count[key] > 1))
            return rt_fail(run, STEP, "`%s` stands %zu times in the run section", KEYS[key].name, count[key]);
    struct rt_policy *p = &run->policy;
    return (p->env_pass.items = rt_alloc(run, count[RUN_ENV_PASS], sizeof(char *))) &&
           (p->env_set.items = rt_alloc(run, count[RUN_ENV_SET], sizeof(char *))) &&
           (p->tmpdirs.items = rt_alloc(run, count[RUN_TMPDIR], sizeof(char *))) &&
           (p->accept.items = rt_alloc(run, count[RUN_ACCEPT], sizeof(char *)));
}

/* *out_digits: where the digits of the body digest stand in the file, or NULL. */
static bool read_section(struct rt_run *run, const struct format *f, struct section s,
                         const char **out_digits)
{
    size_t count[RUN_KEY_COUNT] = {0};
    if (!begin_lists(run, f, s, count))
        return false;
    size_t at = s.start, len;
    for (const char *string; (string = f->next(&run->artifact, &at, s.end, &len));) {
        enum run_key key = key_of(string, len);
        size_t n = strlen(KEYS[key].name) + 1;
        const char *value = f->escaped ? unescape(run, string + n, len - n) : string + n;
        if (!value || !take(run, key, value))
            return rt_fail(run, STEP, "the run section's `%s` has the value `%.*s`", KEYS[key].name,
                           (int)(len - n < 200 ? len - n : 200), string + n);
        if (key == RUN_BODY_DIGEST)
            *out_digits = string + n;
    }
    return true;
}

/* ---- Digest ------------------------------------------------------------------------------------------ */

static bool check_digest(struct rt_run *run, const char *digits)
{
    const struct rt_artifact *a = &run->artifact;
    if (!digits)
        return rt_fail(run, STEP, "the run section has no body-digest");
    size_t at = (size_t)(digits - (const char *)a->data), rest = at + SHA256_HEX_LEN;
    unsigned char digest[SHA256_LEN];
    char want[SHA256_HEX_LEN + 1];
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, a->data, at);
    sha256_add(&s, a->data + rest, a->len - rest);
    sha256_end(&s, digest);
    sha256_hex(digest, want);
    if (memcmp(want, digits, SHA256_HEX_LEN) != 0)
        return rt_fail(run, STEP, "`%s` is damaged: its body digest is not that of its bytes",
                       run->options.artifact);
    return true;
}

static bool check_expected(struct rt_run *run, const char *digits)
{
    if (run->options.expect_digest && memcmp(run->options.expect_digest, digits, SHA256_HEX_LEN) != 0)
        return rt_fail(run, STEP, "its body digest is %.64s, not the one expected", digits);
    return true;
}

/* ---- All together ------------------------------------------------------------------------------------ */

static bool read_known(struct rt_run *run, const struct format *f, struct section s)
{
    const char *digits = NULL;
    char held[SHA256_HEX_LEN + 1];
    bool blob = f->find == find_blob;
    run->artifact.kind = f->kind;
    if (blob && !ll_open(run, &s.start, &s.end))
        return false;
    if (!read_section(run, f, s, &digits))
        return false;
    if (blob) {
        if (digits)
            return rt_fail(run, STEP, "a blob's body digest stands in its header alone");
        ll_digest(&run->artifact, held);
        digits = held;
    } else if (!check_digest(run, digits)) {
        return false;
    }
    if (!check_expected(run, digits))
        return false;
    for (size_t i = 0; i < rt_n_engines; i++)
        if (!strcmp(rt_engines[i]->target, run->policy.target)) {
            run->engine = rt_engines[i];
            return run->engine->load(run);
        }
    return rt_fail(run, STEP, "this sbxrun has no engine for %s", run->policy.target);
}

bool rt_load(struct rt_run *run)
{
    int fd = open(run->options.artifact, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return rt_fail_errno(run, errno, STEP, "`%s`", run->options.artifact);
    bool ok = read_file(run, fd);
    close(fd);
    if (!ok)
        return false;
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        struct section s = {0, 0};
        if (FORMATS[i].find(&run->artifact, &s))
            return read_known(run, &FORMATS[i], s);
    }
    return rt_fail(run, STEP, "`%s` is no artifact of sbxc", run->options.artifact);
}
