#!/usr/bin/env bash
# Runs the given make targets in order and prints how long each one took: ./stages.sh TARGET…
#
# Stops at the first target that fails; the table and the list of skipped tests are printed either way.
set -uo pipefail
cd "$(dirname "$0")/.."
notes=$(mktemp -d)
trap 'rm -rf "$notes"' EXIT
export DEFT_SKIPPED=$notes/skipped

failed=
for stage in "$@"; do
    printf '\n== %s ==\n' "$stage"
    begin=$SECONDS
    "${MAKE:-make}" --no-print-directory "$stage" || failed=$stage
    printf '%-10s %8d%s\n' "$stage" $((SECONDS - begin)) "${failed:+   failed}" >>"$notes/table"
    [ -z "$failed" ] || break
done

printf '\n%-10s %8s\n' stage seconds
cat "$notes/table"
printf '%-10s %8d\n' total "$SECONDS"
if [ -s "$notes/skipped" ]; then
    sort -u "$notes/skipped" -o "$notes/skipped"
    printf '\nskipped: %d tests that read ../shared, which is not beside this checkout\n' "$(wc -l <"$notes/skipped")"
    sed 's/^/  /' "$notes/skipped"
fi
[ -z "$failed" ] || { printf '\nfailed: %s\n' "$failed" >&2; exit 1; }
