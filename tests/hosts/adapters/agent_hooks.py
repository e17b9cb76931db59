"""Microsoft Agent Framework, a host of AGENT-HOOKS; see tests/hosts/frameworks.py."""

import asyncio
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

from hookexec import Refused  # noqa: E402
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


common.report(drive)
