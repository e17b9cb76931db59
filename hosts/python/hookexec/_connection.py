"""One server and the requests that are open at it: JSON-RPC 2.0, one object a line."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Any, BinaryIO, cast

#: The longest line that the server reads, in bytes.
LONGEST = 8 << 20

Json = Any
Object = dict[str, Json]
#: Answers a question of the server: the method and its parameters.
Answer = Callable[[str, Object], Json]


class HooksError(Exception):
    """The server could not be started, or gave no valid answer."""

    #: The verdict that the server's hooks stand for, if it said one.
    verdict: Object | None = None


class Connection:
    """A running server. It never comes back to life: the next request needs a new connection."""

    def __init__(
        self,
        lines: BinaryIO,
        sink: BinaryIO,
        close: Callable[[float], None],
        cause: Callable[[], str],
        answer: Answer,
    ) -> None:
        self.pid = os.getpid()
        self._lines, self._sink, self._close, self._cause = lines, sink, close, cause
        self._answer = answer
        self._lock = threading.Lock()
        self._last_id = 0
        self._open: dict[int, Future[Object]] = {}
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._dead: str | None = None
        #: When the server last sent a line.
        self.heard = time.monotonic()
        for work in (self._read, self._write):
            threading.Thread(target=work, name="hookexec", daemon=True).start()

    @classmethod
    def start(cls, command: list[str], cwd: str | None, answer: Answer) -> Connection:
        """Starts a server that talks on its stdin and stdout."""
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen(command, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise HooksError(f"can't start {command[0]}: {error}") from error
        said: deque[str] = deque(maxlen=20)

        def forward() -> None:
            with cast(BinaryIO, child.stderr) as stderr:
                for line in stderr:
                    text = line.decode(errors="replace")
                    said.append(text)
                    sys.stderr.write(text)

        reader = threading.Thread(target=forward, name="hookexec", daemon=True)
        reader.start()

        def close(patience: float) -> None:
            try:
                child.wait(patience)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

        def cause() -> str:
            close(1)
            code = child.wait()
            reader.join(1)
            told = "".join(said).strip()
            return f"`hookexec serve` ended with {code}" + (f": {told}" if told else "")

        stdin, stdout = cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout)
        return cls(stdout, stdin, close, cause, answer)

    @classmethod
    def connect(cls, path: str, answer: Answer) -> Connection:
        """Connects to a server that listens at a socket of this user."""
        peer = socket.socket(socket.AF_UNIX)
        try:
            if os.stat(path).st_uid != os.getuid():
                raise OSError("it belongs to another user")
            peer.connect(path)
        except OSError as error:
            peer.close()
            raise HooksError(f"no server at {path}: {error}") from error
        lines, sink = peer.makefile("rb"), peer.makefile("wb", buffering=0)

        def close(patience: float) -> None:
            try:
                peer.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            peer.close()

        return cls(lines, cast(BinaryIO, sink), close, lambda: "the server hung up", answer)

    @property
    def alive(self) -> bool:
        """Whether requests can be sent. A forked child has no server."""
        return self._dead is None and self.pid == os.getpid()

    def request(self, method: str, params: Object) -> Future[Object]:
        """Sends a request. The future ends with its result, or with a `HooksError`."""
        future: Future[Object] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._dead is not None:
                future.set_exception(HooksError(self._dead))
                return future
            self._last_id += 1
            id = self._last_id
            try:
                line = _line({"id": id, "method": method, "params": params})
                if len(line) > LONGEST:
                    # The server could not say to which request its error belongs.
                    raise ValueError(f"it is longer than {LONGEST} bytes")
            except (TypeError, ValueError) as error:
                future.set_exception(HooksError(f"`{method}` can't be sent: {error}"))
                return future
            self._open[id] = future
            self._unsent.put(line)
        return future

    def forget(self, future: Future[Object], why: str) -> None:
        """Gives a request up. A tool call that begins too late is cancelled."""
        try:
            future.set_exception(HooksError(why))
        except InvalidStateError:
            # The answer came at the same time, and nobody will act on it.
            self._cancel(future)

    def _cancel(self, future: Future[Object]) -> None:
        if future.exception() is None:
            self._cancel_call(future.result())

    def _cancel_call(self, result: Object) -> None:
        if "call" in result:
            method = "model.end" if "messages" in result else "tool.end"
            self.request(method, {"call": result["call"], "cancelled": True})

    def close(self, why: str, patience: float) -> None:
        """Ends the server; every open request fails. It gets some seconds to end by itself."""
        self._end(why)
        if self.pid == os.getpid():
            self._close(patience)

    def _end(self, why: str) -> None:
        with self._lock:
            if self._dead is None:
                self._dead = why
            failed, self._open = self._open, {}
        self._unsent.put(None)
        for future in failed.values():
            try:
                future.set_exception(HooksError(self._dead))
            except InvalidStateError:
                pass

    def _write(self) -> None:
        # If it fails, the reader hears of the end and knows the cause.
        with contextlib.suppress(OSError, ValueError), self._sink:
            while (line := self._unsent.get()) is not None:
                self._sink.write(line)
                self._sink.flush()

    def _read(self) -> None:
        try:
            with self._lines:
                for line in self._lines:
                    self.heard = time.monotonic()
                    self._take(line)
            why = self._cause()
        except (OSError, ValueError) as error:
            why = f"the server can't be understood: {error}"
        self._end(why)
        self._close(0)

    def _take(self, line: bytes) -> None:
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("it sent a line that is not an object")
        id = message.get("id")
        if "method" in message:
            if id is not None:
                work = threading.Thread(
                    target=self._answer_question, args=(message,), name="hookexec", daemon=True
                )
                work.start()
            return
        with self._lock:
            future = self._open.pop(id, None) if isinstance(id, int) else None
        if future is None:
            return
        result = message.get("result")
        try:
            if "error" not in message and isinstance(result, dict):
                future.set_result(result)
            else:
                future.set_exception(_error(message.get("error")))
        except InvalidStateError:
            if isinstance(result, dict):
                self._cancel_call(result)

    def _answer_question(self, message: Object) -> None:
        reply: Object = {"id": message["id"]}
        try:
            reply["result"] = self._answer(message["method"], message.get("params") or {})
            line = _line(reply)
        except BaseException as error:  # noqa: BLE001 - whatever went wrong, the hook has failed
            told = f"{type(error).__name__}: {error}"
            line = _line({"id": message["id"], "error": {"code": -32000, "message": told}})
        self._unsent.put(line)


def _error(error: Json) -> HooksError:
    told = error if isinstance(error, dict) else {}
    problem = HooksError(str(told.get("message") or "the server gave no answer"))
    data = told.get("data")
    verdict = data.get("verdict") if isinstance(data, dict) else None
    if isinstance(verdict, dict) and isinstance(verdict.get("allowed"), bool):
        problem.verdict = verdict
    return problem


def _line(message: Object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, allow_nan=False).encode() + b"\n"
