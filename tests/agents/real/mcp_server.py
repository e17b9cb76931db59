#!/usr/bin/env python3
"""An MCP server over stdio with one tool, `do-it`, which writes the file named on the command line.

    mcp_server.py FILE

Messages are JSON-RPC, one on each line. Notifications get no answer.
"""

import json
import sys
from pathlib import Path

TOOL = {
    "name": "do-it",
    "description": "Does it.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method, params, mark):
    """Returns the result for one request, or None for an unknown method."""
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
            "serverInfo": {"name": "my-kit", "version": "1"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call" and params.get("name") == TOOL["name"]:
        mark.write_text("called")
        return {"content": [{"type": "text", "text": "IT-IS-DONE"}]}
    return None


def main():
    mark = Path(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {}, mark)
        said = {"error": {"code": -32601, "message": "method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)


if __name__ == "__main__":
    main()
