#!/usr/bin/env bash
# Appends one JSON line per tool call: which tool, and whether it failed.
set -euo pipefail
log="${XDG_STATE_HOME:-$HOME/.local/state}/hookexec-guard"
mkdir -p "$log"
jq -c '{session: .session_id, tool: .tool_name, failed: (.tool_error // false)}' >> "$log/tools.jsonl"
