"""The server of docs/hosts.md."""

from mcp.server import MCPServer

server = MCPServer("tools")


def approve(request):
    return False


@server.tool()
def shell(cmd: str) -> str:
    """Runs a command."""
    with open("ran", "a") as file:
        print(cmd, file=file)
    return f"ran {cmd}"
