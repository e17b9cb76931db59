"""The agent of docs/hosts.md, with a model that is played."""

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

COMMANDS = ["ls", "rm -r build", "git push"]


def approve(request):
    return False


def shell(cmd: str) -> str:
    """Runs a command."""
    with open("ran", "a") as file:
        print(cmd, file=file)
    return f"ran {cmd}"


class Played(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        part = types.Part(text="It is clean.")
        if COMMANDS:
            part = types.Part.from_function_call(name="shell", args={"cmd": COMMANDS.pop(0)})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


model = Played(model="played")
