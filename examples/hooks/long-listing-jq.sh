#!/usr/bin/env bash
# Adds -l to an `ls`, whatever its arguments are; nothing that is more than one command.
set -euo pipefail
jq -c '
    .tool_input
    | (if has("cmd") then "cmd" else "command" end) as $key
    | .[$key]
    | strings
    | select(test("^ls( [^;&|<>`$\\n]*)?$"))
    | {hook_specific_output: {updated_input: {($key): sub("^ls"; "ls -l")}}}
'
