"""What the scripted hooks of these tests have in common: reading and writing messages."""

import json
import os
import sys
import time


def out(text):
    """Writes raw text, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def say(message):
    """Writes one message."""
    out(json.dumps(message) + "\n")


def reply(message, result):
    """Answers a call."""
    say({"jsonrpc": "2.0", "id": message["id"], "result": result})


def fail(message, code, text):
    """Answers a call with an error."""
    say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}})


def messages():
    """Yields what the host says, until it says no more."""
    for line in iter(sys.stdin.readline, ""):
        yield json.loads(line)


def hello(**extra):
    """Returns the greeting; every test but those about it begins so."""
    message = json.loads(sys.stdin.readline())
    assert message["method"] == "hook.hello", message
    reply(message, {"ok": True, **extra})
    return message["params"]


def serve(answer):
    """Greets, then answers every call with what `answer(method, params)` returns."""
    hello()
    for message in messages():
        if "id" in message:
            reply(message, answer(message["method"], message.get("params") or {}))


def note(name, text):
    """Writes a file that the test waits for."""
    with open(name + ".new", "w") as file:
        file.write(str(text))
    os.rename(name + ".new", name)
