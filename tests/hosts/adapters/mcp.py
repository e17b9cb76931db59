"""A client of MCP; see tests/hosts/frameworks.py."""

import asyncio
import os
import pathlib
import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from mcp import Client  # noqa: E402
from mcp.server import MCPServer  # noqa: E402
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402

from hookexec import Hooks, Refused  # noqa: E402
from hookexec.mcp import guarded  # noqa: E402

NAMED = """
hooks:
  pre_tool_use:
    - matcher: mcp__tools__shell
      hooks: [{ type: builtin, command: deny }]
"""
server = MCPServer("tools")


@server.tool()
def shell(cmd: str) -> str:
    try:
        return common.shell(cmd)
    except ValueError as error:
        raise ToolError(str(error)) from error


async def drive_async(session, commands):
    texts, refused = [], None
    async with Client(server) as client:
        guarded(client, session)
        try:
            for cmd in commands:
                result = await client.call_tool("shell", {"cmd": cmd})
                assert common.SECRET not in result.model_dump_json()
                texts.append("\n".join(block.text for block in result.content))
        except Refused as error:
            # The client would wrap it in an `ExceptionGroup`.
            refused = error
    if refused is not None:
        raise refused
    return texts


def drive(session, commands):
    return asyncio.run(drive_async(session, commands))


async def named():
    """Hooks know the server."""
    pathlib.Path("named.yaml").write_text(NAMED)
    hooks = Hooks("named.yaml", isolated=True, program=os.path.abspath("hookexec"))
    hooks.builtin("deny")(lambda input: {"decision": "deny", "reason": input["tool_name"]})
    async with hooks, hooks.session() as session, Client(server) as client:
        guarded(client, session, server="tools")
        common.ran.clear()
        result = await client.call_tool("shell", {"cmd": "ls"})
        assert common.ran == [] and "mcp__tools__shell" in result.content[0].text, result


asyncio.run(named())
common.report(drive)
