"""Microsoft Agent Framework, a host of AGENT-HOOKS; see tests/hosts/frameworks.py."""

import asyncio
import os
import pathlib
import sys

# This file has the name of the package.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from agent_framework import (  # noqa: E402
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    create_agent_hooks_middleware,
)
from agent_hooks import InterceptionBlocked  # noqa: E402

from hookexec import Hooks, Refused  # noqa: E402
from hookexec.agent_hooks import HooksInterceptor  # noqa: E402


class Played(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    def __init__(self, commands):
        super().__init__()
        self.commands = list(commands)

    async def _inner_get_response(self, *, messages, stream, options, **kwargs):
        content = Content.from_text("done")
        if self.commands:
            call_id, arguments = str(len(self.commands)), {"cmd": self.commands.pop(0)}
            content = Content.from_function_call(call_id, "shell", arguments=arguments)
        return ChatResponse(messages=Message("assistant", [content]))


async def drive_async(session, commands):
    interceptor = HooksInterceptor(session.hooks)
    hooks = create_agent_hooks_middleware([interceptor], resolver=interceptor)
    agent = Agent(Played(commands), tools=[common.shell], middleware=[hooks])
    try:
        response = await agent.run("go")
    except InterceptionBlocked as error:
        raise Refused(error.result.verdict.reason) from error
    contents = [it for message in response.messages for it in message.contents]
    return [str(it.result) for it in contents if it.type == "function_result"]


def drive(session, commands):
    return asyncio.run(drive_async(session, commands))


POINTS = """
hooks:
  user_prompt_submit: [{ type: builtin, command: context }]
  before_llm_call: [{ type: builtin, command: request }]
  after_llm_call: [{ type: builtin, command: response }]
  after_agent_complete: [{ type: builtin, command: end }]
"""


async def points():
    """The hooks of the points around tools."""
    pathlib.Path("points.yaml").write_text(POINTS)
    hooks = Hooks("points.yaml", isolated=True, program=os.path.abspath("hookexec"))
    is_final = []

    @hooks.builtin("context")
    def context(input):
        return {"additional_context": "be brief"}

    @hooks.builtin("request")
    def request(input):
        content = input["messages"][-1]["content"]
        return {"updated_messages": [{"role": "user", "content": f"[{content}]"}]}

    @hooks.builtin("response")
    def response(input):
        return {"updated_response": {**input["response"], "content": "rewritten"}}

    @hooks.builtin("end")
    def end(input):
        return {"decision": "deny", "reason": "not that"} if is_final else None

    class Echo(Played):
        async def _inner_get_response(self, *, messages, stream, options, **kwargs):
            sent.append(messages[-1].text)
            return ChatResponse(messages=Message("assistant", ["hello"]))

    sent = []
    async with hooks:
        middleware = create_agent_hooks_middleware([HooksInterceptor(hooks)])
        agent = Agent(Echo([]), middleware=[middleware])
        assert (await agent.run("go")).text == "rewritten"
        assert sent == ["[go\n\nbe brief]"], sent
        is_final.append(True)
        try:
            await agent.run("go")
            raise AssertionError("the answer got out")
        except InterceptionBlocked as error:
            assert error.result.verdict.reason == "not that", error


asyncio.run(points())
common.report(drive)
