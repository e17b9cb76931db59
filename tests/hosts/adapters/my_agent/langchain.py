"""The agent of docs/hosts.md, with a model that is played."""

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

COMMANDS = ["ls", "rm -r build", "git push"]


def approve(request):
    return False


def run(cmd):
    with open("ran", "a") as file:
        print(cmd, file=file)
    return f"ran {cmd}"


@tool
def shell(cmd: str) -> str:
    """Runs a command."""
    return run(cmd)


class Played(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


calls = [{"name": "shell", "args": {"cmd": cmd}, "id": cmd} for cmd in COMMANDS]
answers = [AIMessage("", tool_calls=[call]) for call in calls]
model = Played(messages=iter([*answers, AIMessage("It is clean.")]))
