/* Presets: DSL text shipped in presets/, embedded at build time by tools/embed.sh. */
#ifndef SBX_PRESET_H
#define SBX_PRESET_H

#include <stddef.h>

struct preset_text {
    const char *name; /* file name without .sbx: "standard.linux" */
    const char *text; /* len bytes and a NUL */
    size_t len;
};

extern const struct preset_text preset_texts[];
extern const size_t n_preset_texts;

#endif
