"""The agent of docs/hosts.md, with a model that is played."""

import json

from agents import function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

COMMANDS = ["ls", "rm -r build", "git push"]


def approve(request):
    return False


def run(cmd):
    with open("ran", "a") as file:
        print(cmd, file=file)
    return f"ran {cmd}"


@function_tool
def shell(cmd: str) -> str:
    """Runs a command."""
    return run(cmd)


set_tracing_disabled(True)
calls = [[function_call("shell", json.dumps({"cmd": cmd}), call_id=cmd)] for cmd in COMMANDS]
model = ScriptedModel([*calls, [assistant_message("It is clean.")]])
