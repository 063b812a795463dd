#!/bin/sh
# Fails where a committed file names the host of a package registry: what is pinned is pinned by hash, not by place.
set -eu
pattern='(py''pi\.org|python''hosted\.org|npm''js\.(org|com)|deb\.deb''ian\.org|resolved"?: *"http)'
if git grep -nIE "$pattern" -- . ':!LICENSE'; then
    echo "The lines above name a package registry. Pin by version and hash only." >&2
    exit 1
fi
