#include "diag_json.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* Everything here may fail for want of memory alone; jansson then hands NULL on, and put_line() sees it. */

static json_t *text_of(const char *s)
{
    struct buf b = {0};
    diag_put_escaped(&b, s, strlen(s));
    json_t *j = buf_ok(&b) ? json_stringn(b.data ? b.data : "", b.len) : NULL;
    buf_done(&b);
    return j;
}

static bool put_place(json_t *o, struct span at)
{
    if (!at.src)
        return true;
    struct source_pos from = source_locate(at.src, at.start), to = source_locate(at.src, at.start + at.len);
    return json_object_set_new(o, "file", text_of(at.src->name)) == 0 &&
           json_object_set_new(o, "line", json_integer(from.line)) == 0 &&
           json_object_set_new(o, "column", json_integer(from.column)) == 0 &&
           json_object_set_new(o, "end_line", json_integer(to.line)) == 0 &&
           json_object_set_new(o, "end_column", json_integer(to.column)) == 0 &&
           json_object_set_new(o, "offset", json_integer((json_int_t)at.src->skipped + at.start)) == 0 &&
           json_object_set_new(o, "length", json_integer(at.len)) == 0;
}

static bool put_note(json_t *notes, const struct diag_note *n)
{
    json_t *o = json_object();
    bool ok = json_object_set_new(o, "message", text_of(n->text)) == 0 && put_place(o, n->span);
    return json_array_append_new(notes, o) == 0 && ok;
}

/* Appends the object, which is used up, as a line. */
static void put_line(struct buf *out, json_t *o, bool ok)
{
    char *line = ok ? json_dumps(o, JSON_COMPACT) : NULL;
    if (line) {
        buf_str(out, line);
        buf_byte(out, '\n');
    } else {
        out->failed = true;
    }
    free(line);
    json_decref(o);
}

static json_t *begin(const char *id, enum diag_severity severity, const char *message, bool *out_ok)
{
    json_t *o = json_object();
    *out_ok = json_object_set_new(o, "id", json_string(id)) == 0 &&
              json_object_set_new(o, "severity", json_string(diag_severity_name(severity))) == 0 &&
              json_object_set_new(o, "message", text_of(message)) == 0;
    return o;
}

static void put_diag(struct buf *out, const struct diag *d)
{
    bool ok;
    json_t *o = begin(diag_name(d->id), d->severity, d->text, &ok), *hints = json_array(), *notes = json_array();
    ok &= put_place(o, d->span);
    for (const struct diag_note *n = d->notes; n; n = n->next)
        ok &= n->span.src ? put_note(notes, n) : json_array_append_new(hints, text_of(n->text)) == 0;
    ok &= json_object_set_new(o, "hints", hints) == 0;
    ok &= json_object_set_new(o, "notes", notes) == 0;
    put_line(out, o, ok);
}

void diag_render_json(const struct diag_list *l, struct buf *out)
{
    struct diag_shown shown;
    size_t omitted = 0;
    diag_select(l, &shown);
    for (size_t i = 0; i < shown.n; i++)
        put_diag(out, shown.items[i]);
    for (int s = DIAG_NOTE; s <= DIAG_ERROR; s++)
        omitted += shown.n_omitted[s];
    if (!omitted)
        return;
    json_t *o = json_object();
    put_line(out, o, json_object_set_new(o, "omitted", json_integer((json_int_t)omitted)) == 0);
}

void diag_json_usage(const char *text, struct buf *out)
{
    bool ok;
    json_t *o = begin("usage", DIAG_ERROR, text, &ok);
    ok &= json_object_set_new(o, "hints", json_array()) == 0;
    ok &= json_object_set_new(o, "notes", json_array()) == 0;
    put_line(out, o, ok);
}
