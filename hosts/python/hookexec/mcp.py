"""MCP: `guarded(client, session)`, where `client` is a `ClientSession` or a `Client`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

from mcp import types
from pydantic import ValidationError

from hookexec._connection import Json, Object
from hookexec._drivers import Session, ToolOutcome


class _Client(Protocol):
    @property
    def call_tool(self) -> Callable[..., Awaitable[Any]]: ...


C = TypeVar("C", bound=_Client)


def guarded(client: C, session: Session, server: str | None = None) -> C:
    """Returns the client itself: from now on `call_tool` runs through the hooks of a session.

    With the name of the server, hooks know its tools as `mcp__server__tool`.
    """
    run = client.call_tool

    async def call_tool(
        name: str, arguments: Object | None = None, *more: Any, **options: Any
    ) -> Any:
        result: Any = None

        async def work(**rewritten: Any) -> Json:
            nonlocal result
            final = None if arguments is None and not rewritten else rewritten
            result = await run(name, final, *more, **options)
            seen = _dumped(result)
            if seen.get("isError"):
                raise _Failed(_text(seen))
            return seen

        known = name if server is None else f"mcp__{server}__{name}"
        call = session.tool_call(known, arguments or {}, can_rename=False)
        outcome = await call.run_async(work)
        outcome.raise_if_aborted()
        if not outcome.was_rewritten:
            if outcome.exception is not None and not isinstance(outcome.exception, _Failed):
                raise outcome.exception
            return result
        return _result(outcome)

    client.call_tool = call_tool  # type: ignore[misc]
    return client


class _Failed(Exception):
    """The server says that the tool has failed."""


def _dumped(result: Any) -> Object:
    dumped: Object = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def _text(seen: Object) -> str:
    """Returns the text of a result if it has nothing else, and otherwise its JSON."""
    content = seen.get("content") or []
    is_text = all(set(it) == {"type", "text"} for it in content)
    if is_text and not set(seen) - {"content", "isError", "resultType"}:
        return "\n".join(it["text"] for it in content)
    return json.dumps(seen)


def _result(outcome: ToolOutcome) -> types.CallToolResult:
    response = outcome.response
    if outcome.ran and isinstance(response, dict) and isinstance(response.get("content"), list):
        said = [text for text in (outcome.message, outcome.additional_context) if text]
        told = {**response, "content": response["content"] + [_block(text) for text in said]}
        with contextlib.suppress(ValidationError):
            return types.CallToolResult.model_validate({**told, "isError": outcome.is_error})
    told = {"content": [_block(outcome.for_model)], "isError": outcome.is_error}
    return types.CallToolResult.model_validate(told)


def _block(text: str) -> Object:
    return {"type": "text", "text": text}
