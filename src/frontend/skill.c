/* SKILL.md: YAML front matter between two fences at the top of a Markdown file. */
#include "frontend.h"

#include <string.h>

#include "yaml.h"

/* A fence is `---` at the start of a line, blanks and a line end behind it. Returns the offset behind that
 * line, or 0 if there is none at `at`. */
static uint32_t fence(const struct source *s, uint32_t at)
{
    if (s->len - at < 3 || memcmp(s->text + at, "---", 3) != 0)
        return 0;
    uint32_t i = at + 3;
    while (i < s->len && (s->text[i] == ' ' || s->text[i] == '\t' || s->text[i] == '\r'))
        i++;
    if (i == s->len)
        return i;
    return s->text[i] == '\n' ? i + 1 : 0;
}

static void parse(const struct source *src, enum fe_role role, struct arena *a, struct diag_list *diags,
                  struct decl_file *out)
{
    (void)role;
    out->src = src;
    struct span first = {src, 0, src->len ? 1 : 0};
    struct decl_profile *p = decl_new_profile(out, a, first);
    p->skill_dir_default = true;
    uint32_t start = fence(src, 0);
    if (!start) {
        struct diag *d = diag_add(diags, DIAG_FRONT_MATTER, first, "this file does not begin with front matter");
        diag_hint(diags, d, "put the keys between two lines of `---` at its top");
        return;
    }
    for (uint32_t at = start; at < src->len;) {
        if (fence(src, at)) {
            yaml_read(src, start, at - start, YAML_FRONT_MATTER, a, diags, out);
            return;
        }
        const char *end = memchr(src->text + at, '\n', src->len - at);
        at = end ? (uint32_t)(end + 1 - src->text) : src->len;
    }
    struct diag *d = diag_add(diags, DIAG_FRONT_MATTER, (struct span){src, 0, 3}, "this front matter is not closed");
    diag_hint(diags, d, "close it with a line of `---`");
}

const struct frontend fe_skill = {
    .name = "skill", .suffixes = ".md", .summary = "front matter of a SKILL.md", .parse = parse};
