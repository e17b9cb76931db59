#!/usr/bin/env python3
"""An MCP server that does what the tool of a call says, well or badly. It writes its input to `got`."""

import json
import os
import sys
import time

hanging = []
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


def write(line):
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def answer(id, **said):
    write(json.dumps({"jsonrpc": "2.0", "id": id, **said}))


def say(id, text, **more):
    answer(id, result={"content": [{"type": "text", "text": text}], **more})


def call(id, tool, arguments):
    if tool == "hang":
        hanging.append(id)
        return
    if tool == "die":
        sys.exit(7)
    if tool == "kill":
        os.kill(os.getpid(), 9)
    if tool == "close":
        os.close(1)
        time.sleep(600)
    if tool == "error":
        answer(id, error={"code": -32602, "message": "no such thing", "data": {"n": 1}})
    elif tool == "fail":
        say(id, "it broke", isError=True)
    elif tool == "secret":
        say(id, f"key {SECRET}", structuredContent={"key": SECRET}, isError="fail" in arguments)
    elif tool == "twice":
        say(id, "first")
        say(id, SECRET)
    elif tool == "other_id":
        say(str(id), SECRET)
        say(1000, SECRET)
        say(id, "right")
    elif tool == "doubled":
        write(f'{{"jsonrpc":"2.0","id":{id},"result":{{}},"result":{{"x":"{SECRET}"}}}}')
    elif tool == "late":
        for hung in hanging:
            say(hung, SECRET)
        say(id, "done")
    elif tool == "line":
        write(arguments["line"])
        if "then" in arguments:
            say(id, arguments["then"])
    elif tool == "hidden":
        write(f'{{"a":\r{{"jsonrpc":"2.0","id":{id},"result":{{"content":["{SECRET}"]}}}}\r}}')
    elif tool == "huge":
        sys.stdout.buffer.write(b'{"result":{"x":"')
        for _ in range(65):
            sys.stdout.buffer.write(b"x" * (1 << 20))
        write(f'"}},"jsonrpc":"2.0","id":{id}}}')
    else:
        say(id, f"{tool} {json.dumps(arguments, sort_keys=True)}")


def main():
    with open("server.pid", "w") as file:
        print(os.getpid(), file=file)
    got = open("got", "ab", buffering=0)
    for line in sys.stdin.buffer:
        got.write(line)
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if method == "tools/call":
            call(id, message["params"]["name"], message["params"].get("arguments"))
        elif method == "speak":
            for text in message["params"]["lines"]:
                write(text)
            answer(id, result={})
        elif method == "flood":
            for n in range(message["params"]["lines"]):
                params = {"n": n, "x": "x" * 1000}
                write(json.dumps({"jsonrpc": "2.0", "method": "n", "params": params}))
            answer(id, result={})
        elif method == "stay":
            while True:
                time.sleep(600)
        elif id is not None and method is not None and method != "mute":
            answer(id, result={"of": method})
    got.write(b"EOF\n")
    sys.exit(3 if os.path.exists("three") else 0)


main()
