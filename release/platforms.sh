#!/usr/bin/env bash
# Builds the command for every system in docs/platforms.md and runs what can be run here, on Linux.
# Installs what is missing, after saying so: Rust targets by rustup, zig as the linker from PyPI into
# target/tools, qemu, mingw and Wine from Debian.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_PROFILE_DEV_DEBUG=0

step() { printf '\n== %s\n' "$*"; }
elevated() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

windows=x86_64-pc-windows-gnu
targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl aarch64-apple-darwin x86_64-apple-darwin)
for target in "${targets[@]}" "$windows"; do
    if ! rustup target list --installed | grep -qx "$target"; then
        step "installing the Rust target $target"
        rustup target add "$target"
    fi
done
export PATH=$PWD/target/tools/bin:$PATH
if ! command -v cargo-zigbuild >/dev/null; then
    step "installing cargo-zigbuild and ziglang from PyPI into target/tools"
    python3 -m venv target/tools
    target/tools/bin/pip install --quiet cargo-zigbuild ziglang
fi
if ! command -v qemu-aarch64-static >/dev/null || ! command -v file >/dev/null; then
    step "installing qemu-user-static and file"
    elevated apt-get update -qq
    elevated env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        qemu-user-static file
fi

if ! command -v x86_64-w64-mingw32-gcc >/dev/null || ! command -v wine >/dev/null; then
    step "installing gcc-mingw-w64-x86-64 and wine64"
    elevated apt-get update -qq
    elevated env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        gcc-mingw-w64-x86-64 wine wine64
fi

for target in "${targets[@]}"; do
    step "build for $target"
    cargo-zigbuild zigbuild --package hookexec-cli --bin hookexec --target "$target"
    case $target in
        *apple*) kind="Mach-O 64-bit" ;;
        *) kind="statically linked|static-pie linked" ;;
    esac
    file "target/$target/debug/hookexec" | tee /dev/stderr | grep -qE "$kind"
done

step "x86_64 Linux: the command"
release/smoke.sh target/x86_64-unknown-linux-musl/debug/hookexec

step "aarch64 Linux under qemu: the command"
release/smoke.sh qemu-aarch64-static target/aarch64-unknown-linux-musl/debug/hookexec

step "aarch64 Linux under qemu: the engine's tests"
release/tests-qemu.sh

step "build for $windows"
cargo build --package hookexec-cli --bin hookexec --target "$windows"

step "x86_64 Windows under Wine: the command"
prefix=$(mktemp -d)
trap 'WINEPREFIX=$prefix wineserver -k 2>/dev/null || true; rm -rf "$prefix"' EXIT
export WINEPREFIX=$prefix/wine WINEDEBUG=-all
in_wine=(env HOME="$prefix" wine)
program=target/$windows/debug/hookexec.exe
# Wine 8 lacks the library that Rust's standard library takes random numbers from.
x86_64-w64-mingw32-gcc -shared -o "$(dirname "$program")/bcryptprimitives.dll" \
    release/bcryptprimitives.c -ladvapi32
"${in_wine[@]}" wineboot --init >/dev/null 2>&1
HOME=$prefix release/smoke-windows.sh wine "$program"

step "x86_64 Windows under Wine: the tests beside the code"
cp "$(dirname "$program")"/{,deps/}bcryptprimitives.dll
# Tests with snapshots would ask cargo where the workspace is.
INSTA_WORKSPACE_ROOT=$PWD INSTA_UPDATE=no CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=${in_wine[*]} \
    cargo test --workspace --lib --target "$windows" --no-fail-fast

step "built for ${#targets[@]} targets and Windows; nothing was run for macOS"
