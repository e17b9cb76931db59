"""OpenAI Agents SDK; see tests/hosts/frameworks.py."""

import asyncio
import json
import sys

# The directory has files with the names of packages.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from agents import Agent, Runner, UserError, function_tool, set_tracing_disabled  # noqa: E402
from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402

from hookexec import Refused  # noqa: E402
from hookexec.openai_agents import guarded  # noqa: E402

set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from hookexec import Refused
from hookexec.openai_agents import guarded

set_tracing_disabled(True)
shell = function_tool(common.shell)


def drive(session, commands):
    calls = [
        function_call("shell", json.dumps({"cmd": cmd}), call_id=str(number))
        for number, cmd in enumerate(commands)
    ]
    model = ScriptedModel([*[[call] for call in calls], [assistant_message("done")]])
    agent = guarded(Agent("coder", model=model, tools=[shell]), session)
    try:
        result = asyncio.run(Runner.run(agent, "go", max_turns=20))
    except UserError as error:
        if isinstance(error.__cause__, Refused):
            raise error.__cause__ from None
        raise
    items = [it for it in result.new_items if it.type == "tool_call_output_item"]
    return [it.output for it in items]


common.report(drive)
