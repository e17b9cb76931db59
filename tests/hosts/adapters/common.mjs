// What the programs of all adapters in TypeScript share; tests/hosts/frameworks.py runs them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Hooks } from "../../../hosts/node/lib/index.mjs";

const commands = JSON.parse(process.env.COMMANDS);
const ran = [];
const asked = [];
const turns = new Set();

/** Runs a command. */
export function shell(cmd) {
  ran.push(cmd);
  if (cmd === "fail") throw new Error("it broke");
  return `ran ${cmd === "cat key" ? process.env.SECRET : cmd}`;
}

function approve({ toolInput }) {
  asked.push(toolInput.cmd);
  return toolInput.cmd.includes("--force") ? "not with force" : true;
}

function judge({ turn_id, tool_input: { cmd } }) {
  turns.add(turn_id);
  if (cmd === "ls") return { updated_input: { cmd: "ls -l" }, additional_context: "be brief" };
  if (cmd === "other") return { updated_tool_name: "other" };
  if (cmd === "halt") return { continue: false, stop_reason: "enough" };
  if (cmd === "kill") process.kill(Number(readFileSync("pid", "utf8")), "SIGKILL");
  return null;
}

/** `drive(session, commands)` runs an agent and returns what the model read of each call. */
export async function report(drive) {
  const hooks = new Hooks("hooks.yaml", { isolated: true, program: "./hookexec", approve });
  hooks.builtin("judge", judge);
  const told = await hooks.session().run(async (session) => {
    const texts = await session.turn("go").run(() => drive(session, commands));
    assert.deepEqual([...turns], ["turn-1"]);
    const first = ran.splice(0);
    // The server dies in the first call. The second one works.
    await drive(session, ["kill", "echo"]);
    const killed = ran.splice(0);
    await drive(session, ["halt", "echo"]);
    const stopped = ran.length === 0 ? session.stop?.reason : null;
    return { texts, ran: first, asked, stopped, killed };
  });
  await hooks.close();
  console.log(JSON.stringify(told));
}
