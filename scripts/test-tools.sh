#!/bin/sh
# Installs the independent programs that some tests use: strace (order of system calls), exiftool (metadata),
# chromium (pages). Without root they are left alone, and the tests that need them say so and are skipped.
set -eu
missing=""
command -v strace >/dev/null 2>&1 || missing="$missing strace"
command -v exiftool >/dev/null 2>&1 || missing="$missing libimage-exiftool-perl"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
    echo "Not installed (needs root and apt):$missing. The tests that use them are skipped." >&2
fi
