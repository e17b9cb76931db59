"""A client of MCP; see tests/hosts/frameworks.py."""

import asyncio
import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from mcp import Client  # noqa: E402
from mcp.server import MCPServer  # noqa: E402
from mcp.server.mcpserver.exceptions import ToolError  # noqa: E402

from hookexec import Refused  # noqa: E402
from hookexec.mcp import guarded  # noqa: E402

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


common.report(drive)
