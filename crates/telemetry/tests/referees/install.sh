#!/bin/sh
# Installs what judges the telemetry of deft: the protobuf definitions of OTLP and the parser of Prometheus.
# Does nothing when they are there already. They go into the cache, not into the working tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/deft/telemetry-referees"
stamp=$(cat "$here/requirements.txt" "$here/install.sh" | cksum | tr ' ' '-')
if [ -f "$cache/stamp" ] && [ "$(cat "$cache/stamp")" = "$stamp" ]; then
    exit 0
fi
echo "installing telemetry referees into $cache"
mkdir -p "$cache"
[ -x "$cache/python/bin/python" ] || python3 -m venv "$cache/python"
"$cache/python/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt"
printf '%s\n' "$stamp" > "$cache/stamp"
