"""Google ADK: `Runner(..., plugins=[HooksPlugin(session)])`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.plugins import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from pydantic_core import to_jsonable_python

from hookexec._drivers import Session

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
