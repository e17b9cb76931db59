#!/usr/bin/env bash
# Packs the command for each target (`release/packages.sh TARGET...`) into `dist/`: archives, npm
# packages, wheels and their checksums. Then installs and uses those of this machine. With
# `--built` it takes the programs that are in the target directory as they are.
set -euo pipefail
cd "$(dirname "$0")/.."

is_built=
if [ "${1:-}" = --built ]; then
    is_built=yes
    shift
fi
here=$(uname -m)-unknown-linux-musl
[ "$#" -gt 0 ] || set -- "$here"

programs=()
for target in "$@"; do
    directory=target
    if [ -n "$is_built" ]; then
        directory=${CARGO_TARGET_DIR:-target}
    elif [ "$target" = "$here" ]; then
        bash release/build.sh "$target"
    else
        # Its program does not run here, so there are no counts to lay it out by.
        cargo build --release --package hookexec-cli --target "$target" --target-dir target
    fi
    program=$directory/$target/release/hookexec
    [[ $target != *-windows-* ]] || program+=.exe
    if [ ! -x "$program" ]; then
        echo "$program does not exist: build it first, or leave \`--built\` out" >&2
        exit 1
    fi
    programs+=("$target=$program")
done

shared=$(mktemp -d)
trap 'rm -rf "$shared"' EXIT
mkdir -p "$shared/man/man1" "$shared/completions"
native=
for pair in "${programs[@]}"; do
    if "${pair#*=}" man "$shared/man/man1" 2>/dev/null; then
        native=${pair#*=}
        break
    fi
done
if [ -z "$native" ]; then
    echo "none of these programs runs here, and one has to write the manual pages: add $here" >&2
    exit 1
fi
for shell in bash elvish fish powershell zsh; do
    "$native" completions "$shell" > "$shared/completions/hookexec.$shell"
done
mv "$shared/completions/hookexec.zsh" "$shared/completions/_hookexec"
mv "$shared/completions/hookexec.powershell" "$shared/completions/_hookexec.ps1"
mv "$shared/completions/hookexec.elvish" "$shared/completions/hookexec.elv"

rm -rf dist
mkdir dist
python3 release/pack.py dist "$shared" "${programs[@]}"
ls -l dist
bash release/test-packages.sh dist
