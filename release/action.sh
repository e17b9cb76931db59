#!/usr/bin/env bash
# The only step of action.yml, which sets the environment: installs hookexec, checks the hooks files
# of a repository, and runs their tests.
set -euo pipefail

if [ -n "$INPUT_PATH" ]; then
    program=$(realpath "$INPUT_PATH")
else
    # The first version in the file is that of the workspace.
    own=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$ACTION/Cargo.toml" | head -n 1)
    version=${INPUT_VERSION:-$own}
    program=$RUNNER_TEMP/hookexec/hookexec
    sh "$ACTION/release/install.sh" --version "$version" \
        --from "${INPUT_FROM:-$RELEASES/v$version}" --to "${program%/*}"
fi
if [ ! -x "$program" ]; then
    echo "::error::there is no program $program"
    exit 1
fi
dirname "$program" >> "$GITHUB_PATH"
echo "program=$program" >> "$GITHUB_OUTPUT"

cd "$INPUT_DIRECTORY"
files=()
while read -r file; do
    [ -z "$file" ] || files+=("$file")
done <<< "$INPUT_FILES"
status=0
# bash 3.2, that of macOS, takes an empty array for an unset variable.
"$program" check ${files[@]+"${files[@]}"} || status=$?
case $INPUT_TEST in
    true) "$program" test --format github || status=$? ;;
    false) ;;
    *)
        echo "::error::\`test\` must be true or false, not \`$INPUT_TEST\`"
        exit 1
        ;;
esac
exit "$status"
