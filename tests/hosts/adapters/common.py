"""What the programs of all Python adapters share; tests/hosts/frameworks.py runs them."""

import json
import os
import pathlib
import signal

from hookexec import Hooks, Refused

COMMANDS = json.loads(os.environ["COMMANDS"])
SECRET = os.environ["SECRET"]
ran = []
asked = []
turns = set()


def shell(cmd: str) -> str:
    """Runs a command."""
    ran.append(cmd)
    if cmd == "fail":
        raise ValueError("it broke")
    return f"ran {SECRET if cmd == 'cat key' else cmd}"


def approve(request):
    asked.append(request.tool_input["cmd"])
    return "not with force" if "--force" in request.tool_input["cmd"] else True


def kill():
    os.kill(int(pathlib.Path("pid").read_text()), signal.SIGKILL)


def open_hooks():
    hooks = Hooks("hooks.yaml", isolated=True, program=os.path.abspath("hookexec"), approve=approve)

    @hooks.builtin("judge")
    def judge(input):
        turns.add(input.get("turn_id"))
        match input["tool_input"]["cmd"]:
            case "ls":
                return {"updated_input": {"cmd": "ls -l"}, "additional_context": "be brief"}
            case "other":
                return {"updated_tool_name": "other"}
            case "halt":
                return {"continue": False, "stop_reason": "enough"}
            case "kill":
                kill()

    return hooks


def report(drive):
    """`drive(session, commands)` runs an agent and returns what the model read of each call."""
    with open_hooks() as hooks, hooks.session() as session:
        with session.turn("go"):
            texts = drive(session, COMMANDS)
        assert turns == {"turn-1"}, turns
        first = list(ran)
        # The server dies in the first call. The second one works.
        ran.clear()
        drive(session, ["kill", "echo"])
        killed = list(ran)
        try:
            drive(session, ["halt"])
            stopped = None
        except Refused as refused:
            stopped = refused.message
    told = {"texts": texts, "ran": first, "asked": asked, "stopped": stopped, "killed": killed}
    print(json.dumps(told))
