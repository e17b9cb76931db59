// The Claude Agent SDK; see `claude` in tests/hosts/frameworks.py.

import { query } from "@anthropic-ai/claude-agent-sdk";

for await (const _ of query({ prompt: "go", options: { allowedTools: ["Bash"] } })) {
  // The model's requests tell what happened.
}
