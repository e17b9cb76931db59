"""The Claude Agent SDK; see `claude` in tests/hosts/frameworks.py."""

import asyncio
import sys

# This file has the name of the package.
sys.path.pop(0)

from claude_agent_sdk import ClaudeAgentOptions, query  # noqa: E402


async def main():
    async for _ in query(prompt="go", options=ClaudeAgentOptions(allowed_tools=["Bash"])):
        pass


asyncio.run(main())
