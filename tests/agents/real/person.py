"""A person before a terminal in which `hookexec approve` runs."""

import contextlib
import os
import pty
import re
import signal
import threading
import time

#: What ends a question; the terminal writes a carriage return before each newline.
SHOWN = re.compile(r"deny:  hookexec approve deny ([0-9a-f]+) REASON")


class Person:
    """Answers the questions in their order, each in a terminal of its own: `[["allow"], ["deny", "no"]]`."""

    def __init__(self, program, environment, answers):
        self.answers = list(answers)
        self.shown = ""
        self._program, self._environment = str(program), environment
        self._pid, self._terminal = self._start("--no-page")
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        deadline = time.monotonic() + 60
        while "waiting for questions" not in self.shown:
            if time.monotonic() > deadline or not self._reader.is_alive():
                raise OSError(f"`hookexec approve` did not start: {self.shown}")
            time.sleep(0.01)

    def _start(self, *words):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(self._program, [self._program, "approve", *words], self._environment)
        return pid, terminal

    def _read(self):
        answered = 0
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(self._terminal, 4096):
                self.shown += piece.decode(errors="replace")
                for question in SHOWN.findall(self.shown)[answered:]:
                    answered += 1
                    if self.answers:
                        self._answer(question, *self.answers.pop(0))

    def _answer(self, question, verb, *reason):
        pid, terminal = self._start(verb, question, *reason)
        with contextlib.suppress(OSError):
            while os.read(terminal, 4096):
                pass
        os.waitpid(pid, 0)
        os.close(terminal)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        self._reader.join()
        os.close(self._terminal)
