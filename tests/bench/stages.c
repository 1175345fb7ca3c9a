/* The stages of one compile, timed in one process: what main.c of sbxc does, without its options.
 *
 * Usage: stages FILE TARGET,... host|none PREFIX
 * prints a line `STAGE NANOSECONDS` for each, then `text`, `output` and `rss` in bytes. */
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include "backends/backend.h"
#include "bench.h"
#include "frontend/frontend.h"
#include "inputs.h"
#include "output.h"

enum { MAX_TARGETS = 4 };

static void stage(const char *name, uint64_t *since)
{
    uint64_t now = bench_now_ns();
    printf("%s %llu\n", name, (unsigned long long)(now - *since));
    *since = bench_now_ns();
}

static void fail(const struct diag_list *diags)
{
    struct buf out = {0};
    diag_render(diags, &out);
    fwrite(out.data, 1, out.len, stderr);
    exit(1);
}

static size_t emit_all(char *targets, const struct policy_request *request, const char *prefix,
                       struct arena *a, struct diag_list *diags, struct output *files, uint64_t *since)
{
    const struct ir_policy *policies[2] = {NULL};
    static struct buf bytes[MAX_TARGETS];
    size_t n = 0;
    for (char *name = strtok(targets, ","); name && n < MAX_TARGETS; name = strtok(NULL, ","), n++) {
        const struct backend *b = be_find(name, strlen(name));
        struct policy_request q = *request;
        struct resolve_env env = *q.env;
        q.system = b->system;
        q.env = &env;
        env.host &= b->system == IR_LINUX;
        if (!policies[b->system]) {
            policies[b->system] = policy_make(&q, a, diags);
            stage(b->system == IR_LINUX ? "policy-linux" : "policy-macos", since);
        }
        if (!policies[b->system] || !b->emit(policies[b->system], a, diags, &bytes[n]))
            fail(diags);
        stage(b->name, since);
        files[n] = (struct output){
            .path = arena_printf(a, "%s%s", prefix, b->suffix), .data = bytes[n].data, .len = bytes[n].len};
    }
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    struct arena a;
    struct diag_list diags;
    struct output files[MAX_TARGETS];
    char cwd[4096];
    uint64_t since = bench_now_ns();
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 128 * 1024); /* as sbxc does */
#endif
    arena_init(&a, NULL, NULL);
    diag_init(&diags, &a);
    const struct source *src = source_read(&a, argv[1]);
    const struct frontend *fe = fe_by_suffix(argv[1]);
    if (!src || !fe || !getcwd(cwd, sizeof cwd))
        return 2;
    stage("read", &since);
    struct decl_file file = {0};
    fe->parse(src, FE_DECLARATION, &a, &diags, &file);
    stage("parse", &since);
    uint32_t text = src->len;
    struct resolve_env env = {
        .base = cwd, .work_dir = cwd, .home = "/home/bench", .host = !strcmp(argv[3], "host")};
    struct policy_request request = {
        .declaration = {.profile = file.profiles[0], .profiles = file.profiles, .n_profiles = 1},
        .env = &env,
        .image = "debian:12",
        .preset = inputs_preset};
    size_t n = emit_all(argv[2], &request, argv[4], &a, &diags, files, &since), output = 0;
    if (diags.n_errors)
        fail(&diags);
    const char *path = NULL;
    const char *why = output_write(&a, files, n, &path);
    if (why) {
        fprintf(stderr, "%s %s\n", path, why);
        return 2;
    }
    stage("write", &since);
    arena_done(&a);
    stage("free", &since);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    for (size_t i = 0; i < n; i++)
        output += files[i].len;
    printf("text %u\noutput %zu\nrss %ld\n", text, output, used.ru_maxrss * 1024);
    return 0;
}
