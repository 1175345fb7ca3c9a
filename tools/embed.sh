#!/bin/sh
# Prints C that embeds the presets named as arguments (build/VARIANT/gen/presets.c, see src/preset.h).
# The name of a preset is its file name without .sbx; the table is in the order of the arguments.
set -eu
export LC_ALL=C

for file in "$@"; do
    if [ -n "$(tail -c 1 "$file")" ]; then
        echo "embed.sh: $file does not end in a newline" >&2
        exit 1
    fi
done

echo '#include "preset.h"'
echo
echo 'const struct preset_text preset_texts[] = {'
for file in "$@"; do
    name=${file##*/}
    printf '    {"%s",\n' "${name%.sbx}"
    # One literal per line. `?` is escaped for the sake of trigraphs, which -std=c11 knows.
    [ -s "$file" ] || echo '     ""'
    sed 's/[\\"?]/\\&/g; s/^/     "/; s/$/\\n"/' "$file"
    printf '     , %d},\n' "$(wc -c < "$file")"
done
# A table of no presets is still a table: C has no empty initializers.
[ $# -gt 0 ] || echo '    {"", "", 0},'
echo '};'
echo "const size_t n_preset_texts = $#;"
