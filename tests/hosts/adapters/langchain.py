"""LangChain; see tests/hosts/frameworks.py."""

import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402

from hookexec.langchain import HooksMiddleware  # noqa: E402


class Played(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


@tool
def shell(cmd: str) -> str:
    """Runs a command."""
    try:
        return common.shell(cmd)
    except ValueError as error:
        from langchain_core.tools import ToolException

        raise ToolException(str(error)) from error


shell.handle_tool_error = True


def drive(session, commands):
    calls = [
        AIMessage("", tool_calls=[{"name": "shell", "args": {"cmd": cmd}, "id": str(number)}])
        for number, cmd in enumerate(commands)
    ]
    model = Played(messages=iter([*calls, AIMessage("done")]))
    agent = create_agent(model, [shell], middleware=[HooksMiddleware(session)])
    result = agent.invoke({"messages": [("user", "go")]})
    return [it.content for it in result["messages"] if isinstance(it, ToolMessage)]


common.report(drive)
