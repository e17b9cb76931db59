"""A language model that never thinks: it asks for one tool call, reads the result, and says it is done.

It speaks the four wire formats of the clients (Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini), keeps every
request, and serves on 127.0.0.1 from a thread of the test.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DONE = "I am done."

# The tools that run a command, by the names of the clients, each with its arguments.
SHELLS = {
    "Bash": lambda command: {"command": command, "description": "run it"},
    "exec_command": lambda command: {"cmd": command},
    "shell_command": lambda command: {"command": command},
    "run_shell_command": lambda command: {"command": command, "description": "run it", "is_background": False},
    "bash": lambda command: {"command": command, "description": "run it"},
    "exec": lambda command: {"command": command},
    "Execute": lambda command: {
        "command": command, "summary": "run it", "timeout": 60, "riskLevel": "low", "riskLevelReason": "a test", "fireAndForget": False,
    },
}


# The MCP server in mcp_server.py, and its tool by the names that the clients offer:
# `mcp__my-kit__do-it`, `mcp_my-kit_do-it`, `my-kit-do-it`, `my-kit_do-it`, `my-kit__do-it`,
# `my-kit___do-it`, `mcp_my_kit.do_it`. Codex offers the tool `do_it` in the namespace `mcp__my_kit`.
MCP_SERVER = "my-kit"
MCP_TOOL = re.compile(r"[\w-]*my[-_]kit[-_/.]+do[-_]it\b")

# Some clients do not offer the tools of MCP servers at once. The model searches for them with one of
# these tools, then calls them by name (Claude Code, Droid), through `tool_call` (Qwen Code, OpenClaw), or
# in a program (Vibe).
TOOL_SEARCHES = ["ToolSearch", "tool_search", "search_tool_functions"]


class Model:
    """A model that asks for each of `commands` to be run, or with `mcp` for the tool of the MCP server."""

    def __init__(self, commands, mcp=False):
        self.commands = commands
        self.mcp = mcp
        self.search = None  # the call that searched for the tool of the MCP server, if one was needed
        self.called = None  # the name by which the tool of the MCP server was called
        self.requests = []  # the bodies, as text
        self.results = []  # what it was told of its tool call, as text
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(model.catalogue(self.path))

            def do_POST(self):
                raw = self.body()
                try:
                    body = json.loads(raw)
                except ValueError:
                    body = {}
                self.reply(model.answer(self.path.split("?")[0], body, raw.decode("utf-8", "replace")))

            def body(self):
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                whole = b""
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    whole += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return whole

            def reply(self, answer):
                kind, payload = answer
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def offered(self):
        """Returns the tools that the client offered, by name, each with the names of its arguments."""
        found = {}
        for request in self.requests:
            queue = list(json.loads(request).get("tools") or [])
            while queue:
                tool = queue.pop()
                queue += tool.get("functionDeclarations") or tool.get("tools") or []
                tool = tool.get("function") or tool
                schema = tool.get("input_schema") or tool.get("parameters") or tool.get("parametersJsonSchema") or {}
                if "name" in tool:
                    found[tool["name"]] = list(schema.get("properties") or {})
        return found

    def catalogue(self, _path):
        model = {"id": "mock-model", "object": "model", "type": "model", "display_name": "mock", "owned_by": "mock"}
        return document({"object": "list", "data": [model], "models": [], "has_more": False})

    def answer(self, path, body, raw):
        if path.endswith("count_tokens"):
            return document({"input_tokens": 10})
        if path.endswith(":countTokens"):
            return document({"totalTokens": 10})
        speak = next((speak for end, speak in self.dialects().items() if end in path), None)
        if speak is None:
            return document({})
        tools, results = heard(body)
        with self._lock:
            self.requests.append(raw)
            self.results += results
            turn = len(self.requests)
            calls = self.mcp_calls(tools, raw) if self.mcp else self.shell_calls(tools)
        call = calls[len(results)] if len(results) < len(calls) else None
        return speak(path, body, call, turn)

    def shell_calls(self, tools):
        """Returns the calls of a turn, each a name and arguments; without a shell on offer there are none."""
        shells = [(name, arguments) for name, arguments in SHELLS.items() if name in tools][:1]
        return [(name, arguments(command)) for command in self.commands for name, arguments in shells]

    def mcp_calls(self, tools, raw):
        """Like `shell_calls`, for the tool of the MCP server."""
        name = next(filter(MCP_TOOL.fullmatch, tools), None)
        search = next((tool for tool in TOOL_SEARCHES if tool in tools), None)
        if not name and search:
            found = MCP_TOOL.search(raw.replace("\\n", " "))
            name = found and found[0]
            self.search = self.search or (search, {"query": f"select:{name}" if name else MCP_SERVER})
        self.called = self.called or name
        call = (name, {"text": "hello"})
        if name not in tools and "tool_call" in tools:
            openclaw = "tool_describe" in tools
            call = ("tool_call", {"id": name, "args": call[1]} if openclaw else {"name": name, "arguments": call[1]})
        if name not in tools and "run_typescript" in tools:
            call = ("run_typescript", {"code": f"async function main() {{ return await tools.{name}({json.dumps(call[1])}) }}"})
        return ([self.search] if self.search else []) + ([call] if name else [])

    def dialects(self):
        return {
            "/messages": anthropic,
            "/responses": responses,
            "/chat/completions": chat,
            "enerateContent": gemini,
        }


def heard(body):
    """Returns the tools on offer and the results of earlier calls, whatever the format."""
    tools, results = set(), []
    for tool in body.get("tools") or []:
        tools |= {tool.get("name"), (tool.get("function") or {}).get("name")}
        tools |= {function.get("name") for function in tool.get("functionDeclarations") or []}
        if tool.get("type") == "namespace":
            tools |= {f"{tool['name']}/{function['name']}" for function in tool["tools"]}
    for message in body.get("messages") or []:
        if message.get("role") == "tool":
            results.append(json.dumps(message.get("content")))
        for part in message.get("content") if isinstance(message.get("content"), list) else []:
            if part.get("type") == "tool_result":
                results.append(json.dumps(part.get("content")))
    for item in body.get("input") if isinstance(body.get("input"), list) else []:
        if str(item.get("type", "")).endswith("_output"):
            results.append(json.dumps(item.get("output")))
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            if "functionResponse" in part:
                results.append(json.dumps(part["functionResponse"].get("response")))
    return tools - {None}, results


def document(value):
    return "application/json", json.dumps(value).encode()


def stream(events):
    """Writes server-sent events; each is a value, with the name of its type where it has one."""
    lines = []
    for event in events:
        if isinstance(event, dict) and "type" in event:
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
    return "text/event-stream", "".join(lines).encode()


def anthropic(_path, body, call, turn):
    message = {
        "id": f"msg_{turn}", "type": "message", "role": "assistant", "model": body.get("model", "mock"), "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    if call:
        block = {"type": "tool_use", "id": f"toolu_{turn}", "name": call[0], "input": call[1]}
        opened = dict(block, input={})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        block = {"type": "text", "text": DONE}
        opened = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": DONE}
    reason = "tool_use" if call else "end_turn"
    if not body.get("stream"):
        return document(dict(message, content=[block], stop_reason=reason))
    return stream([
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ])


def responses(_path, body, call, turn):
    if call:
        namespace, _, name = call[0].rpartition("/")
        item = {
            "type": "function_call", "id": f"fc_{turn}", "call_id": f"call_{turn}", "name": name,
            "arguments": json.dumps(call[1]), "status": "completed", **({"namespace": namespace} if namespace else {}),
        }
    else:
        text = {"type": "output_text", "text": DONE, "annotations": []}
        item = {"type": "message", "id": f"msg_{turn}", "role": "assistant", "status": "completed", "content": [text]}
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }
    response = {
        "id": f"resp_{turn}", "object": "response", "created_at": 1, "model": body.get("model", "mock"),
        "status": "completed", "output": [item], "usage": usage,
    }
    if not body.get("stream"):
        return document(response)
    return stream([
        {"type": "response.created", "response": dict(response, status="in_progress", output=[], usage=None)},
        {"type": "response.output_item.added", "output_index": 0, "item": dict(item, status="in_progress")},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ])


def chat(_path, body, call, turn):
    base = {"id": f"chatcmpl-{turn}", "created": 1, "model": body.get("model", "mock")}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    if call:
        function = {"name": call[0], "arguments": json.dumps(declared(body, *call))}
        said = {"tool_calls": [{"index": 0, "id": f"call_{turn}", "type": "function", "function": function}]}
    else:
        said = {"content": DONE}
    reason = "tool_calls" if call else "stop"
    if not body.get("stream"):
        message = {"role": "assistant", "content": None, **said}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return document(dict(base, object="chat.completion", choices=[choice], usage=usage))

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return dict(base, object="chat.completion.chunk", choices=[choice])

    last = dict(base, object="chat.completion.chunk", choices=[], usage=usage)
    return stream([chunk({"role": "assistant", "content": ""}), chunk(said), chunk({}, reason), last, "[DONE]"])


def declared(body, name, arguments):
    """Returns the arguments that the tool declares: Vibe refuses others."""
    functions = [tool["function"] for tool in body["tools"] if tool.get("function", {}).get("name") == name]
    known = [function["parameters"].get("properties", {}) for function in functions]
    return {key: value for key, value in arguments.items() if not known or key in known[0]}


def gemini(path, body, call, turn):
    settings = body.get("generationConfig") or {}
    if settings.get("responseJsonSchema") or settings.get("responseSchema"):
        verdict = {
            "reasoning": "mock", "next_speaker": "user", "complexity_score": 1, "complexity_reasoning": "mock", "model_choice": "flash",
        }
        part = {"text": json.dumps(verdict)}
    elif call:
        part = {"functionCall": {"name": call[0], "args": call[1], "id": f"fc_{turn}"}}
    else:
        part = {"text": DONE}
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "mock",
    }
    return stream([answer]) if "stream" in path else document(answer)
