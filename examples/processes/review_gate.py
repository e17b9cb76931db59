#!/usr/bin/env python3
"""A review gate: destructive shell commands are denied, risky ones asked about, approvals decided.

Every decision, and every event the gate is told of, becomes a line of the audit log named by
REVIEW_GATE_LOG. See docs/serve.md. Standard library only.
"""

import json
import os
import re
import sys
import time

DESTRUCTIVE = re.compile(r"\b(rm\s+-\w*[rf]|mkfs|dd\s+.*of=/dev/|git\s+push\s+.*--force)")
RISKY = re.compile(r"\b(git\s+push|npm\s+publish|curl|ssh)\b")
SAFE = re.compile(r"^\s*(git\s+(status|diff|log)|ls|cat)\b")


def log(what, **details):
    """Appends one line in one write, so that several gates may share a log."""
    path = os.environ.get("REVIEW_GATE_LOG")
    if path:
        record = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "what": what, **details}
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, (json.dumps(record) + "\n").encode())
        finally:
            os.close(file)


def command(params):
    """Returns the shell command of a call."""
    return str(params.get("arguments", {}).get("cmd", ""))


def before_tool(params):
    text = command(params)
    if DESTRUCTIVE.search(text):
        log("denied", command=text)
        return {"action": "deny_tool", "reason": f"the review gate does not allow: {text}"}
    if RISKY.search(text):
        log("asked", command=text)
        # An ask is no word of PicoClaw's; hookexec takes its own answers, too.
        return {"decision": "ask", "reason": f"this reaches beyond the project: {text}"}
    log("passed", command=text)
    return {"action": "continue"}


def approve_tool(params):
    text = command(params)
    approved = bool(SAFE.search(text))
    log("approved" if approved else "refused", command=text)
    return {"approved": approved, "reason": "reads only" if approved else "not reviewed"}


METHODS = {
    "hook.hello": lambda params: {"ok": True, "name": "review-gate"},
    "hook.before_tool": before_tool,
    "hook.approve_tool": approve_tool,
}


def main():
    for line in iter(sys.stdin.readline, ""):
        message = json.loads(line)
        if "id" not in message:
            log("event", kind=message["params"].get("kind"))
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        method = METHODS.get(message["method"])
        if method is None:
            reply["error"] = {"code": -32601, "message": "unknown method"}
        else:
            try:
                reply["result"] = method(message.get("params") or {})
            except Exception as error:
                # Without an answer the guard has failed, and the call is denied.
                reply["error"] = {"code": -32000, "message": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
