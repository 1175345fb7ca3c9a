#include "runsec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../artifact.h"
#include "../sha256.h"

static const char ZEROS[] = "0000000000000000000000000000000000000000000000000000000000000000";
_Static_assert(sizeof ZEROS == SHA256_HEX_LEN + 1, "one zero a digit");

static const char *const NAMES[RUN_KEY_COUNT] = {
#define X(id, name, often) [id] = name,
    RUN_KEYS(X)
#undef X
};

struct writer {
    runsec_put *put;
    struct buf *out;
    struct buf line;
};

static void put(struct writer *w, enum run_key key, const char *value)
{
    w->line.len = 0;
    buf_str(&w->line, NAMES[key]);
    buf_byte(&w->line, '=');
    buf_str(&w->line, value);
    if (!buf_ok(&w->line))
        w->out->failed = true;
    else
        w->put(w->out, w->line.data, w->line.len);
}

static void put_number(struct writer *w, enum run_key key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put(w, key, text);
}

static void put_environment(struct writer *w, const struct ir_policy *p)
{
    for (size_t i = 0; i < p->n_env_pass; i++)
        put(w, RUN_ENV_PASS, p->env_pass[i].name);
    struct buf pair = {0};
    for (size_t i = 0; i < p->n_env_set; i++) {
        pair.len = 0;
        buf_str(&pair, p->env_set[i].name);
        buf_byte(&pair, '=');
        buf_str(&pair, p->env_set[i].value);
        if (!buf_ok(&pair))
            w->out->failed = true;
        else
            put(w, RUN_ENV_SET, pair.data);
    }
    buf_done(&pair);
}

/* The digits just written: whatever a format wraps around a string, it leaves hex digits as they are. */
static size_t last_zeros(struct buf *out)
{
    size_t at = out->len;
    while (at >= SHA256_HEX_LEN && buf_ok(out)) {
        if (!memcmp(out->data + at - SHA256_HEX_LEN, ZEROS, SHA256_HEX_LEN))
            return at - SHA256_HEX_LEN;
        at--;
    }
    out->failed = true;
    return 0;
}

size_t runsec_write(const struct ir_policy *p, const char *target, bool digest, runsec_put *write, struct buf *out)
{
    struct writer w = {.put = write, .out = out};
    put_number(&w, RUN_FORMAT, ARTIFACT_FORMAT);
    put(&w, RUN_TARGET, target);
    put(&w, RUN_PROFILE, p->name);
    put(&w, RUN_POLICY_DIGEST, p->digest);
    size_t digits = 0;
    if (digest) {
        put(&w, RUN_BODY_DIGEST, ZEROS);
        digits = last_zeros(out);
    }
    put(&w, RUN_CONFINE, p->core ? "no" : "yes");
    put_number(&w, RUN_TIMEOUT, p->limits[IR_LIMIT_TIMEOUT].value);
    put_number(&w, RUN_KILL_AFTER, p->limits[IR_LIMIT_KILL_AFTER].value);
    put(&w, RUN_NETWORK, p->network.mode == IR_NETWORK_OPEN ? "open" : "none");
    put_environment(&w, p);
    if (p->skill_dir)
        put(&w, RUN_SKILL_DIR, p->skill_dir);
    if (p->system == IR_LINUX)
        for (size_t i = 0; i < p->n_tmpdirs; i++)
            put(&w, RUN_TMPDIR, p->tmpdirs[i]);
    if (p->image.text && !strcmp(target, "docker"))
        put(&w, RUN_IMAGE, p->image.text);
    for (size_t i = 0; i < p->n_accepted; i++)
        put(&w, RUN_ACCEPT, p->accepted[i]);
    buf_done(&w.line);
    return digits;
}

void runsec_seal(struct buf *out, size_t start, size_t digits)
{
    if (!buf_ok(out))
        return;
    size_t rest = digits + SHA256_HEX_LEN;
    struct sha256 s;
    unsigned char digest[SHA256_LEN];
    char hex[SHA256_HEX_LEN + 1];
    sha256_init(&s);
    sha256_add(&s, out->data + start, digits - start);
    sha256_add(&s, out->data + rest, out->len - rest);
    sha256_end(&s, digest);
    sha256_hex(digest, hex);
    memcpy(out->data + digits, hex, SHA256_HEX_LEN);
}

static bool is_plain(const char *word, size_t len)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%*";
    return len && strspn(word, PLAIN) == len;
}

bool runsec_words_text(const char *data, size_t len, const char *mark, size_t mark_len, struct buf *out)
{
    if (!len || data[len - 1] != '\0' || !memmem(data, len, mark, mark_len))
        return false;
    struct arena a;
    arena_init(&a, NULL, NULL);
    for (const char *word = data; word < data + len; word += strlen(word) + 1) {
        size_t n = strlen(word);
        buf_str(out, is_plain(word, n) ? word : ir_quote(&a, word, n));
        buf_byte(out, '\n');
    }
    arena_done(&a);
    return true;
}
