"""The agent of docs/hosts.md, with a model that is played."""

from agent_framework import (
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
)

COMMANDS = ["ls", "rm -r build", "git push"]


def approve(request):
    return False


def shell(cmd: str) -> str:
    """Runs a command."""
    with open("ran", "a") as file:
        print(cmd, file=file)
    return f"ran {cmd}"


class Played(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **kwargs):
        content = Content.from_text("It is clean.")
        if COMMANDS:
            arguments = {"cmd": COMMANDS.pop(0)}
            content = Content.from_function_call(arguments["cmd"], "shell", arguments=arguments)
        return ChatResponse(messages=Message("assistant", [content]))


model = Played()
