"""LangChain and LangGraph: `create_agent(model, tools, middleware=[HooksMiddleware(session)])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from hookexec._drivers import ApprovalRequest, NotRun, Session, ToolCall, ToolOutcome

Result = ToolMessage | Command[Any]


def ask_by_interrupt(request: ApprovalRequest) -> bool | str:
    """An `approve` that interrupts the graph. Resume it with True, or with the reason to refuse.

    LangGraph then runs the step again, and so the hooks before the tool.
    """
    answer = interrupt(
        {
            "tool_name": request.tool_name,
            "tool_input": request.tool_input,
            "reason": request.reason,
            "metadata": request.metadata,
        }
    )
    return answer if isinstance(answer, str) else answer is True


class HooksMiddleware(AgentMiddleware):
    """Runs each tool call of an agent through the hooks of a session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        result: Result | None = None
        try:
            with self._call(request) as call:
                result = handler(_rewritten(request, call))
                _note(call, result)
        except NotRun as not_run:
            return _message(request, not_run.outcome)
        except _Failed:
            pass
        return _answer(request, call, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        result: Result | None = None
        try:
            async with self._call(request) as call:
                result = await handler(_rewritten(request, call))
                _note(call, result)
        except NotRun as not_run:
            return _message(request, not_run.outcome)
        except _Failed:
            pass
        return _answer(request, call, result)

    def _call(self, request: ToolCallRequest) -> ToolCall:
        call = request.tool_call
        options = {"id": call["id"], "can_rename": False}
        return self._session.tool_call(call["name"], call["args"], **options)


class _Failed(Exception):
    """The tool has failed, and LangChain has made a message of it."""


def _rewritten(request: ToolCallRequest, call: ToolCall) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": call.tool_input})


def _note(call: ToolCall, result: Result) -> None:
    if not isinstance(result, ToolMessage):
        call.response = str(result)
    elif result.status == "error":
        raise _Failed(str(result.content))
    else:
        call.response = result.content


def _answer(request: ToolCallRequest, call: ToolCall, result: Result | None) -> Result:
    outcome = call.outcome
    assert outcome is not None
    if not outcome.was_rewritten and result is not None:
        return result
    if outcome.ran and isinstance(result, ToolMessage) and isinstance(outcome.response, list):
        # Images and the like stay what they are.
        said = [text for text in (outcome.message, outcome.additional_context) if text]
        return result.model_copy(update={"content": [*outcome.response, *said]})
    return _message(request, outcome)


def _message(request: ToolCallRequest, outcome: ToolOutcome) -> ToolMessage:
    outcome.raise_if_aborted()
    status = "error" if outcome.is_error else "success"
    call = request.tool_call
    return ToolMessage(outcome.for_model, name=call["name"], tool_call_id=call["id"], status=status)
