"""Pydantic AI: `Agent(model, tools=tools, capabilities=[HooksCapability(session)])`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import to_jsonable_python

from hookexec._drivers import Session


@dataclass
class HooksCapability(AbstractCapability[Any]):
    """Runs each tool call of an agent through the hooks of a session."""

    session: Session

    def get_ordering(self) -> CapabilityOrdering:
        # Nothing may change a call after the hooks have seen it.
        return CapabilityOrdering(position="innermost")

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Guarded(toolset, self.session)


@dataclass
class _Guarded(WrapperToolset[Any]):
    session: Session

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        given = to_jsonable_python(tool_args)
        call = self.session.tool_call(name, given, id=ctx.tool_call_id, can_rename=False)

        result: Any = None

        async def work(**rewritten: Any) -> Any:
            nonlocal result
            final = tool_args
            if rewritten != given:
                # The tool takes checked values of its own types.
                final = tool.args_validator.validate_python(rewritten)
            result = await self.wrapped.call_tool(name, final, ctx, tool)
            # Pydantic AI makes the same JSON of it for the model, but keeps images as they are.
            return to_jsonable_python(result, bytes_mode="base64", fallback=str)

        outcome = await call.run_async(work)
        outcome.raise_if_aborted()
        if not outcome.was_rewritten:
            if outcome.exception is not None:
                raise outcome.exception
            return result
        if outcome.is_error:
            raise ToolFailed(outcome.for_model)
        return outcome.for_model
