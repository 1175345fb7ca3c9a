/* Reading YAML for the front ends that hold some: declarations, front matter, ceilings. */
#ifndef SBX_YAML_H
#define SBX_YAML_H

#include "frontend.h"

enum yaml_kind {
    YAML_DECLARATION,  /* native keys at the top, or a shape's */
    YAML_FRONT_MATTER, /* robot_lab's keys beside foreign ones, native ones beneath `sbx:` */
    YAML_CEILING,      /* a declaration, or an application's configuration with a `sandbox:` section */
};

/* Reads text[start, start + len) of the source into file->profiles[0], which the caller has made; a text with
 * `profiles:` or `scopes:` puts those in its place. Anchors, aliases, tags, directives and
 * further documents are errors, as are duplicate keys. */
void yaml_read(const struct source *src, uint32_t start, uint32_t len, enum yaml_kind kind, struct arena *a,
               struct diag_list *diags, struct decl_file *file);

#endif
