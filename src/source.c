#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void index_lines(struct arena *a, struct source *s)
{
    size_t n = 1, cap = 0;
    uint32_t *lines = arena_grow(a, NULL, &cap, n, sizeof *lines);
    lines[0] = 0;
    for (const char *p = s->text, *end = p + s->len; (p = memchr(p, '\n', (size_t)(end - p))); p++) {
        lines = arena_grow(a, lines, &cap, n + 1, sizeof *lines);
        lines[n++] = (uint32_t)(p + 1 - s->text);
    }
    s->lines = lines;
    s->n_lines = (uint32_t)n;
}

static struct source *wrap(struct arena *a, const char *name, const char *text, size_t len)
{
    struct source *s = ARENA_NEW(a, struct source);
    uint32_t skipped = 0;
    /* A byte order mark is no content: columns of the first line count from behind it. */
    if (len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) {
        text += 3;
        len -= 3;
        skipped = 3;
    }
    *s = (struct source){.name = name, .text = text, .len = (uint32_t)len, .skipped = skipped};
    index_lines(a, s);
    return s;
}

const struct source *source_new(struct arena *a, const char *name, const char *text, size_t len)
{
    return wrap(a, name, text, len);
}

/* Reads until end of file, so that pipes and growing files work alike. */
static const struct source *read_fd(struct arena *a, const char *name, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return NULL;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return NULL;
    }
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > SOURCE_MAX_BYTES) {
        errno = EFBIG;
        return NULL;
    }
    /* Room for two NULs, the first of them for the byte that a read beyond the end asks for. */
    size_t cap = S_ISREG(st.st_mode) ? (size_t)st.st_size + 2 : 64 * 1024;
    size_t len = 0;
    char *text = arena_alloc(a, cap);
    for (;;) {
        if (len > SOURCE_MAX_BYTES) {
            errno = EFBIG;
            return NULL;
        }
        text = arena_grow(a, text, &cap, len + 2, 1);
        ssize_t n = read(fd, text + len, cap - len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    text[len] = text[len + 1] = '\0';
    struct source *s = wrap(a, name, text, len);
    s->scratch = text + len - s->len;
    return s;
}

const struct source *source_read(struct arena *a, const char *path)
{
    if (!strcmp(path, "-"))
        return read_fd(a, "<stdin>", STDIN_FILENO);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    const struct source *s = read_fd(a, path, fd);
    int saved = errno;
    close(fd);
    errno = saved;
    return s;
}

struct source_pos source_locate(const struct source *s, uint32_t offset)
{
    if (offset > s->len)
        offset = s->len;
    uint32_t lo = 0, hi = s->n_lines;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->lines[mid] <= offset)
            lo = mid;
        else
            hi = mid;
    }
    uint32_t start = s->lines[lo];
    uint32_t end = lo + 1 < s->n_lines ? s->lines[lo + 1] - 1 : s->len;
    if (end > start && s->text[end - 1] == '\r')
        end--;
    return (struct source_pos){
        .line = lo + 1, .column = offset - start + 1, .text = s->text + start, .len = end - start};
}

struct span span_join(struct span a, struct span b)
{
    uint32_t start = a.start < b.start ? a.start : b.start;
    uint32_t end_a = a.start + a.len, end_b = b.start + b.len;
    return (struct span){a.src, start, (end_a > end_b ? end_a : end_b) - start};
}
