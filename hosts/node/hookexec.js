#!/usr/bin/env node
// Starts the native program for people who type `npx hookexec`. Agents never call this file:
// `hookexec install` writes the path of the native program into their settings.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

// Denies: whatever an agent or a script makes of another exit code, this one is not permission.
function fail(message) {
  process.stderr.write(`hookexec: ${message}\n`);
  process.exit(2);
}

const name = `@hookexec/${process.platform}-${process.arch}`;

function findProgram() {
  const file = process.platform === "win32" ? "hookexec.exe" : "hookexec";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    const { optionalDependencies = {} } = require("../package.json");
    if (name in optionalDependencies) {
      fail(`the package ${name} is missing: install again, without \`--omit=optional\` or \`--no-optional\``);
    }
    const known = Object.keys(optionalDependencies).join(", ");
    fail(`no package supports ${process.platform} on ${process.arch}, only ${known}`);
  }
}

const child = spawn(findProgram(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`can't start ${child.spawnfile}: ${error.message}`));

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}

child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // Ends as the program ended. The kernel delivers the signal before the timer.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + os.constants.signals[signal]), 100);
});
