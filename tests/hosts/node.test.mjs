// The npm package against a real server: `HOOKEXEC=target/debug/hookexec node --test tests/hosts/node.test.mjs`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, test } from "node:test";

import { guardTools } from "../../hosts/node/lib/ai.mjs";
import { Cancelled, Hooks, HooksError, NotRun, Refused } from "../../hosts/node/lib/index.mjs";

const PROGRAM = resolve(process.env.HOOKEXEC);
const GUARD = `
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: builtin, command: judge }
`;
const shell = ({ cmd }) => `ran ${cmd}`;

let place;
let opened;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "hookexec-")));
  opened = [];
  // A wrapper that says which process the server is.
  script("hookexec", `echo $$ >> "${place}/pids"\nexec "${PROGRAM}" "$@"`);
});

afterEach(async () => {
  for (const hooks of opened) await hooks.close();
  rmSync(place, { recursive: true });
});

function script(name, text) {
  const file = join(place, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** Returns hooks whose builtin `judge` is the given function. */
function judgedBy(answer, text = GUARD, options = {}) {
  writeFileSync(join(place, "hooks.yaml"), text);
  const program = join(place, "hookexec");
  const hooks = new Hooks(join(place, "hooks.yaml"), { isolated: true, program, cwd: place, ...options });
  opened.push(hooks);
  return answer ? hooks.builtin("judge", answer) : hooks;
}

/** Has the client wait for answers that come late on a busy machine. The server is told the same. */
function waitForServer(hooks) {
  const connection = hooks.connection();
  const request = connection.request.bind(connection);
  connection.request = (method, params) => request(method, params, 120_000);
}

const pids = () => readFileSync(join(place, "pids"), "utf8").trim().split("\n").map(Number);
const on = (...events) => `hooks:\n${events.map((it) => `  ${it}: { type: builtin, command: judge }\n`).join("")}`;

test("each answer of a hook has its effect", async () => {
  const answers = {
    rm: { decision: "deny", reason: "no rm" },
    ls: { updated_input: { cmd: "ls -l" }, additional_context: "be brief" },
    date: { respond: { for_llm: "noon" } },
    halt: { continue: false, stop_reason: "enough" },
  };
  const text = GUARD.replace("judge }", "judge, mutates: true }");
  const hooks = judgedBy((input) => answers[input.tool_input.cmd], text);
  const ran = [];
  const ends = {};
  await hooks.session().run((session) =>
    session.turn("go").run(async (turn) => {
      for (const cmd of ["rm", "ls", "date", "halt", "echo"]) {
        ends[cmd] = await turn.toolCall("shell", { cmd }).run((input) => {
          ran.push(input.cmd);
          return shell(input);
        });
      }
    }),
  );
  assert.deepEqual(ran, ["ls -l", "echo"]);
  const said = Object.entries(ends).map(([cmd, it]) => [cmd, it.end, it.forModel, it.isError]);
  assert.deepEqual(said, [
    ["rm", "denied", "Tool call denied: no rm", true],
    ["ls", "ran", "ran ls -l\n\nbe brief", false],
    ["date", "responded", "noon", false],
    ["halt", "aborted", "Stopped by a hook: enough", true],
    ["echo", "ran", "ran echo", false],
  ]);
  assert.deepEqual(ends.ls.toolInput, { cmd: "ls -l" });
  assert.equal(ends.halt.stop.reason, "enough");
});

test("an ask is approved, refused or denied", async () => {
  const session = judgedBy(() => ({ decision: "ask", reason: "sure?" })).session();
  const asked = [];
  const approve = (request) => {
    asked.push([request.toolName, request.toolInput, request.reason]);
    return true;
  };
  const broken = () => {
    throw new Error("no terminal");
  };
  const ends = [];
  for (const how of [undefined, approve, () => false, () => "not today", () => 1, async () => true]) {
    ends.push(await session.toolCall("shell", { cmd: "ls" }, { approve: how }).run(shell));
  }
  assert.deepEqual(asked, [["shell", { cmd: "ls" }, "sure?"]]);
  const expected = ["denied", "ran", "denied", "denied", "denied", "ran"];
  assert.deepEqual(ends.map((it) => it.end), expected);
  assert.match(ends[0].message, /no one can be asked: sure\?/);
  assert.equal(ends[3].message, "not today");
  const call = session.toolCall("shell", { cmd: "ls" }, { approve: broken });
  await assert.rejects(call.run(() => assert.fail("it ran")), /no terminal/);
});

test("a response is rewritten and objected to, after a failure too", async () => {
  const seen = [];
  const judge = (input) => {
    seen.push([input.hook_event_name, input.tool_response, input.tool_error]);
    if (input.hook_event_name === "post_tool_use") return { decision: "block", reason: "look again" };
    return { updated_tool_response: "clean" };
  };
  const hook = "{ hooks: { type: builtin, command: judge } }";
  const hooks = judgedBy(judge, `hooks:\n  tool_response_transform: ${hook}\n  post_tool_use: ${hook}\n`);
  const session = hooks.session();
  const good = await session.toolCall("shell", { cmd: "ls" }).run(shell);
  const bad = await session.toolCall("shell", { cmd: "ls" }).run(() => {
    throw new Error("secret");
  });
  assert.deepEqual([good.end, good.response, good.forModel], ["ran", "clean", "clean\n\nlook again"]);
  assert.deepEqual([bad.end, bad.response, bad.exception.message], ["failed", "clean", "secret"]);
  assert.deepEqual(seen.slice(0, 3), [
    ["tool_response_transform", "ran ls", false],
    ["post_tool_use", "clean", false],
    ["tool_response_transform", "secret", true],
  ]);
});

test("a stop counts although another hook outlasts the client", async () => {
  const stops = `echo '{\\"continue\\": false, \\"stop_reason\\": \\"enough\\"}'`;
  const text = `
hooks:
  post_tool_use:
    - hooks:
        - { type: command, command: "${stops}" }
        - { type: command, command: sleep 1000, timeout: 10m }
`;
  const hooks = judgedBy(undefined, text);
  const session = await hooks.session().begin();
  waitForServer(hooks);
  hooks.timeout = 3;
  const { end, stop } = await session.toolCall("shell", { cmd: "ls" }).run(shell);
  assert.deepEqual([end, stop?.reason], ["aborted", "enough"]);
});

test("begin throws if the call is denied", async () => {
  const session = judgedBy(() => ({ decision: "deny", reason: "no" })).session();
  const call = session.toolCall("shell", { cmd: "ls" });
  await assert.rejects(call.begin(), (error) => error instanceof NotRun && error.outcome.end === "denied");
});

test("kinds of tools are known by name or by the host", async () => {
  const tools = { run_it: "shell" };
  const session = judgedBy(() => ({ decision: "deny", reason: "no" }), GUARD, { tools }).session();
  const ends = [];
  for (const name of ["bash", "run_it", "other"]) {
    ends.push((await session.toolCall(name, { cmd: "ls" }).run(shell)).end);
  }
  assert.deepEqual(ends, ["denied", "denied", "ran"]);
});

test("a response that no hook changed is the tool's own object", async () => {
  const made = { files: ["a", "b"], count: 2 };
  const run = (tool) => judgedBy(() => null).session().toolCall("shell", { cmd: "ls" }).run(tool);
  assert.equal((await run(() => made)).response, made);
  // Hooks saw what JSON shows of it, so that is all that is handed on.
  assert.deepEqual((await run(() => new Map([["token", "a secret"]]))).response, {});
  const failed = await run(() => { throw { status: 401, token: "a secret" }; });
  assert.match(failed.forModel, /401.*a secret/);
});

test("sessions, turns and model calls fire their events in order", async () => {
  const seen = [];
  const judge = (input) => {
    const event = input.hook_event_name;
    seen.push(event);
    if (event === "before_llm_call") assert.deepEqual([input.turn_id, input.iteration], ["turn-1", 1]);
    if (event === "session_start") return { additional_context: "it is Monday" };
    if (event === "user_prompt_submit") return { additional_context: "be kind" };
    if (event === "stop" && !input.stop_hook_active) return { decision: "block", reason: "run the tests" };
    if (event === "before_llm_call") return { updated_messages: [{ role: "user", content: "clean" }] };
    if (event === "after_llm_call") return { updated_response: { content: "short" } };
  };
  const events = ["session_start", "user_prompt_submit", "turn_start", "before_llm_call",
    "after_llm_call", "stop", "turn_end", "session_end"];
  await judgedBy(judge, on(...events)).session({ id: "s-1", model: "m" }).run(async (session) => {
    assert.equal(session.additionalContext, "it is Monday");
    await session.turn("hello").run(async (turn) => {
      assert.equal(turn.additionalContext, "be kind");
      const sent = [];
      const answer = await session.modelCall([{ role: "user", content: "secret" }]).run((request) => {
        sent.push([request.messages, request.model]);
        return { content: "a long answer" };
      });
      assert.deepEqual(answer, { content: "short" });
      assert.deepEqual(sent, [[[{ role: "user", content: "clean" }], "m"]]);
      assert.equal(await turn.finish("done"), "run the tests");
      assert.equal(await turn.finish("really done"), null);
    });
  });
  assert.deepEqual(seen, [...events.slice(0, 6), "stop", ...events.slice(6)]);
});

test("what a hook refuses is thrown", async () => {
  const judge = (input) => ({ decision: "block", reason: `no ${input.hook_event_name}` });
  const session = judgedBy(judge, on("user_prompt_submit", "before_llm_call")).session();
  const never = () => assert.fail("it ran");
  await assert.rejects(session.turn("hello").run(never), new Refused("no user_prompt_submit", "user_prompt_submit", null));
  await assert.rejects(session.modelCall([]).run(never), /no before_llm_call/);
});

test("the end of a turn tells how it ended", async () => {
  const seen = [];
  const judge = (input) => void seen.push([input.hook_event_name, input.reason]);
  const session = judgedBy(judge, on("turn_end", "on_error")).session();
  for (const error of [new Error("oh"), new Cancelled(), new Refused("no")]) {
    await assert.rejects(session.turn("go").run(() => Promise.reject(error)), error);
  }
  assert.deepEqual(seen, [["on_error", undefined], ["turn_end", "error"], ["turn_end", "canceled"],
    ["turn_end", "hook_blocked"]]);
});

test("a verdict of one event comes as run prints it", async () => {
  const hooks = judgedBy(() => ({ decision: "deny", reason: "no" }));
  const verdict = await hooks.dispatch("pre_tool_use", { tool_name: "shell", tool_input: {} });
  assert.deepEqual([verdict.allowed, verdict.message], [false, "no"]);
  assert.equal((await hooks.dispatch("pre_tool_use", { tool_name: 5 })).allowed, false);
});

// Whatever breaks, the tool does not run, and the next call works.

async function denied(session, cmd = "ls") {
  const outcome = await session.toolCall("shell", { cmd }).run(() => assert.fail("the tool ran"));
  assert.equal(outcome.end, "denied");
  return outcome.message;
}

async function works(session) {
  assert.equal((await session.toolCall("shell", { cmd: "echo" }).run(shell)).end, "ran");
}

test("a server that is killed in a call denies it and is replaced", async () => {
  const hooks = judgedBy((input) => {
    if (input.tool_input.cmd !== "kill") return null;
    process.kill(pids().at(-1), "SIGKILL");
    return new Promise(() => {});
  });
  await hooks.session().run((session) =>
    session.turn("go").run(async (turn) => {
      await works(session);
      assert.match(await denied(session, "kill"), /SIGKILL/);
      await works(turn);
    }),
  );
  assert.equal(pids().length, 2);
});

test("a server that is killed while the tool runs withholds the response", async () => {
  const session = judgedBy(() => null).session();
  const outcome = await session.toolCall("shell", { cmd: "ls" }).run(() => {
    process.kill(pids().at(-1), "SIGKILL");
    return "a secret";
  });
  assert.deepEqual([outcome.end, outcome.isError], ["failed", true]);
  assert.doesNotMatch(JSON.stringify(outcome), /secret/);
  await works(session);
});

test("a server that hangs denies at the deadline and is replaced", async () => {
  const hooks = judgedBy(() => null);
  const session = hooks.session();
  await works(session);
  process.kill(pids().at(-1), "SIGSTOP");
  hooks.timeout = 0.5;
  assert.match(await denied(session), /within 0.5 seconds/);
  hooks.timeout = 120;
  await works(session);
});

test("a slow hook denies at the deadline and others go on", async () => {
  const judge = (input) => (input.tool_input.cmd === "slow" ? new Promise(() => {}) : null);
  const hooks = judgedBy(judge);
  const session = hooks.session();
  await works(session);
  let isDenied = false;
  waitForServer(hooks);
  hooks.timeout = 1;
  const slow = denied(session, "slow").finally(() => (isDenied = true));
  hooks.timeout = 120;
  while (!isDenied) await works(session);
  assert.match(await slow, /the time for an answer passed/);
  assert.equal(pids().length, 1);
});

test("a server that talks nonsense denies", async () => {
  for (const said of ["nonsense", "[]", '{"jsonrpc":"2.0","id":1,"result":null}',
    '{"jsonrpc":"2.0","id":1,"result":{"next":"run"}}',
    '{"jsonrpc":"2.0","id":1,"result":{"next":"done"}}', '{"jsonrpc":"2.0","id":1,"error":null}']) {
    const program = script("nonsense", `read line\necho '${said}'\nexec cat >/dev/null`);
    await denied(judgedBy(undefined, GUARD, { program, timeout: 10 }).session());
  }
});

test("a missing program and a broken file are reported", async () => {
  const begin = (...how) => judgedBy(...how).session().begin();
  await assert.rejects(begin(undefined, GUARD, { program: "/nowhere" }), /can't start/);
  await assert.rejects(begin(undefined, "pre_tool_us: []"), /pre_tool_us/);
  await assert.rejects(begin(undefined), /unknown builtin `judge`/);
});

test("a builtin without a valid answer denies", async () => {
  const circle = {};
  circle.it = circle;
  for (const [answer, told] of [
    [() => { throw new RangeError("oh no"); }, /RangeError: oh no/],
    [async () => Promise.reject(new Error("later")), /later/],
    [() => "deny", /not an object/],
    [() => Number.NaN, /not an object/],
    [() => [], /an object/],
    [() => ({ decison: "deny" }), /decison/],
    [() => ({ decision: "maybe" }), /maybe/],
    [() => circle, /TypeError/],
    [() => new Map([["decision", "deny"]]), /not plain JSON/],
    [() => ({ decision: Symbol("deny") }), /not plain JSON/],
    [() => { throw Object.create(null); }, /it threw no Error/],
  ]) {
    assert.match(await denied(judgedBy(answer).session()), told);
  }
});

test("a builtin that does not answer in the hook's time denies", async () => {
  const text = GUARD.replace("judge }", "judge, timeout: 100ms }");
  assert.match(await denied(judgedBy(() => new Promise(() => {}), text).session()), /timed out/);
});

test("a builtin may not take the place of a shipped one", async () => {
  const hooks = judgedBy(undefined, "hooks: {}").builtin("add_date", () => null);
  assert.throws(() => hooks.builtin("add_date", () => null), HooksError);
  assert.match(await denied(hooks.session()), /`add_date` is the name of another builtin/);
});

test("fifty calls at once", async () => {
  let waiting = 0;
  let open;
  const gate = new Promise((resolve) => (open = resolve));
  const session = judgedBy(async (input) => {
    waiting += 1;
    if (waiting === 50) open();
    await gate;
    const number = input.tool_input.cmd;
    return Number(number) % 2 ? { decision: "deny", reason: number } : null;
  }).session();
  const numbers = Array.from({ length: 50 }, (_, n) => n);
  const calls = numbers.map((n) => session.toolCall("shell", { cmd: String(n) }).run(shell));
  const said = (await Promise.all(calls)).map((it) => it.forModel);
  assert.deepEqual(said, numbers.map((n) => (n % 2 ? `Tool call denied: ${n}` : `ran ${n}`)));
});

test("a tool that is cancelled is reported so", async () => {
  const seen = [];
  const judge = (input) => void seen.push([input.hook_event_name, input.reason]);
  const hook = "{ hooks: { type: builtin, command: judge } }";
  const session = judgedBy(judge, `hooks:\n  post_tool_use: ${hook}\n`).session();
  const outcome = await session.toolCall("shell", {}).run(() => Promise.reject(new Cancelled()));
  assert.equal(outcome.end, "cancelled");
  assert.deepEqual(seen, [["post_tool_use", "canceled"]]);
});

test("what is too long for the server is denied or withheld at once", async () => {
  const session = judgedBy(() => null).session();
  const long = "x".repeat(9 << 20);
  assert.match(await denied(session, long), /longer than/);
  const outcome = await session.toolCall("shell", { cmd: "ls" }).run(() => long);
  assert.deepEqual([outcome.end, outcome.isError], ["failed", true]);
  assert.ok(outcome.response.length < 1000);
  await works(session);
});

test("closed hooks deny", async () => {
  const hooks = judgedBy(() => null);
  await works(hooks.session());
  await hooks.close();
  assert.match(await denied(hooks.session()), /closed/);
});

test("a program ends although its server runs", async () => {
  writeFileSync(join(place, "hooks.yaml"), "hooks: {}");
  const library = resolve(import.meta.dirname, "../../hosts/node/lib/index.mjs");
  const code = `
    import { Hooks } from ${JSON.stringify(library)};
    const hooks = new Hooks("hooks.yaml", { isolated: true, program: "./hookexec" });
    console.log((await hooks.session().toolCall("shell", {}).run(() => "ran")).forModel);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { cwd: place });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0);
  assert.equal(said, "ran\n");
});

test("a running server answers at its socket, and its absence denies", async () => {
  writeFileSync(join(place, "hooks.yaml"), GUARD.replace("builtin, command: judge", "rule, deny: no, commands: [rm]"));
  chmodSync(place, 0o700);
  const socket = join(place, "socket");
  const options = ["serve", "--socket", socket, "--isolated", "--config", "hooks.yaml"];
  const server = spawn(join(place, "hookexec"), options, { cwd: place });
  const ended = new Promise((resolve) => server.on("close", resolve));
  await new Promise((resolve) => server.stderr.once("data", resolve));
  const hooks = new Hooks([], { socket, cwd: place });
  opened.push(hooks);
  const session = hooks.session();
  const end = async (cmd) => (await session.toolCall("shell", { cmd }).run(shell)).end;
  assert.deepEqual([await end("ls"), await end("rm")], ["ran", "denied"]);
  server.kill("SIGKILL");
  await ended;
  assert.equal(await end("ls"), "denied");
  assert.throws(() => new Hooks([], { socket, isolated: true }), HooksError);
});

test("a tool of the AI SDK does not run once the user has pressed stop", async () => {
  const pressed = new AbortController();
  const ran = [];
  const approve = () => {
    pressed.abort();
    return true;
  };
  const hooks = judgedBy(() => ({ decision: "ask", reason: "may it?" }), GUARD, { approve });
  const tool = { execute: ({ cmd }) => ran.push(cmd) };
  await hooks.session().run((session) =>
    session.turn("go").run(async () => {
      const tools = guardTools(session, { shell: tool });
      const call = tools.shell.execute({ cmd: "ls" }, { abortSignal: pressed.signal });
      await assert.rejects(call, NotRun);
    }),
  );
  assert.deepEqual(ran, []);
});
