/* RustyClaw: the `sandbox:` section of its configuration, and the deny lists of its policy. */
#include "shapes.h"

static const char *const DENIES[] = {"deny_read", "deny_write", "deny_exec"};

static const struct yaml_node *marker(const struct yaml_node *root)
{
    static const char *const own[] = {"mode", "deny_paths", "allow_paths"};
    const struct yaml_node *section = yaml_get(root, "sandbox");
    for (size_t i = 0; section && i < 3; i++)
        if (yaml_get(section, own[i]))
            return section;
    return NULL;
}

/* Words of its mode, each with the target that it means; none of them unconfines. */
static void read_mode(struct shape_reader *r, const struct yaml_node *n)
{
    static const char WORDS[] =
        "auto|landlock|kernel|bwrap|bubblewrap|namespace|landlock+bwrap|landlock-bwrap|combined|lockwrap|"
        "macos|"
        "seatbelt|sandbox-exec|docker|container|path|pathvalidation|soft|none|off|disabled";
    static const char *const targets[] = {
        "any target", "landlock", "landlock", "bwrap",    "bwrap",    "bwrap",    "bwrap",
        "bwrap",      "bwrap",    "bwrap",    "seatbelt", "seatbelt", "seatbelt", "docker",
        "docker",     NULL,       NULL,       NULL,       NULL,       NULL,       NULL};
    int word = shape_word(r, n, "mode", WORDS);
    if (word < 0)
        return;
    if (targets[word])
        diag_add(r->diags, DIAG_TARGET_HINT, n->span,
                 "this suggests %s; targets are chosen on the command line", targets[word]);
    else
        diag_add(r->diags, DIAG_TARGET_HINT, n->span, "no word of mode unconfines the program");
}

static void read_denies(struct shape_reader *r, const struct yaml_node *map)
{
    for (size_t i = 0; i < sizeof DENIES / sizeof *DENIES; i++)
        if (yaml_get(map, DENIES[i]))
            shape_put_list(r, DENIES[i], yaml_get(map, DENIES[i]));
}

static void read(struct shape_reader *r, struct yaml_node *root, struct decl_profile *first)
{
    static const char *const names[] = {"mode",      "deny_paths", "allow_paths",
                                        "deny_read", "deny_write", "deny_exec"};
    static const char *const own[] = {"sandbox", "workspace_dir", "deny_read", "deny_write", "deny_exec"};
    const struct yaml_node *section = yaml_get(root, "sandbox");
    shape_begin(r, first);
    shape_rest(r, root, own, sizeof own / sizeof *own);
    if (yaml_get(root, "workspace_dir"))
        shape_put_text(r, "write", yaml_get(root, "workspace_dir"), 0);
    read_denies(r, root);
    if (!section || !shape_map(r, section, "sandbox", names, sizeof names / sizeof *names))
        return;
    if (yaml_get(section, "mode"))
        read_mode(r, yaml_get(section, "mode"));
    if (yaml_get(section, "allow_paths"))
        shape_put_list(r, "write", yaml_get(section, "allow_paths"));
    if (yaml_get(section, "deny_paths"))
        shape_put_list(r, "deny", yaml_get(section, "deny_paths"));
    read_denies(r, section);
}

const struct shape shape_rustyclaw = {.name = "rustyclaw", .marker = marker, .read = read};
