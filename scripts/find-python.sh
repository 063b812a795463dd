#!/bin/sh
# Prints the newest Python >= 3.12 that this machine has and that can make a virtual environment.
# PYTHON=/path/to/python overrides the search.
set -eu
fits() {
    "$1" -c 'import sys, venv, ensurepip, sqlite3; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1
}
if [ -n "${PYTHON:-}" ]; then
    fits "$PYTHON" && { echo "$PYTHON"; exit 0; }
    echo "PYTHON=$PYTHON is not a Python >= 3.12 with the modules venv and ensurepip." >&2
    exit 1
fi
for candidate in python3.14 python3.13 python3.12 python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.14*/bin/python \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python; do
    path=$(command -v "$candidate" 2>/dev/null) || continue
    fits "$path" && { echo "$path"; exit 0; }
done
if command -v uv >/dev/null 2>&1 && path=$(uv python find '>=3.12' 2>/dev/null) && fits "$path"; then
    echo "$path"
    exit 0
fi
echo "Vernier needs Python >= 3.12 with the module venv, and found none (python3 is $(python3 --version 2>&1 || true))." >&2
echo "On Debian 13: apt-get install python3 python3-venv. Or name one: make setup PYTHON=/path/to/python3.13" >&2
exit 1
