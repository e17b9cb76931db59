#!/usr/bin/env python3
"""A tool that lives in a hook: the model learns of it before it is called, and the hook answers it.

hook.before_llm adds the definition of `get_weather` to the request; hook.before_tool answers a call of
it with `respond`, so that the host needs no such tool. See docs/serve.md. Standard library only.
"""

import json
import signal
import sys

REPORTS = {
    "beijing": ("sunny", 15, 45),
    "shanghai": ("cloudy", 18, 72),
    "guangzhou": ("light rain", 24, 88),
}

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Such as Beijing"}},
            "required": ["city"],
        },
    },
}


def weather(city):
    """Returns the tool's result for a city."""
    report = REPORTS.get(str(city).strip().lower())
    if report is None:
        return {"for_llm": f"There is no weather report for {city!r}.", "is_error": True}
    sky, degrees, humidity = report
    return {"for_llm": f"Weather in {city}: {sky}, {degrees} °C, humidity {humidity} %"}


def before_llm(params):
    """Adds the tool, unless a host that keeps its tools has it from last time."""
    tools = params.get("tools", [])
    if any(tool.get("function", {}).get("name") == "get_weather" for tool in tools):
        return {"action": "continue"}
    return {"action": "modify", "request": {"tools": [*tools, TOOL]}}


def before_tool(params):
    """Answers a call of the tool; every other call is none of our business."""
    if params["tool"] != "get_weather":
        return {"action": "continue"}
    city = params.get("arguments", {}).get("city", "")
    return {"action": "respond", "result": weather(city)}


METHODS = {
    "hook.hello": lambda params: {"ok": True, "name": "weather"},
    "hook.before_llm": before_llm,
    "hook.before_tool": before_tool,
}


def answer(message):
    """Returns the answer to one call."""
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    method = METHODS.get(message.get("method"))
    if method is None:
        return reply | {"error": {"code": -32601, "message": "unknown method"}}
    try:
        return reply | {"result": method(message.get("params") or {})}
    except Exception as error:  # The host decides what a failure means; this process goes on.
        return reply | {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}


def leave(*_):
    """Ends the process in good order on a signal."""
    raise SystemExit(0)


def main():
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    # The end of stdin is the end of the host: the loop ends with it.
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        if "id" in message:
            print(json.dumps(answer(message)), flush=True)


if __name__ == "__main__":
    main()
