#!/usr/bin/env bash
# Context for the model, as JSON; plain text would do as well.
set -euo pipefail
jq -c '{hook_specific_output: {additional_context: "Hooks watch this session (\(.source // "startup")). Recursive deletion is refused; work on single files."}}'
