"""An MCP server with tools that are hooks, by the official SDK.

`mcp_guard.py` speaks over stdio. `mcp_guard.py http` speaks over streamable HTTP, and prints its port.
"""

import socket
import sys
from typing import Any

from mcp.server import MCPServer

server = MCPServer("guard")


def judge(tool_input: dict[str, Any]) -> dict[str, Any]:
    command = tool_input.get("cmd", tool_input.get("command", ""))
    if command.startswith("rm"):
        return {"decision": "deny", "reason": f"`{command}` deletes"}
    return {"decision": "allow"} if command == "ls" else {}


@server.tool()
def guard(tool_name: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Answers with an object."""
    return judge(tool_input)


@server.tool()
def words(tool_name: str, tool_input: dict[str, Any]) -> str:
    """Answers with a text that is an object."""
    import json

    return json.dumps(judge(tool_input))


@server.tool()
def command(text: str) -> dict[str, Any]:
    """Answers about one text."""
    return judge({"cmd": text})


@server.tool()
def prose(tool_name: str) -> str:
    """Answers with a text."""
    return "looks fine to me"


@server.tool()
def quiet():
    """Answers nothing."""


@server.tool()
def crash(tool_name: str) -> dict[str, Any]:
    """Fails."""
    raise ValueError("boom")


@server.tool()
async def hang(tool_name: str) -> dict[str, Any]:
    """Never answers."""
    import anyio

    await anyio.sleep_forever()
    return {}


if sys.argv[1:] == ["http"]:
    import uvicorn

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])
else:
    server.run()
