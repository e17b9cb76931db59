"""Pydantic AI; see tests/hosts/frameworks.py."""

import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from pydantic_ai import Agent, BinaryContent, ToolFailed, ToolReturn  # noqa: E402
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


def images(session):
    """Returns what the model reads of a tool that gives images."""
    image = BinaryContent(b"\x89PNG\xff", media_type="image/png")

    def show():
        return ToolReturn([image, "a cat"], content=["see", image])

    read = []

    def answer(messages, info):
        if len(messages) == 1:
            return ModelResponse(parts=[ToolCallPart("show", {})])
        read.extend(part.content for part in messages[-1].parts)
        return ModelResponse(parts=[TextPart("done")])

    capabilities = [HooksCapability(session)]
    Agent(FunctionModel(answer), tools=[show], capabilities=capabilities).run_sync("go")
    assert read == [[image, "a cat"], ["see", image]], read


common.report(drive)
with common.open_hooks() as hooks:
    images(hooks.session())
