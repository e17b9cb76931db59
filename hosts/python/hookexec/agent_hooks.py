"""AGENT-HOOKS 0.1: `HooksInterceptor(hooks)` is an interceptor for any host of that contract."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import AsyncExitStack

from agent_hooks import ApprovalOutcome, ApprovalRequest, ApprovalResolution, Verdict

from hookexec import _drivers
from hookexec._connection import Connection, HooksError, Json, Object
from hookexec._drivers import ModelCall, Refused, Turn, _same
from hookexec._hooks import Hooks

ALLOW: Object = {"decision": "allow"}


class HooksInterceptor:
    """Answers each point of an agent by the hooks, and resolves approvals by `Hooks(approve=...)`.

    It must be the last interceptor of the host, so that nothing changes what the hooks have judged.
    """

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._runs: dict[str, _Run] = {}

    async def intercept(self, context: Object) -> Object:
        session, point = context["session"]["id"], context["interception_point"]
        run = self._runs.get(session)
        if run is None:
            run = self._runs[session] = _Run(self._hooks, context)
        if point == "agent_shutdown":
            del self._runs[session]
        try:
            answer: Object = await getattr(run, f"on_{point}")(context)
        except (HooksError, Refused) as problem:
            return _denied(str(problem))
        return answer

    async def resolve(self, request: ApprovalRequest) -> ApprovalResolution:
        tool, identity = request.context.get("tool_call"), request.context_identity
        if tool is None or self._hooks.approve is None:
            return ApprovalResolution(ApprovalOutcome.UNRESOLVED, identity)
        reason = request.verdict.reason or ""
        asked = _drivers.ApprovalRequest(tool["name"], tool["args"], reason, {})
        granted = self._hooks.approve(asked)
        if inspect.isawaitable(granted):
            granted = await granted
        if granted is True:
            return ApprovalResolution(ApprovalOutcome.APPROVE, identity, Verdict.allow())
        denied = Verdict.deny(reason=granted if isinstance(granted, str) else reason)
        return ApprovalResolution(ApprovalOutcome.REJECT, identity, denied)


class _Run:
    """A session of the host, and what is open in it."""

    def __init__(self, hooks: Hooks, context: Object) -> None:
        self._hooks = hooks
        self._session = hooks.session(context["session"]["id"], agent_name=context["agent"]["id"])
        self._session._facts["fires"] = ["before_agent_run", "after_agent_complete"]
        self._turn: Turn | None = None
        self._model: ModelCall | None = None
        self._calls: dict[str, tuple[Connection, Object]] = {}
        self._stopped: str | None = None
        self._session_end, self._turn_end = AsyncExitStack(), AsyncExitStack()

    async def on_agent_startup(self, context: Object) -> Object:
        await self._session_end.enter_async_context(self._session)
        return await self._dispatched("before_agent_run")

    async def on_input(self, context: Object) -> Object:
        self._cancel_open()
        await self._turn_end.aclose()
        target = context["target"]
        prompt = target["content"] if isinstance(target["content"], str) else None
        self._turn = await self._turn_end.enter_async_context(self._session.turn(prompt))
        contexts = [self._session.additional_context, self._turn.additional_context]
        self._session.additional_context = None
        if not any(contexts):
            return ALLOW
        if prompt is None:
            lost = "the context of a hook can't be added to an input that is not a text"
            return {**ALLOW, "warnings": [{"message": lost}]}
        content = "\n\n".join(filter(None, [prompt, *contexts]))
        return _changed(target, {**target, "content": content})

    async def on_pre_model_call(self, context: Object) -> Object:
        if self._stopped is not None:
            return _denied(self._stopped)
        self._cancel_open()
        name = context["model"]["id"]
        model = await self._session.model_call(context["target"], model=name).__aenter__()
        self._model = model
        if (model.model, model.tools, model.options) != (name, [], {}):
            return _denied("a hook changes more of the request than its messages")
        return _changed(context["target"], model.messages)

    async def on_post_model_call(self, context: Object) -> Object:
        model, self._model = self._model, None
        if model is None:
            return _denied("no hook has let this model call pass")
        model.response = context["target"]
        await model.__aexit__(None, None, None)
        return _changed(context["target"], model.response)

    async def on_pre_tool_call(self, context: Object) -> Object:
        tool, connection = context["tool_call"], await asyncio.to_thread(self._hooks.connection)
        place = {"session": self._session._facts, "turn": self._turn and self._turn._state}
        call = {"tool_name": tool["name"], "tool_input": context["target"]}
        begin = {**place, **call, "tool_use_id": tool["id"], "can_ask": True}
        step = await self._hooks.call_async("tool.begin", begin, connection)
        if step["next"] == "done":
            return self._ended(step)
        self._calls[tool["id"]] = connection, step
        if step["tool_name"] != tool["name"]:
            return _denied(f"a hook wants the tool `{step['tool_name']}` instead")
        changed = _changed(context["target"], step["tool_input"])
        if step["next"] == "run":
            return changed
        if step["next"] != "approve" or changed is not ALLOW:
            return _denied("a hook changes arguments for which another one wants approval")
        return {**_denied(step["reason"]), "approval": {}}

    async def on_post_tool_call(self, context: Object) -> Object:
        call, result = context["tool_call"], context["tool_result"]
        if call["id"] not in self._calls:
            return _denied("no hook has let this tool call pass")
        connection, step = self._calls.pop(call["id"])
        if step["next"] == "approve":
            answer = {"call": step["call"], "granted": True}
            step = await self._hooks.call_async("tool.approve", answer, connection)
        if step["next"] != "run":
            return self._ended(step)
        key = "error" if result.get("is_error") else "response"
        end = {"call": step["call"], key: context["target"]}
        step = await self._hooks.call_async("tool.end", end, connection)
        if step["end"] not in ("ran", "failed") or step["message"]:
            return self._ended(step)
        has_context = step["additional_context"] is not None
        return _changed(context["target"], step["for_model" if has_context else "response"])

    async def on_output(self, context: Object) -> Object:
        answer = await self._dispatched("after_agent_complete")
        if answer is not ALLOW or self._turn is None:
            return answer
        go_on = await self._turn.finish_async(str(context["target"]["content"]))
        return ALLOW if go_on is None else _denied(go_on)

    async def on_agent_shutdown(self, context: Object) -> Object:
        self._cancel_open()
        await self._turn_end.aclose()
        await self._session_end.aclose()
        return ALLOW

    def _cancel_open(self) -> None:
        """Ends what the host has begun and will not end: it was denied, or it failed."""
        for connection, step in self._calls.values():
            connection.request("tool.end", {"call": step["call"], "cancelled": True})
        self._calls.clear()
        if self._model is not None and self._model._connection is not None:
            cancelled = {"call": self._model._call, "cancelled": True}
            self._model._connection.request("model.end", cancelled)
        self._model = None

    def _ended(self, step: Object) -> Object:
        if step["stop"] is not None:
            self._stopped = step["message"]
        return _denied(step["message"] or step["for_model"])

    async def _dispatched(self, event: str) -> Object:
        facts = self._session._facts
        input = {key: facts[key] for key in ("session_id", "cwd", "agent_name")}
        verdict = await self._hooks.dispatch_async(event, input)
        return ALLOW if verdict["allowed"] else _denied(verdict.get("message", "denied by a hook"))


def _denied(message: str) -> Object:
    return {"decision": "deny", "reason": message}


def _changed(old: Json, new: Json) -> Object:
    """Returns the verdict for a value as the hooks left it, with the path of what changed."""
    if _same(old, new):
        return ALLOW
    path = "$target"
    while isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        changed = [key for key in old if not _same(old[key], new[key])]
        if len(changed) > 1 or not changed[0].isidentifier():
            break
        path, old, new = f"{path}.{changed[0]}", old[changed[0]], new[changed[0]]
    return {"decision": "transform", "transform": {"path": path, "value": new}}
