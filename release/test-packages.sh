#!/usr/bin/env bash
# Installs the packages of a directory (`$1`) in fresh places, without the network, and uses them.
# Names of files in `release/tests` after it choose which: `test-packages.sh dist npm wheel`.
# Needs node with npm, python3 with venv, curl, and dpkg and lintian for the Debian packages.
set -euo pipefail
dist=$(realpath "${1:?usage: test-packages.sh DIST [TEST...]}")
shift
release=$(cd "$(dirname "$0")" && pwd)
[ "$#" -gt 0 ] || set -- archive deb npm wheel plugins installer ci foreign clients

source "$release/tests/common.sh"
for part in "$@"; do
    cd "$place"
    source "$release/tests/$part.sh"
done
step "every package works"
