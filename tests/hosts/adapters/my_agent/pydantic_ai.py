"""The agent of docs/hosts.md, with a model that is played."""

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

COMMANDS = ["ls", "rm -r build", "git push"]


def approve(request):
    return False


def shell(cmd: str) -> str:
    """Runs a command."""
    with open("ran", "a") as file:
        print(cmd, file=file)
    return f"ran {cmd}"


def answer(messages, info):
    if not COMMANDS:
        return ModelResponse(parts=[TextPart("It is clean.")])
    return ModelResponse(parts=[ToolCallPart("shell", {"cmd": COMMANDS.pop(0)})])


model = FunctionModel(answer)
