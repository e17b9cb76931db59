#!/usr/bin/env bash
# Builds the program of one target as it is released (`$1`): with the counts of what agents do where
# it runs on this machine, else as plain cargo does.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?usage: program.sh TARGET}
# `release/build.sh` uses this directory too.
export CARGO_TARGET_DIR=$PWD/target

if [ "$target" = "$(uname -m)-unknown-linux-musl" ]; then
    exec bash release/build.sh "$target"
fi
build=build
# On Linux, zig links for every system.
if [ "$(uname -s)" = Linux ] && command -v cargo-zigbuild >/dev/null; then
    build=zigbuild
fi
exec cargo "$build" --release --package hookexec-cli --bin hookexec --target "$target"
