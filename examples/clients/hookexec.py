"""A client for `hookexec serve`, in the standard library alone.

    from hookexec import Hooks

    with Hooks("/run/user/1000/hookexec/socket") as hooks:
        verdict = hooks.dispatch("pre_tool_use", {"tool_name": "shell", "tool_input": {"cmd": "ls"}})
        if not verdict["allowed"]:
            print("denied:", verdict.get("message", ""))

From a shell: python3 hookexec.py SOCKET EVENT < input.json
"""

import json
import os
import socket
import sys

#: What stands for a tool's response that no hook could look at.
WITHHELD = "The tool's response is withheld: hookexec gave no verdict."


def without_answer(event, message):
    """Returns the verdict when there is none: an error never means "go on".

    It denies, and after a tool it withholds the response, since nobody took the secrets out.
    """
    verdict = {"event": event, "decision": "deny", "allowed": False, "hooks": [], "message": message}
    if event in ("post_tool_use", "tool_response_transform"):
        verdict["updated_tool_response"] = WITHHELD
    return verdict


def is_verdict(value):
    """Tells whether a value of the server can be taken for a verdict."""
    return isinstance(value, dict) and isinstance(value.get("allowed"), bool)


class Hooks:
    """A connection to a server. One thread at a time; make one for each."""

    def __init__(self, path, timeout=120.0):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")
        self._id = 0

    def dispatch(self, event, input, project=None, on_hook=None):
        """Returns the verdict on an event; also when the server refuses or goes away.

        `project` makes sure that the server has the hooks of this directory. `on_hook(method,
        params)` is told of every hook that starts and ends.
        """
        params = {"event": event, "input": input, "progress": on_hook is not None}
        if project is not None:
            params["project"] = os.path.realpath(project)
        try:
            answer = self.call("dispatch", params, on_hook)
        except (OSError, ValueError) as error:
            return without_answer(event, f"hookexec serve: {error}")
        if is_verdict(answer.get("result")):
            return answer["result"]
        # With an error comes the verdict that the configured hooks stand for, where the server knows it.
        error = answer.get("error") or {}
        data = error.get("data") or {}
        if is_verdict(data.get("verdict")):
            return data["verdict"]
        return without_answer(event, f"hookexec serve: {error.get('message', 'no verdict')}")

    def call(self, method, params=None, on_hook=None):
        """Returns the answer to a request: an object with `result` or `error`."""
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        for line in self._lines:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise ValueError("the server sent something that is not an object")
            if message.get("id") == self._id and "method" not in message:
                return message
            if on_hook and "method" in message:
                on_hook(message["method"], message["params"])
        raise OSError("the server hung up")

    def close(self):
        self._lines.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    path, event = sys.argv[1:]
    try:
        with Hooks(path) as hooks:
            verdict = hooks.dispatch(event, json.load(sys.stdin), project=".")
    except (OSError, ValueError) as error:
        verdict = without_answer(event, f"{path}: {error}")
    print(json.dumps(verdict))
    sys.exit(0 if verdict["allowed"] else 3 if verdict.get("decision") == "ask" else 2)


if __name__ == "__main__":
    main()
