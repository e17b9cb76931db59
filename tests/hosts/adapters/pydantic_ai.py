"""Pydantic AI; see tests/hosts/frameworks.py."""

import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from pydantic_ai import Agent, ToolFailed  # noqa: E402
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import FunctionModel  # noqa: E402

from hookexec.pydantic_ai import HooksCapability  # noqa: E402


def shell(cmd: str) -> str:
    """Runs a command."""
    try:
        return common.shell(cmd)
    except ValueError as error:
        raise ToolFailed(str(error)) from error


def drive(session, commands):
    left = list(commands)

    def answer(messages, info):
        if not left:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("shell", {"cmd": left.pop(0)})])

    agent = Agent(FunctionModel(answer), tools=[shell], capabilities=[HooksCapability(session)])
    parts = [part for it in agent.run_sync("go").all_messages() for part in it.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


common.report(drive)
