#!/usr/bin/env bash
# Builds the command as it is released for Linux: one file that needs no library, laid out by what it
# does. Takes two builds: the first counts what runs when agents call it, the second puts that together
# and everything else apart. Needs musl (`rustup target add`) and `rustup component add llvm-tools`.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-x86_64-unknown-linux-musl}
host=$(rustc -vV | sed -n 's/^host: //p')
tools=$(rustc --print sysroot)/lib/rustlib/$host/bin
if [ ! -x "$tools/llvm-profdata" ]; then
    echo "llvm-profdata is not there: run \`rustup component add llvm-tools\`" >&2
    exit 1
fi
learnt=$PWD/target/learnt
rm -rf "$learnt" && mkdir -p "$learnt"

# Without relocation nothing is left to do at the start. The symbol is one that the standard library
# looks for at run time: without it, it would fork where it could spawn.
mapfile -t flags < release/flags

# The HTTP client has parts in C, which use no library. So the system's compiler serves for musl too.
compiler=CC_${target//-/_}
export "$compiler=${!compiler:-cc}"

# Builds into the directory `$1` with the flags that follow.
build() {
    local directory=$1
    shift
    CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}"$'\x1f'"$*") \
        cargo build --release --target "$target" --target-dir "$directory"
}

echo "== a build that counts"
build target/counting -C profile-generate="$learnt/counts"

echo "== what agents do"
bash release/practise.sh "target/counting/$target/release/hookexec" "$learnt/counts"
# Each count stands for a thousand: one or two are lost where the library's own parts are guessed at.
"$tools/llvm-profdata" merge -o "$learnt/profile" "$learnt"/counts/*/*
"$tools/llvm-profdata" merge -o "$learnt/profile" --weighted-input=1000,"$learnt/profile"
# The system reads a program in pieces as it runs. So each function that ran lies beside those that ran
# with it, what every start needs first.
for scene in start command other; do
    "$tools/llvm-profdata" merge -o "$learnt/$scene" "$learnt/counts/$scene"
    "$tools/llvm-profdata" show --all-functions --counts "$learnt/$scene" | awk '
        /^  [^ ].*:$/ { name = $1; sub(/:$/, "", name); sub(/.*;/, "", name) }
        /Block counts: \[.*[1-9]/ { print name }'
done | awk '!seen[$0]++' > "$learnt/order"
echo "$(wc -l < "$learnt/order") functions ran"

# Functions are not split into what ran and what did not: musl's unwinder complains of it at each panic.
echo "== the build itself"
build target \
    -C profile-use="$learnt/profile" \
    -C link-arg=-fuse-ld=lld -C link-arg=-B"$tools/gcc-ld" \
    -C link-arg=-Wl,--symbol-ordering-file="$learnt/order",--no-warn-symbol-ordering
ls -l "target/$target/release/hookexec"
