#!/bin/sh
# The docker target, as the real CLI parses it and as real engines run it. Usage: run.sh [BUILD FOLDER]
# Engines are only started with ENGINES=1, by root. Ends with a line of counts.
exec "${PYTHON:-python3}" "$(dirname "$0")/run.py" "${1:-build/release}"
