"""Google ADK: `Runner(..., plugins=[HooksPlugin(session)])` and `guarded(model, session)`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from google.adk.models import BaseLlm, LLMRegistry
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic_core import to_jsonable_python

from hookexec._connection import Object
from hookexec._drivers import ModelCall, Refused, Session

NAME = "hookexec"
RunTool = Callable[..., Awaitable[Any]]


class HooksPlugin(BasePlugin):
    """Runs each tool call of a runner's agents through the hooks of a session."""

    def __init__(self, session: Session) -> None:
        super().__init__(NAME)
        self.session = session

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        if inspect.isasyncgenfunction(getattr(tool, "func", None)):
            return {"error": f"the tool {tool.name} would run past the hooks: it streams"}
        # ADK calls `tool.run_async` for each tool. Other plugins and callbacks of the agent may
        # change the arguments up to then, and answer in the place of ours after it.
        if not isinstance(tool.run_async, _Guarded):
            tool.run_async = _Guarded(tool, tool.run_async)  # type: ignore[method-assign]
        return None


class _Guarded:
    """The `run_async` of a tool, which may belong to runners with and without hooks."""

    def __init__(self, tool: BaseTool, run: RunTool) -> None:
        self._tool, self._run = tool, run

    async def __call__(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        plugins = tool_context.get_invocation_context().plugin_manager
        plugin = plugins.get_plugin(NAME)
        if not isinstance(plugin, HooksPlugin):
            return await self._run(args=args, tool_context=tool_context)

        async def work(**rewritten: Any) -> Any:
            result = await self._run(args=rewritten, tool_context=tool_context)
            return to_jsonable_python(result, bytes_mode="base64", fallback=str)

        options = {"id": tool_context.function_call_id, "can_rename": False}
        call = plugin.session.tool_call(self._tool.name, args, **options)
        outcome = await call.run_async(work)
        outcome.raise_if_aborted()
        if not outcome.was_rewritten:
            if outcome.exception is not None:
                raise outcome.exception
            return outcome.response
        if outcome.is_error:
            return {"error": outcome.for_model}
        is_plain = outcome.message is None and outcome.additional_context is None
        is_object = outcome.ran and isinstance(outcome.response, dict)
        return outcome.response if is_plain and is_object else outcome.for_model


def guarded(model: str | BaseLlm, session: Session) -> BaseLlm:
    """Returns a copy of a model whose calls run through the hooks of a session.

    A response that streams is given as one. A live connection raises `Refused`.
    """
    original = LLMRegistry.new_llm(model) if isinstance(model, str) else model
    copy = original.model_copy()

    async def generate(
        llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        messages = [_dumped(content) for content in llm_request.contents]
        options = {"system_instruction": llm_request.config.system_instruction}
        request = {"model": llm_request.model, "options": to_jsonable_python(options)}
        final = LlmResponse()
        async with session.model_call(messages, **request) as call:
            _take(llm_request, call, messages, request)
            async for response in original.generate_content_async(llm_request, stream):
                final = response
            call.response = seen = _dumped(final)
        yield final if call.response == seen else LlmResponse.model_validate(call.response)

    def connect(llm_request: LlmRequest) -> Any:
        raise Refused("a live connection would run past the hooks")

    # The copy stays a model of its own class, which ADK asks for.
    object.__setattr__(copy, "generate_content_async", generate)
    object.__setattr__(copy, "connect", connect)
    return copy


def _take(sent: LlmRequest, call: ModelCall, messages: list[Object], request: Object) -> None:
    """Takes over a request as the hooks left it."""
    if call.messages != messages:
        sent.contents = [types.Content.model_validate(message) for message in call.messages]
    if call.options != request["options"]:
        sent.config.system_instruction = call.options.pop("system_instruction", None)
        if call.options:
            raise Refused(f"a hook sets options that can't be set here: {list(call.options)}")
    if (call.model, call.tools) != (request["model"], []):
        raise Refused("a hook changes the model or its tools, which can't be done here")


def _dumped(value: types.Content | LlmResponse) -> Object:
    return value.model_dump(mode="json", exclude_none=True)
