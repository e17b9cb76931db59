"""OpenAI Agents SDK: `Runner.run(guarded(agent, session), prompt)`."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable
from typing import Any

from agents import Agent, FunctionTool, Tool
from agents.tool_context import ToolContext

from hookexec._connection import Object
from hookexec._drivers import Session

Invoke = Callable[[ToolContext[Any], str], Awaitable[Any]]


def guarded(agent: Agent[Any], session: Session) -> Agent[Any]:
    """Returns a copy of an agent whose function tools run through the hooks of a session.

    The agents that it hands off to are guarded, too. Raises `TypeError` for what would run past the
    hooks: tools of another kind, MCP servers, and handoffs made by `handoff()`.
    """
    return _guarded(agent, session, {})


def _guarded(agent: Agent[Any], session: Session, known: dict[int, Agent[Any]]) -> Agent[Any]:
    if id(agent) in known:
        return known[id(agent)]
    if agent.mcp_servers:
        raise TypeError(f"the MCP servers of {agent.name} would run past the hooks")
    tools = [_guarded_tool(tool, session) for tool in agent.tools]
    copied = known[id(agent)] = agent.clone(tools=tools)
    handoffs = []
    for target in agent.handoffs:
        if not isinstance(target, Agent):
            raise TypeError(f"{agent.name} hands off by `handoff()`: give the agent itself")
        handoffs.append(_guarded(target, session, known))
    copied.handoffs = [*handoffs]
    return copied


def _guarded_tool(tool: Tool, session: Session) -> Tool:
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"the tool {tool.name} would run past the hooks: it is no function tool")
    guarded = copy.copy(tool)
    guarded.on_invoke_tool = _invoke(tool, session)
    return guarded


def _invoke(tool: FunctionTool, session: Session) -> Invoke:
    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        options = {"id": context.tool_call_id, "can_rename": False}
        call = session.tool_call(tool.name, _object(arguments), **options)

        async def work(**rewritten: Any) -> Any:
            return await tool.on_invoke_tool(context, json.dumps(rewritten))

        outcome = await call.run_async(work)
        outcome.raise_if_aborted()
        if outcome.exception is not None and not outcome.was_rewritten:
            raise outcome.exception
        return outcome.for_model if outcome.was_rewritten else outcome.response

    return invoke


def _object(text: str) -> Object:
    """Reads arguments, which a guard and a tool must not read differently."""

    def unique(pairs: list[tuple[str, Any]]) -> Object:
        read = dict(pairs)
        if len(read) < len(pairs):
            raise ValueError("the arguments have a key twice")
        return read

    arguments = json.loads(text or "{}", object_pairs_hook=unique)
    if not isinstance(arguments, dict):
        raise ValueError("the arguments are not a JSON object")
    return arguments
