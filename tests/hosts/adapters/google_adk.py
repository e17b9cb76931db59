"""Google ADK; see tests/hosts/frameworks.py."""

import asyncio
import sys

# This file has the name of the adapter.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.models import BaseLlm, LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from hookexec.google_adk import HooksPlugin  # noqa: E402


class Played(BaseLlm):
    model: str = "played"
    commands: list[str]

    async def generate_content_async(self, llm_request, stream=False):
        if self.commands:
            part = types.Part.from_function_call(name="shell", args={"cmd": self.commands.pop(0)})
        else:
            part = types.Part(text="done")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def told(tool, args, tool_context, error):
    """An agent's own callback, which runs after the hooks."""
    return {"error": str(error)} if isinstance(error, ValueError) else None


async def drive_async(session, commands):
    model = Played(commands=list(commands))
    agent = LlmAgent(name="coder", model=model, tools=[common.shell], on_tool_error_callback=told)
    runner = InMemoryRunner(agent=agent, plugins=[HooksPlugin(session)])
    events = await runner.run_debug("go", quiet=True)
    responses = [it.response for event in events for it in event.get_function_responses()]
    return [str(it.get("result", it.get("error"))) for it in responses]


def drive(session, commands):
    return asyncio.run(drive_async(session, commands))


common.report(drive)
