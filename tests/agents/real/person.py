"""A person before a terminal in which `hookexec approve` runs."""

import contextlib
import os
import pty
import signal
import threading
import time


class Person:
    """Types each answer once its question is shown: `{"[1]": "1 y"}`."""

    def __init__(self, program, environment, answers):
        self.answers = dict(answers)
        self.shown = ""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.execve(program, [str(program), "approve", "--no-page"], environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        deadline = time.monotonic() + 60
        while "waiting for questions" not in self.shown:
            if time.monotonic() > deadline or not self._reader.is_alive():
                raise OSError(f"`hookexec approve` did not start: {self.shown}")
            time.sleep(0.01)

    def _read(self):
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(self._terminal, 4096):
                self.shown += piece.decode(errors="replace")
                for question in [question for question in self.answers if question in self.shown]:
                    os.write(self._terminal, self.answers.pop(question).encode() + b"\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self._pid, signal.SIGTERM)
        os.waitpid(self._pid, 0)
        self._reader.join()
        os.close(self._terminal)
