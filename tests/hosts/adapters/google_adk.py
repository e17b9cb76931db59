"""Google ADK; see tests/hosts/frameworks.py."""

import asyncio
import os
import pathlib
import sys

# This file has the name of the adapter.
sys.path.append(sys.path.pop(0))

import common  # noqa: E402
from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.models import BaseLlm, LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from hookexec import Hooks, Refused  # noqa: E402
from hookexec.google_adk import HooksPlugin, guarded  # noqa: E402

MODEL_HOOKS = """
hooks:
  before_llm_call: [{ type: builtin, command: before }]
  after_llm_call: [{ type: builtin, command: after }]
"""


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
    """Makes a response of a failure."""
    return {"error": str(error)} if isinstance(error, ValueError) else None


def meddle(tool, args, tool_context):
    """An agent's own callback, which runs after those of plugins."""
    if args["cmd"] == "sneak":
        args["cmd"] = "rm -r x"


async def drive_async(session, commands):
    model = Played(commands=list(commands))
    callbacks = {"before_tool_callback": meddle, "on_tool_error_callback": told}
    agent = LlmAgent(name="coder", model=model, tools=[common.shell], **callbacks)
    runner = InMemoryRunner(agent=agent, plugins=[HooksPlugin(session)])
    events = await runner.run_debug("go", quiet=True)
    responses = [it.response for event in events for it in event.get_function_responses()]
    return [str(it.get("result", it.get("error"))) for it in responses]


def drive(session, commands):
    return asyncio.run(drive_async(session, commands))



async def model_events():
    """The hooks of a model call see and change what is sent and what comes back."""
    pathlib.Path("model.yaml").write_text(MODEL_HOOKS)
    hooks = Hooks("model.yaml", isolated=True, program=os.path.abspath("hookexec"))
    sent = []

    @hooks.builtin("before")
    def before(input):
        sent.append(input["messages"][0]["parts"][0]["text"])
        if sent[-1] == "forbidden":
            return {"decision": "deny", "reason": "not that"}
        return {"updated_messages": [{"role": "user", "parts": [{"text": "rewritten"}]}]}

    @hooks.builtin("after")
    def after(input):
        text = input["response"]["content"]["parts"][0]["text"]
        return {"updated_response": {"content": {"role": "model", "parts": [{"text": f"{text}!"}]}}}

    class Echo(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            for is_partial, text in [(True, "par"), (False, llm_request.contents[0].parts[0].text)]:
                content = types.Content(role="model", parts=[types.Part(text=text)])
                yield LlmResponse(content=content, partial=is_partial)

    async with hooks, hooks.session() as session:
        agent = LlmAgent(name="echo", model=guarded(Echo(model="echo"), session))
        events = await InMemoryRunner(agent=agent).run_debug("go", quiet=True)
        assert [event.content.parts[0].text for event in events] == ["rewritten!"], events
        try:
            await InMemoryRunner(agent=agent).run_debug("forbidden", quiet=True)
            raise AssertionError("the model was called")
        except Refused as refused:
            assert refused.message == "not that", refused.message
    assert sent == ["go", "forbidden"], sent


asyncio.run(model_events())
with common.open_hooks() as hooks:
    assert "`rm -r x` is denied" in drive(hooks.session(), ["sneak"])[0]
common.turns.clear()
common.report(drive)
