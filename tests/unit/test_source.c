/* LINK: src/source.c src/arena.c */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source.h"

static struct arena arena;

static int begin(void **state)
{
    (void)state;
    arena_init(&arena, NULL, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static void expect_place(const struct source *s, uint32_t offset, uint32_t line, uint32_t column, const char *text)
{
    struct source_pos pos = source_locate(s, offset);
    assert_int_equal(pos.line, line);
    assert_int_equal(pos.column, column);
    assert_int_equal(pos.len, strlen(text));
    assert_memory_equal(pos.text, text, pos.len);
}

static void lines_and_columns_count_from_one(void **state)
{
    (void)state;
    const char text[] = "ab\n\ncde\n";
    const struct source *s = source_new(&arena, "x", text, sizeof text - 1);
    assert_int_equal(s->n_lines, 4);
    expect_place(s, 0, 1, 1, "ab");
    expect_place(s, 2, 1, 3, "ab"); /* the line end belongs to its line */
    expect_place(s, 3, 2, 1, "");
    expect_place(s, 4, 3, 1, "cde");
    expect_place(s, 7, 3, 4, "cde");
    expect_place(s, 8, 4, 1, "");
    expect_place(s, 1000, 4, 1, ""); /* behind the end is the end */
}

static void an_empty_text_has_one_line(void **state)
{
    (void)state;
    const struct source *s = source_new(&arena, "x", "", 0);
    assert_int_equal(s->n_lines, 1);
    expect_place(s, 0, 1, 1, "");
}

/* CR belongs to the line end only before LF. */
static void crlf_is_no_text(void **state)
{
    (void)state;
    const char text[] = "a\r\nb\rc\r\n\r\nd";
    const struct source *s = source_new(&arena, "x", text, sizeof text - 1);
    expect_place(s, 0, 1, 1, "a");
    expect_place(s, 3, 2, 1, "b\rc");
    expect_place(s, 8, 3, 1, "");
    expect_place(s, 10, 4, 1, "d");
}

static void a_byte_order_mark_is_skipped_at_the_start_only(void **state)
{
    (void)state;
    const char text[] = "\xEF\xBB\xBF" "a\n\xEF\xBB\xBF" "b";
    const struct source *s = source_new(&arena, "x", text, sizeof text - 1);
    assert_int_equal(s->len, sizeof text - 1 - 3);
    expect_place(s, 0, 1, 1, "a");
    expect_place(s, 2, 2, 1, "\xEF\xBB\xBF" "b");
    s = source_new(&arena, "x", "\xEF\xBB", 2);
    assert_int_equal(s->len, 2);
    s = source_new(&arena, "x", "\xEF\xBB\xBF", 3);
    assert_int_equal(s->len, 0);
}

static void files_are_read_whole(void **state)
{
    (void)state;
    char path[] = "/tmp/sbx-source-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static char block[300000];
    memset(block, 'x', sizeof block);
    block[1000] = '\0';
    block[299999] = '\n';
    assert_int_equal(write(fd, block, sizeof block), sizeof block);
    close(fd);
    const struct source *s = source_read(&arena, path);
    assert_non_null(s);
    assert_string_equal(s->name, path);
    assert_int_equal(s->len, sizeof block);
    assert_memory_equal(s->text, block, sizeof block);
    assert_int_equal(s->text[s->len], '\0');
    assert_int_equal(s->n_lines, 2);
    unlink(path);
    errno = 0;
    assert_null(source_read(&arena, path));
    assert_int_equal(errno, ENOENT);
    assert_null(source_read(&arena, "/"));
    assert_int_equal(errno, EISDIR);
}

/* Standard input may be a pipe, whose size nobody knows. */
static void a_pipe_is_read_to_its_end(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    static char block[40000];
    memset(block, 'y', sizeof block);
    assert_int_equal(write(fds[1], block, sizeof block), sizeof block);
    close(fds[1]);
    int saved = dup(STDIN_FILENO);
    dup2(fds[0], STDIN_FILENO);
    close(fds[0]);
    const struct source *s = source_read(&arena, "-");
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    assert_non_null(s);
    assert_int_equal(s->len, sizeof block);
    assert_string_equal(s->name, "<stdin>");
}

static void too_large_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/sbx-source-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)SOURCE_MAX_BYTES + 1), 0);
    errno = 0;
    const struct source *s = source_read(&arena, path);
    int why = errno;
    close(fd);
    unlink(path);
    assert_null(s);
    assert_int_equal(why, EFBIG);
}

static void spans_join(void **state)
{
    (void)state;
    const struct source *s = source_new(&arena, "x", "abcdef", 6);
    struct span a = {s, 1, 2}, b = {s, 4, 1};
    struct span j = span_join(a, b), k = span_join(b, a), l = span_join((struct span){s, 0, 6}, a);
    assert_int_equal(j.start, 1);
    assert_int_equal(j.len, 4);
    assert_int_equal(k.start, 1);
    assert_int_equal(k.len, 4);
    assert_int_equal(l.start, 0);
    assert_int_equal(l.len, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_and_columns_count_from_one, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_text_has_one_line, begin, end),
        cmocka_unit_test_setup_teardown(crlf_is_no_text, begin, end),
        cmocka_unit_test_setup_teardown(a_byte_order_mark_is_skipped_at_the_start_only, begin, end),
        cmocka_unit_test_setup_teardown(files_are_read_whole, begin, end),
        cmocka_unit_test_setup_teardown(a_pipe_is_read_to_its_end, begin, end),
        cmocka_unit_test_setup_teardown(too_large_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(spans_join, begin, end),
    };
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
