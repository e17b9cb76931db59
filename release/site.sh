#!/usr/bin/env bash
# Builds the site of the documentation, and installs mdBook into target/tools when it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/target/tools/bin:$PATH
if ! command -v mdbook >/dev/null; then
    echo "== installing mdBook into target/tools"
    cargo install --quiet --locked --root target/tools --target-dir target/tools mdbook@0.5.4
fi
exec python3 release/site.py
