// Finds the native program, which is in a package of its own for each platform.

import { createRequire } from "node:module";

export function findHookexecBin() {
  const name = `@hookexec/${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "hookexec.exe" : "hookexec";
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/${file}`);
  } catch {
    throw new Error(`the package ${name} is missing: install hookexec again, with optional packages`);
  }
}
