#!/bin/sh
# Installs the public MCP servers that the tests of `deft-tools` talk to.
# Does nothing when they are there already. They go into the cache, not into
# the working tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/deft/mcp"
stamp=$(cat "$here/package.json" "$here/package-lock.json" "$here/requirements.txt" "$here/constraints.txt" "$here/install.sh" | cksum | tr ' ' '-')
if [ -f "$cache/stamp" ] && [ "$(cat "$cache/stamp")" = "$stamp" ]; then
    exit 0
fi
echo "installing public MCP servers into $cache"
mkdir -p "$cache"
cp "$here/package.json" "$here/package-lock.json" "$cache/"
npm ci --prefix "$cache" --no-audit --no-fund --loglevel=error
if [ ! -x "$cache/python/bin/python" ]; then
    python3 -m venv "$cache/python"
fi
"$cache/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt" -c "$here/constraints.txt"
printf '%s\n' "$stamp" > "$cache/stamp"
