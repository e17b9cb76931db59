"""LangChain; see tests/hosts/frameworks.py."""

import asyncio
import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import AIMessage, ToolMessage  # noqa: E402
from langchain_core.tools import ToolException, tool  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402
from langgraph.types import Command  # noqa: E402

from hookexec.langchain import HooksMiddleware, ask_by_interrupt  # noqa: E402


class Played(GenericFakeChatModel):
    def bind_tools(self, tools, **kwargs):
        return self


@tool
def shell(cmd: str) -> str:
    """Runs a command."""
    try:
        return common.shell(cmd)
    except ValueError as error:
        raise ToolException(str(error)) from error


shell.handle_tool_error = True


def drive(session, commands):
    calls = [
        AIMessage("", tool_calls=[{"name": "shell", "args": {"cmd": cmd}, "id": str(number)}])
        for number, cmd in enumerate(commands)
    ]
    model = Played(messages=iter([*calls, AIMessage("done")]))
    agent = create_agent(model, [shell], middleware=[HooksMiddleware(session)])
    asked = {"messages": [("user", "go")]}
    # The server is killed under the async methods of the middleware.
    is_async = commands[0] == "kill"
    result = asyncio.run(agent.ainvoke(asked)) if is_async else agent.invoke(asked)
    return [it.content for it in result["messages"] if isinstance(it, ToolMessage)]


def pause(session):
    """Returns what was run before an answer to the interrupt, and after each answer."""
    ran = []
    for answer in [True, "not today"]:
        common.ran.clear()
        call = {"name": "shell", "args": {"cmd": "git push"}, "id": "1"}
        model = Played(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
        middleware = [HooksMiddleware(session)]
        saver = InMemorySaver()
        agent = create_agent(model, [shell], middleware=middleware, checkpointer=saver)
        thread = {"configurable": {"thread_id": "1"}}
        paused = agent.invoke({"messages": [("user", "go")]}, thread)
        asked = paused["__interrupt__"][0].value
        assert asked["tool_input"] == {"cmd": "git push"}, asked
        ran.append(list(common.ran))
        result = agent.invoke(Command(resume=answer), thread)
        ran.append([*common.ran, result["messages"][-2].text])
    return ran


common.report(drive)
with common.open_hooks() as hooks:
    hooks.approve = ask_by_interrupt
    expected = [[], ["git push", "ran git push"], [], ["Tool call denied: not today"]]
    assert pause(hooks.session()) == expected
