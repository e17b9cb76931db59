#!/bin/sh
# Installs the command hookexec for the user who runs this script: `sh install.sh --help`.
# Everything is in functions and the last line calls them: a script that was cut off does nothing.
set -eu

# The release that this script belongs to, and where its files lie. `release/pack.py` fills them in.
version=
address=

usage() {
    cat <<'TEXT'
Installs the command hookexec: gets the archive for this system, checks its SHA-256, and puts the
program into a directory of yours. A program of that name that is there is replaced in one step.

usage: install.sh [--from ADDRESS] [--version VERSION] [--to DIRECTORY]

  --from ADDRESS     the directory of the release, with the archives and SHA256SUMS: https://...
  --version VERSION  the version of the archive, such as 1.2.3
  --to DIRECTORY     where the program goes [default: ~/.local/bin]

It needs curl, tar, and sha256sum or shasum.
TEXT
}

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

read_arguments() {
    to=
    while [ "$#" -gt 0 ]; do
        case $1 in
            -h | --help)
                usage
                exit 0
                ;;
            --from | --version | --to)
                [ "$#" -gt 1 ] || fail "\`$1\` needs a value"
                case $1 in
                    --from) address=${2%/} ;;
                    --version) version=${2#v} ;;
                    --to) to=$2 ;;
                esac
                shift 2
                ;;
            *) fail "unknown argument \`$1\`: see \`install.sh --help\`" ;;
        esac
    done
    [ -n "$address" ] || fail "no address: use \`--from ADDRESS\`"
    [ -n "$version" ] || fail "no version: use \`--version VERSION\`"
    case $version in
        *[!0-9A-Za-z.+-]*) fail "\`$version\` is not a valid version" ;;
    esac
    if [ -z "$to" ]; then
        [ -n "${HOME:-}" ] || fail "HOME is not set: use \`--to DIRECTORY\`"
        to=$HOME/.local/bin
    fi
    case $address in
        https://*) protocol='=https' ;;
        # Only on this machine: on a network, an attacker could change both the archive and its
        # checksum.
        http://127.0.0.1:*/* | http://localhost:*/*) protocol='=http' ;;
        *) fail "the address must start with https://: $address" ;;
    esac
}

find_target() {
    system=$(uname -s)
    processor=$(uname -m)
    # A shell that runs translated on Apple's processors says x86_64.
    if [ "$system" = Darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then
        processor=arm64
    fi
    case $processor in
        x86_64 | amd64) processor=x86_64 ;;
        aarch64 | arm64) processor=aarch64 ;;
        *) fail "no archive supports the processor $processor: build it from source" ;;
    esac
    case $system in
        Linux) target=$processor-unknown-linux-musl ;;
        Darwin) target=$processor-apple-darwin ;;
        *) fail "no archive supports the system $system: build it from source" ;;
    esac
}

# Gets the file `$1` of the release into the temporary directory.
get() {
    curl --proto "$protocol" --fail --silent --show-error --location --retry 2 \
        --connect-timeout 30 --output "$temporary/$1" "$address/$1" ||
        fail "can't get $address/$1"
}

sha256_of() {
    if command -v sha256sum >/dev/null; then
        sum=$(sha256sum <"$1")
    elif command -v shasum >/dev/null; then
        sum=$(shasum -a 256 <"$1")
    else
        fail "neither sha256sum nor shasum is there: install one of them"
    fi
    echo "${sum%% *}"
}

check() {
    get SHA256SUMS
    wanted=$(awk -v name="$1" '$2 == name || $2 == "*" name { print $1 }' "$temporary/SHA256SUMS")
    [ -n "$wanted" ] || fail "SHA256SUMS does not name $1: nothing was installed"
    found=$(sha256_of "$temporary/$1")
    [ "$found" = "$wanted" ] ||
        fail "$1 has the SHA-256 $found, and SHA256SUMS says $wanted: nothing was installed"
}

# In the directory itself, so that the last step is a rename.
place() {
    [ ! -d "$to/hookexec" ] || fail "$to/hookexec is a directory: move it away"
    mkdir -p "$to" || fail "can't make the directory $to"
    draft=$(mktemp "$to/.hookexec.XXXXXX") || fail "can't write into $to"
    cp "$temporary/$stem/hookexec" "$draft"
    chmod 755 "$draft"
    started=$("$draft" --version) || fail "the program does not start on this system"
    [ "$started" = "hookexec $version" ] ||
        fail "the archive holds \`$started\`, not version $version: nothing was installed"
    mv -f "$draft" "$to/hookexec"
    draft=
}

clean_up() {
    rm -rf "$temporary"
    [ -z "$draft" ] || rm -f "$draft"
}

main() {
    read_arguments "$@"
    for program in curl tar awk; do
        command -v "$program" >/dev/null || fail "$program is not there: install it"
    done
    find_target
    draft=
    temporary=$(mktemp -d)
    trap clean_up EXIT
    trap 'exit 1' HUP INT TERM
    stem=hookexec-$version-$target
    get "$stem.tar.gz"
    check "$stem.tar.gz"
    tar -xzf "$temporary/$stem.tar.gz" -C "$temporary" "$stem/hookexec" ||
        fail "$stem.tar.gz has no program: nothing was installed"
    place
    echo "installed $to/hookexec ($version)"
    case :${PATH:-}: in
        *:"$to":*) ;;
        *) echo "$to is not on your PATH: add it, or call the program by its path" ;;
    esac
}

main "$@"
