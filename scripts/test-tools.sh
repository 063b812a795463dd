#!/bin/sh
# Installs the independent programs that some tests use: strace (order of system calls), exiftool (metadata),
# chromium (pages), and micropub-helper (a client, where there is Node). Without root the former are left alone, and
# the tests that need them say so and are skipped.
set -eu
client=$(dirname "$0")/../tests/clients/micropub-helper
if command -v npm >/dev/null 2>&1 && [ ! -e "$client/node_modules/.package-lock.json" ]; then
    npm ci --prefix "$client" --ignore-scripts --no-audit --no-fund --silent ||
        echo "Not installed (npm failed): micropub-helper. The test that uses it is skipped." >&2
fi
missing=""
command -v strace >/dev/null 2>&1 || missing="$missing strace"
command -v exiftool >/dev/null 2>&1 || missing="$missing libimage-exiftool-perl"
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
    echo "Not installed (needs root and apt):$missing. The tests that use them are skipped." >&2
fi
