#!/bin/sh
# Deletes files beneath ./logs that are older than --days N (default 30) and lists them in logs/purged.txt.
set -eu

days=30
if [ "${1:-}" = --days ]; then
    days=$2
fi
find logs -type f -mtime "+$days" ! -name purged.txt | sort > logs/purged.txt
while IFS= read -r file; do
    rm -- "$file"
done < logs/purged.txt
echo "purged $(wc -l < logs/purged.txt) files"
