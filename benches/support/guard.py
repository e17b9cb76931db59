# Denies `rm`, as users write such a guard for Claude Code: exit code 2, and the reason on stderr.
import json
import re
import sys

call = json.load(sys.stdin)
if re.search(r"\brm\b", call["tool_input"].get("command", "")):
    print("rm is not allowed here", file=sys.stderr)
    sys.exit(2)
