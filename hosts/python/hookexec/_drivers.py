"""The drivers: a session, a turn, a tool call, a model call.

The order of events is the server's. A driver sends what the host has done and does what the server
says next. Each works with `with` and with `async with`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import json
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hookexec._connection import Connection, HooksError, Json, Object

if TYPE_CHECKING:
    from hookexec._hooks import Hooks

log = logging.getLogger("hookexec")
#: The turn that this thread or task is in, so that adapters of frameworks find it.
_current: ContextVar[Turn | None] = ContextVar("hookexec_turn", default=None)


@dataclass(frozen=True)
class ApprovalRequest:
    """A tool call that a hook wants a person to approve. Show all of it."""

    tool_name: str
    tool_input: Object
    reason: str
    metadata: Object


#: Returns True to approve; False, or the reason as a text, to refuse. It may be async. If it raises,
#: the call is cancelled.
Approve = Callable[[ApprovalRequest], "bool | str | Awaitable[bool | str]"]


class Refused(Exception):
    """A hook refused a prompt, a model call or its response, or the hooks could not be asked."""

    def __init__(self, message: str, by: str | None = None, stop: Object | None = None) -> None:
        super().__init__(message)
        self.message = message
        #: The event of the hook; None if the hooks could not be asked.
        self.by = by
        #: What the refusal also ends: `{"scope": "turn", "reason": ...}` or `"session"`.
        self.stop = stop


@dataclass
class ToolOutcome:
    """How a tool call ended."""

    #: `ran`, `failed`, `responded` (a hook answered in the tool's place), `denied`, `aborted` (a
    #: hook ended the turn or the session) or `cancelled`.
    end: str
    tool_name: str
    #: The arguments as the tool got them.
    tool_input: Object
    #: The text for the model, in each case.
    for_model: str
    is_error: bool = True
    #: The tool's response with the hooks' rewrites; the tool's own value if it is
    #: plain JSON and no hook changed it, else its JSON, which is what hooks saw.
    response: Any = None
    #: Why it was denied, or what a hook objects.
    message: str | None = None
    stop: Object | None = None
    additional_context: str | None = None
    system_messages: list[str] = field(default_factory=list)
    #: Hooks that failed while the event went on.
    failed_open: list[str] = field(default_factory=list)
    #: What the tool raised.
    exception: BaseException | None = None
    #: Whether the model must read `for_model` in the place of what the tool returned or raised.
    was_rewritten: bool = True

    @property
    def ran(self) -> bool:
        """Whether the tool ran and gave a response."""
        return self.end == "ran"

    def raise_if_aborted(self) -> None:
        """Raises `Refused` if a hook ended the turn or the session."""
        if self.end == "aborted":
            raise Refused(self.message or "stopped by a hook", stop=self.stop)


class NotRun(Exception):
    """The tool must not run: `outcome` says why, and what the model reads instead."""

    def __init__(self, outcome: ToolOutcome) -> None:
        super().__init__(outcome.message or outcome.for_model)
        self.outcome = outcome


class Session:
    """A conversation: `session_start` has fired inside `with`, `session_end` fires at its end."""

    def __init__(
        self,
        hooks: Hooks,
        session_id: str | None,
        source: str,
        agent_name: str | None,
        model: str | None,
    ) -> None:
        self.hooks = hooks
        self.id = session_id or str(uuid.uuid4())
        #: Context for the model that hooks gave at the start.
        self.additional_context: str | None = None
        self.system_messages: list[str] = []
        #: Configured hooks that never run, because drivers do not fire their events.
        self.unfired: list[str] = []
        self._source = source
        self._turns = itertools.count(1)
        facts = {"session_id": self.id, "cwd": hooks.cwd, "tools": hooks.tools}
        self._facts: Object = {**facts, "agent_name": agent_name, "model_id": model}

    def turn(self, prompt: str | None = None) -> Turn:
        """Returns a turn to be entered by `with`, which raises `Refused` if a hook blocks it."""
        return Turn(self, f"turn-{next(self._turns)}", prompt)

    def tool_call(self, name: str, arguments: Object, **options: Any) -> ToolCall:
        """Returns a tool call of the current turn, if there is one; see `Turn.tool_call`."""
        return ToolCall(self, self._turn(), name, arguments, **options)

    def model_call(self, messages: list[Json], **request: Any) -> ModelCall:
        """Returns a model call of the current turn, if there is one; see `Turn.model_call`."""
        return ModelCall(self, self._turn(), messages, **request)

    def _turn(self) -> Turn | None:
        turn = _current.get()
        return turn if turn is not None and turn.session is self else None

    def _begun(self, answer: Object) -> Session:
        self.additional_context = answer.get("additional_context")
        self.system_messages = answer.get("system_messages") or []
        self.unfired = answer.get("unfired") or []
        for hook in self.unfired:
            log.warning("%s", hook)
        return self

    def _beginning(self) -> Object:
        return {"session": self._facts, "source": self._source}

    def __enter__(self) -> Session:
        return self._begun(self.hooks.call("session.begin", self._beginning()))

    async def __aenter__(self) -> Session:
        return self._begun(await self.hooks.call_async("session.begin", self._beginning()))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.hooks.call("session.end", {"session": self._facts, "reason": _reason(error)})
        except HooksError as problem:
            log.warning("`session_end` hooks did not run: %s", problem)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ending = {"session": self._facts, "reason": _reason(error)}
        try:
            await asyncio.shield(self.hooks.call_async("session.end", ending))
        except HooksError as problem:
            log.warning("`session_end` hooks did not run: %s", problem)


class Turn:
    """A turn: the prompt was submitted inside `with`, `stop` and `turn_end` fire at its end."""

    def __init__(self, session: Session, turn_id: str, prompt: str | None) -> None:
        self.session = session
        self.id = turn_id
        #: The model's final response, which `stop` hooks read.
        self.response = ""
        #: Context for the model that hooks gave for this prompt.
        self.additional_context: str | None = None
        self.system_messages: list[str] = []
        self._prompt = prompt
        self._outside: Token[Turn | None] | None = None
        #: Kept for the server, and sent back as it came.
        self._state: Object | None = None

    def tool_call(self, name: str, arguments: Object, **options: Any) -> ToolCall:
        """Returns a tool call: `turn.tool_call("shell", {"cmd": "ls"}).run(shell)`.

        Options: `id` of the call; `ask`, a reason to need approval unless a hook allows the call;
        `approve` in the place of that of `Hooks`; `can_rename=False` denies the call if a hook wants
        another tool.
        """
        return ToolCall(self.session, self, name, arguments, **options)

    def model_call(self, messages: list[Json], **request: Any) -> ModelCall:
        """Returns a model call: `turn.model_call(messages).run(call_the_model)`.

        Its request may also have `model`, `tools` and `options`.
        """
        return ModelCall(self.session, self, messages, **request)

    def finish(self, response: str) -> str | None:
        """Fires `stop` when the model has finished. Returns what the model must read before it may
        stop; None if it may."""
        self.response = response
        return self._finished(_or_none(self._call, "turn.finish", {"response": response}))

    async def finish_async(self, response: str) -> str | None:
        """Like `finish`, for an event loop."""
        self.response = response
        try:
            return self._finished(await self._call_async("turn.finish", {"response": response}))
        except HooksError as problem:
            _not_run("turn.finish", problem)
            return None

    def _finished(self, answer: Object | None) -> str | None:
        if answer is None:
            return None
        self._state = answer.get("turn", self._state)
        return answer.get("go_on")

    def _call(self, method: str, params: Object) -> Object:
        facts = {"session": self.session._facts, "turn": self._state}
        return self.session.hooks.call(method, {**facts, **params})

    async def _call_async(self, method: str, params: Object) -> Object:
        facts = {"session": self.session._facts, "turn": self._state}
        return await self.session.hooks.call_async(method, {**facts, **params})

    def _beginning(self) -> Object:
        return {"session": self.session._facts, "turn_id": self.id, "prompt": self._prompt}

    def _begun(self, answer: Object) -> Turn:
        _raise_if_refused(answer)
        if "turn" not in answer:
            raise Refused("hookexec: the server did not begin the turn")
        self._state = answer["turn"]
        self._outside = _current.set(self)
        self.additional_context = answer.get("additional_context")
        self.system_messages = answer.get("system_messages") or []
        return self

    def _ending(self, error: BaseException | None) -> Object:
        if self._outside is not None:
            # An async generator may be closed in another context.
            with contextlib.suppress(ValueError):
                _current.reset(self._outside)
        if error is None:
            return {"response": self.response}
        if isinstance(error, Refused):
            return {"reason": "hook_blocked"}
        if isinstance(error, Exception):
            return {"error": _text_of(error)}
        return {"reason": "canceled"}

    def __enter__(self) -> Turn:
        try:
            return self._begun(self.session.hooks.call("turn.begin", self._beginning()))
        except HooksError as problem:
            raise Refused(f"hookexec: {problem}") from problem

    async def __aenter__(self) -> Turn:
        try:
            answer = await self.session.hooks.call_async("turn.begin", self._beginning())
        except HooksError as problem:
            raise Refused(f"hookexec: {problem}") from problem
        return self._begun(answer)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _or_none(self._call, "turn.end", self._ending(error))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await asyncio.shield(self._call_async("turn.end", self._ending(error)))
        except HooksError as problem:
            _not_run("turn.end", problem)


class ToolCall:
    """A tool call on its way through the hooks.

    `run` drives all of it. `with` is for code that is no function: it raises `NotRun` if the tool
    must not run; inside, run the tool with `tool_name` and `tool_input` and set `response`; after
    it, `outcome` has what the model reads.
    """

    def __init__(
        self,
        session: Session,
        turn: Turn | None,
        name: str,
        arguments: Object,
        *,
        id: str | None = None,
        ask: str | None = None,
        approve: Approve | None = None,
        can_rename: bool = True,
    ) -> None:
        self.tool_name = name
        self.tool_input = arguments
        #: What the tool returned.
        self.response: Any = None
        self.outcome: ToolOutcome | None = None
        self._hooks = session.hooks
        self._approve = approve or session.hooks.approve
        self._can_rename = can_rename
        self._call: int | None = None
        self._connection: Connection | None = None
        self._beginning = {
            "session": session._facts,
            "turn": turn._state if turn else None,
            "tool_name": name,
            "tool_input": arguments,
            "tool_use_id": id,
            "ask": ask,
            "can_ask": self._approve is not None,
        }

    def run(self, tool: Callable[..., Any]) -> ToolOutcome:
        """Runs `tool(**arguments)` if the hooks let it, and returns how the call ended.

        An exception of the tool is the outcome `failed`.
        """
        try:
            with self:
                self.response = tool(**self.tool_input)
        except NotRun as not_run:
            return not_run.outcome
        except Exception:
            if self.outcome is None or self.outcome.exception is None:
                raise
        return self._ended()

    async def run_async(self, tool: Callable[..., Any]) -> ToolOutcome:
        """Like `run`, for an event loop; the tool may be async."""
        try:
            async with self:
                response = tool(**self.tool_input)
                self.response = await response if inspect.isawaitable(response) else response
        except NotRun as not_run:
            return not_run.outcome
        except Exception:
            if self.outcome is None or self.outcome.exception is None:
                raise
        return self._ended()

    def _ended(self) -> ToolOutcome:
        assert self.outcome is not None
        return self.outcome

    def __enter__(self) -> ToolCall:
        try:
            self._connection = self._hooks.connection()
            step = self._hooks.call("tool.begin", self._beginning, self._connection)
            while (request := self._asks(step)) is not None:
                assert self._approve is not None
                try:
                    granted = self._approve(request)
                    if inspect.isawaitable(granted):
                        granted = asyncio.run(_awaited(granted))
                except BaseException:
                    self._abandon()
                    raise
                answer = self._approval(granted)
                step = self._hooks.call("tool.approve", answer, self._connection)
        except HooksError as problem:
            raise NotRun(self._denied(problem)) from problem
        return self._authorized(step)

    async def __aenter__(self) -> ToolCall:
        try:
            if self._hooks._connection is None or not self._hooks._connection.alive:
                await asyncio.to_thread(self._hooks.connection)
            self._connection = self._hooks.connection()
            step = await self._hooks.call_async("tool.begin", self._beginning, self._connection)
            while (request := self._asks(step)) is not None:
                assert self._approve is not None
                try:
                    granted = self._approve(request)
                    if inspect.isawaitable(granted):
                        granted = await granted
                except BaseException:
                    self._abandon()
                    raise
                answer = self._approval(granted)
                step = await self._hooks.call_async("tool.approve", answer, self._connection)
        except HooksError as problem:
            raise NotRun(self._denied(problem)) from problem
        return self._authorized(step)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            self._abandon()
            return
        try:
            done = self._hooks.call("tool.end", self._done(error), self._connection)
            self.outcome = self._outcome(_checked(done), error)
        except HooksError as problem:
            self.outcome = self._withheld(problem, error)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, Exception):
            self._abandon()
            return
        try:
            done = await self._hooks.call_async("tool.end", self._done(error), self._connection)
            self.outcome = self._outcome(_checked(done), error)
        except HooksError as problem:
            self.outcome = self._withheld(problem, error)

    def _asks(self, step: Object) -> ApprovalRequest | None:
        self._call = step.get("call")
        if step.get("next") != "approve":
            return None
        return ApprovalRequest(
            step["tool_name"], step["tool_input"], step.get("reason", ""), step.get("metadata", {})
        )

    def _approval(self, granted: bool | str) -> Object:
        # Only True approves.
        reason = granted if isinstance(granted, str) else None
        return {"call": self._call, "granted": granted is True, "reason": reason}

    def _authorized(self, step: Object) -> ToolCall:
        name, arguments = step.get("tool_name"), step.get("tool_input")
        if _is_done(step):
            self.outcome = self._outcome(step, None)
            raise NotRun(self.outcome)
        is_call = isinstance(name, str) and isinstance(arguments, dict)
        if step.get("next") != "run" or not is_call:
            self._abandon()
            raise NotRun(self._denied(HooksError("the server named no call to run")))
        if name != self.tool_name and not self._can_rename:
            self._abandon()
            problem = f"a hook wants the tool `{name}` instead, which can't be called here"
            raise NotRun(self._denied(HooksError(problem)))
        self.tool_name, self.tool_input = str(name), dict(arguments or {})
        return self

    def _done(self, error: BaseException | None) -> Object:
        if error is not None:
            return {"call": self._call, "error": _text_of(error)}
        return {"call": self._call, "response": _jsonable(self.response)}

    def _abandon(self) -> None:
        if self._connection is not None and self._call is not None:
            self._connection.request("tool.end", {"call": self._call, "cancelled": True})

    def _outcome(self, step: Object, error: BaseException | None) -> ToolOutcome:
        response = step.get("response")
        own = _text_of(error) if error is not None else _jsonable(self.response)
        is_own = step["end"] in ("ran", "failed") and _same(response, own)
        if is_own and error is None and _is_json(self.response):
            response = self.response
        has_more = step.get("message") or step.get("additional_context")
        return ToolOutcome(
            end=step["end"],
            tool_name=step.get("tool_name", self.tool_name),
            tool_input=step.get("tool_input", self.tool_input),
            for_model=str(step.get("for_model", "")),
            is_error=step.get("is_error") is not False,
            response=response,
            message=step.get("message"),
            stop=step.get("stop"),
            additional_context=step.get("additional_context"),
            system_messages=step.get("system_messages") or [],
            failed_open=step.get("failed_open") or [],
            exception=error,
            was_rewritten=bool(has_more) or not is_own,
        )

    def _denied(self, problem: HooksError) -> ToolOutcome:
        message = f"hookexec: {problem}"
        self.outcome = ToolOutcome(
            "denied", self.tool_name, self.tool_input, f"Tool call denied: {message}",
            message=message,
        )
        return self.outcome

    def _withheld(self, problem: HooksError, error: BaseException | None) -> ToolOutcome:
        from hookexec._hooks import WITHHELD

        # If the server lives, its hooks hear at least that the call has ended.
        self._abandon()
        return ToolOutcome(
            "failed", self.tool_name, self.tool_input, WITHHELD, response=WITHHELD,
            message=f"hookexec: {problem}", exception=error,
        )


class ModelCall:
    """A model call on its way through the hooks.

    `run` drives all of it, and raises `Refused` if a hook refuses the request or the response.
    `with` is for code that is no function: inside, call the model with `messages`, `model`, `tools`
    and `options` and set `response`; after it, `response` is what the hooks left of it.
    """

    def __init__(
        self,
        session: Session,
        turn: Turn | None,
        messages: list[Json],
        *,
        model: str | None = None,
        tools: list[Json] | None = None,
        options: Object | None = None,
    ) -> None:
        self.messages = messages
        self.model = model
        self.tools = tools or []
        self.options = options or {}
        self.response: Any = None
        self._session, self._turn = session, turn
        self._call: int | None = None
        self._connection: Connection | None = None

    def run(self, call: Callable[[ModelCall], Any]) -> Any:
        """Runs `call(self)` with the request as the hooks left it, and returns the response."""
        with self:
            self.response = call(self)
        return self.response

    async def run_async(self, call: Callable[[ModelCall], Any]) -> Any:
        """Like `run`, for an event loop; the function may be async."""
        async with self:
            response = call(self)
            self.response = await response if inspect.isawaitable(response) else response
        return self.response

    def _beginning(self) -> Object:
        return {
            "session": self._session._facts,
            "turn": self._turn._state if self._turn else None,
            "messages": self.messages,
            "model": self.model,
            "tools": self.tools,
            "options": self.options,
        }

    def __enter__(self) -> ModelCall:
        hooks = self._session.hooks
        try:
            self._connection = hooks.connection()
            step = hooks.call("model.begin", self._beginning(), self._connection)
        except HooksError as problem:
            raise Refused(f"hookexec: {problem}") from problem
        return self._authorized(step)

    async def __aenter__(self) -> ModelCall:
        hooks = self._session.hooks
        try:
            if hooks._connection is None or not hooks._connection.alive:
                await asyncio.to_thread(hooks.connection)
            self._connection = hooks.connection()
            step = await hooks.call_async("model.begin", self._beginning(), self._connection)
        except HooksError as problem:
            raise Refused(f"hookexec: {problem}") from problem
        return self._authorized(step)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            done = self._session.hooks.call("model.end", self._done(error), self._connection)
        except HooksError as problem:
            self._lost(problem, error)
            return
        self._ended(done, error)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        ending = self._session.hooks.call_async("model.end", self._done(error), self._connection)
        try:
            done = await asyncio.shield(ending)
        except HooksError as problem:
            self._lost(problem, error)
            return
        self._ended(done, error)

    def _authorized(self, step: Object) -> ModelCall:
        self._note(step)
        _raise_if_refused(step)
        self._call = step.get("call")
        if step.get("next") != "run" or not isinstance(step.get("messages"), list):
            raise Refused("hookexec: the server did not say which request to send")
        self.messages, self.model = step["messages"], step.get("model")
        self.tools, self.options = step.get("tools") or [], step.get("options") or {}
        return self

    def _done(self, error: BaseException | None) -> Object:
        if error is None:
            return {"call": self._call, "response": _jsonable(self.response)}
        if isinstance(error, Exception):
            return {"call": self._call, "error": _text_of(error)}
        return {"call": self._call, "cancelled": True}

    def _ended(self, step: Object, error: BaseException | None) -> None:
        self._note(step)
        if error is not None:
            return
        _raise_if_refused(step)
        if step.get("next") != "done" or "response" not in step:
            self._lost(HooksError("the server did not say how the call ended"), None)
        elif not (_is_json(self.response) and _same(step["response"], _jsonable(self.response))):
            self.response = step["response"]

    def _lost(self, problem: HooksError, error: BaseException | None) -> None:
        self.response = None
        if error is None:
            raise Refused(f"hookexec: {problem}") from problem

    def _note(self, step: Object) -> None:
        if self._turn is not None and step.get("turn") is not None:
            self._turn._state = step["turn"]


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _raise_if_refused(answer: Object) -> None:
    refused = answer.get("refused")
    if refused is not None:
        raise Refused(refused.get("message", ""), refused.get("by"), refused.get("stop"))


def _or_none(call: Callable[[str, Object], Object], method: str, params: Object) -> Object | None:
    try:
        return call(method, params)
    except HooksError as problem:
        _not_run(method, problem)
        return None


def _not_run(method: str, problem: HooksError) -> None:
    log.warning("the hooks of `%s` did not run: %s", method, problem)


def _is_done(step: Object) -> bool:
    return step.get("next") == "done" and isinstance(step.get("end"), str)


def _checked(step: Object) -> Object:
    if not _is_done(step):
        raise HooksError("the server did not say how the call ended")
    return step


def _same(one: Json, other: Json) -> bool:
    # `==` takes True for 1.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _reason(error: BaseException | None) -> str:
    return "exit" if error is None else "error" if isinstance(error, Exception) else "canceled"


def _text_of(error: BaseException) -> str:
    return str(error) or type(error).__name__


#: No deeper value goes to a hook. A circle is deeper.
_MOST_LEVELS = 128


def _is_json(value: Any, depth: int = 0) -> bool:
    """Returns whether hooks saw a response as it is. What they did not see must not be handed on."""
    if depth > _MOST_LEVELS:
        return False
    if type(value) is dict:
        return all(type(key) is str and _is_json(item, depth + 1) for key, item in value.items())
    if type(value) in (list, tuple):
        return all(_is_json(item, depth + 1) for item in value)
    return value is None or type(value) in (bool, int, float, str)


def _jsonable(value: Any) -> Json:
    """Returns a response as JSON: itself, or what its text is."""
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=str))
    except (TypeError, ValueError):
        return str(value)
