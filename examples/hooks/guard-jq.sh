#!/usr/bin/env bash
# Denies destructive commands. Ends with 2 whenever it can't tell: a guard that stumbles must not
# let the command through.
set -uo pipefail
trap 'exit 2' ERR

event=$(cat)
command=$(jq -er '.tool_input | .cmd // .command | strings' <<<"$event") || {
    echo "no command to look at, refused" >&2
    exit 2
}

recursive_rm='(^|[[:space:];&|(`"'\''/\\])rm[[:space:]]+([^;&|]*[[:space:]])?["'\'']?(-[[:alnum:]_]*[rR]|--r)'
raw_disk='(^|[[:space:];&|(/])(mkfs|dd[[:space:]][^;&|]*of=/dev/)|>[[:space:]]*/dev/(sd|nvme|vd|hd|disk)'

if [[ $command =~ $recursive_rm || $command =~ $raw_disk ]]; then
    jq -nc --arg command "$command" '{
        decision: "deny",
        reason: "destructive command refused: \($command); delete single files by name, or ask the user to do it"
    }'
fi
