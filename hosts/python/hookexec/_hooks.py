"""The hooks of one project, at a server that is started when it is needed."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import Any, TypeVar

from hookexec._connection import Connection, HooksError, Json, Object
from hookexec._drivers import Approve, Session
from hookexec._program import find_hookexec_bin

Path = str | os.PathLike[str]
#: A function that answers hooks: the event's input and the hook's `args`, and returns an answer
#: as a command hook prints it, or None for no opinion.
Builtin = Callable[..., Any]
B = TypeVar("B", bound=Builtin)

#: What stands for a tool's response that no hook could look at.
WITHHELD = "The tool's response is withheld: hookexec gave no verdict."

#: How long background hooks may take when the hooks are closed, in seconds.
PATIENCE = 12.0


class Hooks:
    """The hooks that guard an agent.

    `Hooks("hooks.yaml")` has the hooks of this file and of the files that `hookexec run` finds;
    with `isolated=True` only of this file. The server starts with the first request, and a server
    that died is replaced by the next one. A request that the server does not answer, or not in
    `timeout` seconds, counts as denied. Threads and event loops may share one object.

    `approve` is called for a tool call that a hook wants to be asked about. `tools` gives the kinds
    of tools whose names do not tell: `{"run_it": "shell"}`.
    """

    def __init__(
        self,
        config: Path | Iterable[Path] = (),
        *,
        cwd: Path | None = None,
        isolated: bool = False,
        socket: Path | None = None,
        program: Path | None = None,
        timeout: float = 120.0,
        tools: Mapping[str, str | Iterable[str]] | None = None,
        approve: Approve | None = None,
    ) -> None:
        files = [config] if isinstance(config, (str, os.PathLike)) else list(config)
        if socket is not None and (files or isolated):
            raise HooksError("`config` and `isolated` are the server's own: start it with them")
        self.cwd = os.path.realpath(cwd or ".")
        #: Applies to requests from now on.
        self.timeout = timeout
        self.approve = approve
        self.tools = {
            name: [kinds] if isinstance(kinds, str) else list(kinds)
            for name, kinds in (tools or {}).items()
        }
        self._files = [os.path.abspath(file) for file in files]
        self._isolated = isolated
        self._socket = None if socket is None else os.fspath(socket)
        self._program = None if program is None else os.fspath(program)
        self._builtins: dict[str, Builtin] = {}
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._closed = False

    def builtin(self, name: str) -> Callable[[B], B]:
        """Makes a function callable by hooks: `{type: builtin, command: NAME}`.

        The function gets the event's input, and if it takes a second argument, the hook's `args`.
        It runs on a thread of its own; an async function runs in an event loop of its own. If it
        raises, the hook has failed.
        """

        def register(function: B) -> B:
            with self._lock:
                if self._connection is not None:
                    raise HooksError(f"register `{name}` before the first event")
                if name in self._builtins:
                    raise HooksError(f"the builtin `{name}` is registered twice")
                self._builtins[name] = function
            return function

        return register

    def session(
        self,
        session_id: str | None = None,
        *,
        source: str = "startup",
        agent_name: str | None = None,
        model: str | None = None,
    ) -> Session:
        """Returns a session to be entered by `with` or `async with`."""
        return Session(self, session_id, source, agent_name, model)

    def dispatch(self, event: str, input: Object) -> Object:
        """Fires one event and returns its verdict, as `hookexec run` prints it."""
        try:
            return _verdict(event, self.call("dispatch", {"event": event, "input": input}))
        except HooksError as error:
            return error.verdict or _without_answer(event, str(error))

    async def dispatch_async(self, event: str, input: Object) -> Object:
        """Like `dispatch`, for an event loop."""
        try:
            answer = await self.call_async("dispatch", {"event": event, "input": input})
            return _verdict(event, answer)
        except HooksError as error:
            return error.verdict or _without_answer(event, str(error))

    def close(self) -> None:
        """Ends the server, or the connection to it; open calls are denied."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close("the hooks are closed", PATIENCE)

    def __enter__(self) -> Hooks:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Hooks:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    # What the drivers use.

    def connection(self) -> Connection:
        """Returns the server, a new one if there is none that lives."""
        with self._lock:
            if self._closed:
                raise HooksError("the hooks are closed")
            if self._connection is None or not self._connection.alive:
                self._connection = self._connect()
            return self._connection

    def _connect(self) -> Connection:
        if self._socket is not None:
            return Connection.connect(self._socket, self._answer)
        try:
            program = self._program or find_hookexec_bin()
        except FileNotFoundError as error:
            raise HooksError(str(error)) from error
        command = [program, "serve", "--cwd", self.cwd]
        for file in self._files:
            command += ["--config", file]
        if self._isolated:
            command.append("--isolated")
        for name in self._builtins:
            command += [f"--builtin={name}"]
        return Connection.start(command, self.cwd, self._answer)

    def call(self, method: str, params: Object, at: Connection | None = None) -> Object:
        """Returns the result of a request, or raises a `HooksError`."""
        timeout = self.timeout
        connection, future, sent = self._send(method, params, at, timeout)
        try:
            return future.result(timeout)
        except FutureTimeout:
            raise self._late(connection, future, sent, method, timeout) from None

    async def call_async(self, method: str, params: Object, at: Connection | None = None) -> Object:
        """Like `call`, for an event loop."""
        timeout = self.timeout
        if at is None and (self._connection is None or not self._connection.alive):
            # Starting a server takes some milliseconds.
            await asyncio.to_thread(self.connection)
        connection, future, sent = self._send(method, params, at, timeout)
        wrapped = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(asyncio.shield(wrapped), timeout)
        except (asyncio.TimeoutError, TimeoutError):
            wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise self._late(connection, future, sent, method, timeout) from None
        except asyncio.CancelledError:
            wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
            connection.forget(future, "cancelled")
            raise

    def _send(
        self, method: str, params: Object, at: Connection | None, timeout: float
    ) -> tuple[Connection, Future[Object], float]:
        connection = at or self.connection()
        params = {**params, "within_ms": round(timeout * 1000)}
        if self._socket is not None and "call" not in params:
            params["project"] = self.cwd
        sent = time.monotonic()
        return connection, connection.request(method, params), sent

    def _late(
        self,
        connection: Connection,
        future: Future[Object],
        sent: float,
        method: str,
        timeout: float,
    ) -> HooksError:
        why = f"no answer to `{method}` within {timeout:g} seconds"
        connection.forget(future, why)
        if connection.heard < sent:
            # It answered nobody in all this time: it hangs, and the next request needs a new one.
            connection.close(why, 0)
        return HooksError(why)

    def _answer(self, method: str, params: Object) -> Json:
        if method != "builtin":
            raise HooksError(f"unknown method `{method}`")
        function = self._builtins.get(params["name"])
        if function is None:
            raise HooksError(f"no builtin `{params['name']}` is registered")
        takes_arguments = len(inspect.signature(function).parameters) > 1
        arguments = (params["input"], params["args"]) if takes_arguments else (params["input"],)
        answer = function(*arguments)
        return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Any) -> Any:
    return await answer


def _verdict(event: str, answer: Object) -> Object:
    if isinstance(answer.get("allowed"), bool) and answer.get("event") == event:
        return answer
    return _without_answer(event, "the server sent no verdict")


def _without_answer(event: str, why: str) -> Object:
    message = f"hookexec: {why}"
    verdict: Object = {"event": event, "decision": "deny", "allowed": False, "hooks": []}
    verdict["message"] = message
    if event in ("post_tool_use", "tool_response_transform"):
        verdict["updated_tool_response"] = WITHHELD
    return verdict
