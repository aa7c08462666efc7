#!/bin/sh
# Builds every fuzz target with the stable toolchain and runs each one for a
# while: ./run.sh SECONDS [TARGET…]
#
# The inputs that targets start from are the case files. A crash leaves its
# input in the artifacts folder, whose path is printed, and fails the script.
set -eu

seconds=${1:?"usage: $0 SECONDS [TARGET...]"}
shift
here=$(cd "$(dirname "$0")" && pwd)
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/deft/fuzz}
export CARGO_TARGET_DIR
# With an explicit target, build scripts and macros are not instrumented.
command -v "${CXX:-c++}" >/dev/null || {
    echo "error: libFuzzer is C++; install a C++ compiler, or set CXX" >&2
    exit 1
}
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
RUSTFLAGS="$RUSTFLAGS -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
RUSTFLAGS="$RUSTFLAGS -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS="$RUSTFLAGS -Ccodegen-units=1"
export RUSTFLAGS
cargo build --manifest-path "$here/Cargo.toml" --ignore-rust-version --release --target "$host" --bins
bin=$CARGO_TARGET_DIR/$host/release
artifacts=$CARGO_TARGET_DIR/artifacts
mkdir -p "$artifacts"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The seeds of a target: the files below the `=====` line of the cases.
cases=$here/../crates/skillfile/tests/cases
corpus() {
    mkdir -p "$work/$1"
    case $1 in
    skill_md) folders="agentskills domain lenient" ;;
    manpage | workflow | record) folders=$1 ;;
    *) folders= ;;
    esac
    for folder in $folders; do
        for file in "$cases/$folder"/*.case; do
            sed '1,/^=====$/d' "$file" >"$work/$1/$folder-$(basename "$file" .case)"
        done
    done
    if [ "$1" = command ]; then
        cp "$here"/../crates/command/tests/cases/*.txt "$work/$1/"
    fi
    # The little languages start from what the workflows hold of them.
    case $1 in
    template) pattern='{{.*}}' ;;
    condition) pattern='condition: .*' ;;
    cron) pattern='schedule: .*' ;;
    *) return 0 ;;
    esac
    grep -rhoa "$pattern" "$cases" | sed 's/^[a-z]*: *//; s/^"\(.*\)"$/\1/' | sort -u |
        awk -v dir="$work/$1" '{ file = dir "/" NR; printf "%s", $0 > file; close(file) }'
}

targets=${*:-skill_md manpage workflow record template condition cron command}
for target in $targets; do
    corpus "$target"
done

# As many at a time as there are cores.
export bin work artifacts seconds
# shellcheck disable=SC2016 # the variables belong to the inner shell
printf '%s\n' $targets | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I'{}' sh -c '
    "$bin/{}" "$work/{}" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -artifact_prefix="$artifacts/{}-" \
        -print_final_stats=0 -verbosity=1 >"$work/{}.log" 2>&1 || echo "{}" >>"$work/failed"'
for target in $targets; do
    echo "== $target, $seconds s"
    grep -a 'DONE\|Test unit written to' "$work/$target.log" || true
done
[ ! -e "$work/failed" ] || {
    while read -r target; do
        tail -n 40 "$work/$target.log"
    done <"$work/failed"
    echo "crashed: $(tr '\n' ' ' <"$work/failed"); inputs are in $artifacts"
    exit 1
}
