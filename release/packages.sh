#!/usr/bin/env bash
# Packs the command for each target (`release/packages.sh TARGET...`) into `dist/`: archives, Debian
# packages, npm packages, wheels, lists of components, the installer and their checksums. Then
# installs and uses those of this machine. With `--built` it takes the programs that are in the
# target directory as they are. Installs the cargo tools that are missing into target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."

is_built=
if [ "${1:-}" = --built ]; then
    is_built=yes
    shift
fi
here=$(uname -m)-unknown-linux-musl
[ "$#" -gt 0 ] || set -- "$here"
# Where `release/program.sh` builds. cargo-deb takes the program from there too.
[ -n "$is_built" ] || export CARGO_TARGET_DIR=$PWD/target
directory=${CARGO_TARGET_DIR:-target}

export PATH=$PWD/target/tools/bin:$PATH
for tool in cargo-deb@3.8.0 cargo-cyclonedx@0.5.9; do
    if ! command -v "${tool%@*}" >/dev/null; then
        echo "== installing $tool into target/tools"
        cargo install --quiet --locked --root target/tools --target-dir target/tools "$tool"
    fi
done

programs=()
for target in "$@"; do
    [ -n "$is_built" ] || bash release/program.sh "$target"
    program=$directory/$target/release/hookexec
    [[ $target != *-windows-* ]] || program+=.exe
    if [ ! -x "$program" ]; then
        echo "$program does not exist: build it first, or leave \`--built\` out" >&2
        exit 1
    fi
    programs+=("$target=$program")
done

# What is the same for every target. `package.metadata.deb` in crates/cli/Cargo.toml names it too.
shared=target/packages/shared
rm -rf target/packages dist
mkdir -p "$shared/man/man1" "$shared/completions" dist
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

# Equal input gives equal packages: each file has the date of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 499162500)
export SOURCE_DATE_EPOCH
version=$(cargo pkgid --package hookexec-cli)
version=${version##*@}
date=$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
gzip -9n > target/packages/changelog.gz <<CHANGELOG
hookexec ($version) unstable; urgency=medium

  * Version $version: see CHANGELOG.md of the archive.

 -- The hookexec contributors <hookexec@REPOSITORY.invalid>  $date
CHANGELOG

for target in "$@"; do
    if [[ $target == *-linux-* ]]; then
        cargo deb --quiet --package hookexec-cli --no-build --no-strip --no-dbgsym \
            --target "$target" --output dist
    fi
    # It writes beside the Cargo.toml of each package.
    cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$target" \
        --override-filename "components-$target"
    python3 release/components.py "crates/cli/components-$target.json" \
        > "dist/hookexec-$version-$target.cdx.json"
    rm -f {.,benches/counts,crates/*}/"components-$target.json"
done

python3 release/pack.py dist "$shared" "${programs[@]}"
ls -l dist
bash release/test-packages.sh dist
