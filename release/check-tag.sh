#!/usr/bin/env bash
# Refuses a tag (`$1`) that is not `v` and the version of the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."
tag=${1:?usage: check-tag.sh TAG}
version=$(cargo pkgid --package hookexec-cli)
version=${version##*@}
if [ "$tag" != "v$version" ]; then
    echo "the tag $tag does not name the version $version of Cargo.toml: use the tag v$version," \
        "or change \`version\` there" >&2
    exit 1
fi
