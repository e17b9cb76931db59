#!/usr/bin/env python3
"""Has a real coding agent call `rm -r build` in a project, offline, and says what came of it.

usage: client.py claude|codex HOME

HOME is as a user left it, with the directory `project` in it. It prints `ran` when the directory
`build` is gone, `denied` when it is still there and the model was told the reason of the first
guard of `hookexec init`, and `skipped: REASON` when the client is not installed. Everything else
fails. The clients and the model are those of `tests/agents/real`.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/agents/real"))

import clients
import run
from model import Model

REASON = "is denied: `rm -r`"


def names_hookexec(path):
    return path.exists() and "hookexec" in path.read_text()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    kind = {"claude": clients.Claude, "codex": clients.Codex}[sys.argv[1]]
    if reason := kind.missing():
        return print(f"skipped: {reason}")
    run.isolate()
    home = pathlib.Path(sys.argv[2])
    client = kind(home.parent)
    client.home, client.project = home, home / "project"
    write = client.write
    # Settings that `hookexec install` wrote stay.
    client.write = lambda path, text: names_hookexec(home / path) or write(path, text)
    build = client.project / "build"
    build.mkdir()
    with Model(["rm -r build"]) as model:
        client.prepare(model.port)
        command = [client.program(), *client.command("please clean up")]
        process = run.run(command, env=client.environment(model.port), cwd=client.project)
        told = "\n".join(model.results)
    if not build.exists() and REASON not in told:
        return print("ran")
    if build.exists() and REASON in told:
        build.rmdir()
        return print("denied")
    sys.exit(f"neither ran nor denied: {told}\n{process.stdout[-2000:]}{process.stderr[-2000:]}")


if __name__ == "__main__":
    main()
