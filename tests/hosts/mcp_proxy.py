"""A client and a server of the Python SDK with `hookexec mcp` between them; see frameworks.py."""

import asyncio
import os
import pathlib
import sys

from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

COMMANDS = ["rm -r x", "git push", "ls", "cat key", "fail", "echo"]
HOOKS = """
hooks:
  pre_tool_use:
    - matcher: mcp__tools__shell
      hooks:
        - type: command
          mutates: true
          command: grep -q '"ls"' && echo '{"updated_input":{"cmd":"ls -l"}}' || true
        - type: command
          command: |
            case "$(cat)" in
              *"rm -r"*) echo not that >&2; exit 2 ;;
              *"git push"*) echo '{"decision":"ask","reason":"sure?"}' ;;
              *echo*) echo '{"additional_context":"be brief"}' ;;
            esac
  tool_response_transform:
    - matcher: mcp
      hooks: [{ type: builtin, command: redact_secrets }]
"""
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"

server = MCPServer("its own name")


@server.tool()
async def shell(cmd: str, ctx: Context) -> str:
    with pathlib.Path("ran").open("a") as file:
        print(cmd, file=file)
    await ctx.report_progress(1, 1, f"ran {cmd}")
    if cmd == "fail":
        raise ToolError(f"it broke {SECRET}")
    return f"ran {SECRET if cmd == 'cat key' else cmd}"


async def drive(mode):
    pathlib.Path("hooks.yaml").write_text(HOOKS)
    pathlib.Path("ran").unlink(missing_ok=True)
    progress = []

    async def note(_done, _total, message):
        progress.append(message)

    arguments = ["mcp", "--name", "tools", "--isolated", "--config", "hooks.yaml", "--",
                 sys.executable, __file__, "serve"]
    parameters = StdioServerParameters(command=os.environ["HOOKEXEC"], args=arguments)
    async with Client(parameters, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["shell"]
        calls = [client.call_tool("shell", {"cmd": it}, progress_callback=note) for it in COMMANDS]
        results = dict(zip(COMMANDS, await asyncio.gather(*calls), strict=True))
    said = {cmd: "\n".join(block.text for block in it.content) for cmd, it in results.items()}
    failed = [cmd for cmd, it in results.items() if it.is_error]
    assert said["rm -r x"] == "Tool call denied: not that", said
    assert "no one can be asked: sure?" in said["git push"], said
    assert said["ls"] == "ran ls -l", said
    assert said["echo"] == "ran echo\nbe brief", said
    assert "it broke" in said["fail"], said
    assert failed == ["rm -r x", "git push", "fail"], failed
    assert not any(SECRET in it.model_dump_json() for it in results.values()), results
    ran = ["cat key", "echo", "fail", "ls -l"]
    assert sorted(pathlib.Path("ran").read_text().splitlines()) == ran
    assert sorted(progress) == [f"ran {cmd}" for cmd in ran], progress


if sys.argv[1:] == ["serve"]:
    server.run()
else:
    for mode in ["auto", "legacy"]:
        asyncio.run(drive(mode))
