#!/usr/bin/env python3
"""Runs the adapters of hosts/ under the real frameworks, each with a model that is played.

`python3 tests/hosts/frameworks.py --install` puts the frameworks into target/frameworks first.
Without it, frameworks that are not installed there are skipped, and said to be.

Under each framework the model calls the tool `shell` once for each of `COMMANDS`, under the same
hooks.yaml. What the tool did and what the model read then shows each answer of a hook. The Python
adapters are those of the wheel, installed in an environment that has nothing else. The code of
docs/hosts.md runs under the packed packages.
"""

import argparse
import atexit
import functools
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))
import pack  # noqa: E402

PLACE = ROOT / "target/frameworks"
PYTHON = PLACE / "python/bin/python"
#: What is installed, and what was tested.
PYPI = ["langchain==1.4.7", "langgraph==1.2.22", "openai-agents==0.24.0",
        "pydantic-ai-slim==2.68.0", "claude-agent-sdk==0.2.187", "google-adk==2.13.0", "mcp==2.3.0",
        "agent-framework-core==1.23.0", "agent-hooks-sdk==0.1.0b3", "mypy==2.4.1"]
NPM = ["ai@6.0.326", "@modelcontextprotocol/sdk@1.32.2", "@anthropic-ai/claude-agent-sdk@0.3.330",
       "zod@4.6.7", "typescript@7.0.2", "@types/node@26.6.6"]
#: The adapters: a name, the directory of its program in tests/hosts/adapters, and what it imports.
ADAPTERS = {
    "langchain": ("langchain.py", "langchain"),
    "openai-agents": ("openai_agents.py", "agents"),
    "pydantic-ai": ("pydantic_ai.py", "pydantic_ai"),
    "google-adk": ("google_adk.py", "google.adk"),
    "agent-hooks": ("agent_hooks.py", "agent_framework, agent_hooks"),
    "mcp (Python)": ("mcp.py", "mcp"),
    "ai": ("ai.mjs", "ai"),
    "mcp (Node)": ("mcp.mjs", "@modelcontextprotocol/sdk"),
}

#: The Claude Agent SDKs run Claude Code, which `hookexec install` guards.
CLAUDE = {
    "claude-agent-sdk (Python)": ("claude_agent_sdk.py", "claude_agent_sdk"),
    "claude-agent-sdk (Node)": ("claude-agent-sdk.mjs", "@anthropic-ai/claude-agent-sdk"),
}

HOOKS = """
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { type: rule, deny: not so, commands: [rm -r] }
        - { type: rule, ask: sure, commands: [git push] }
        - { type: builtin, command: judge, mutates: true }
  tool_response_transform:
    - matcher: "*"
      hooks:
        - { type: builtin, command: redact_secrets }
"""
COMMANDS = ["rm -r x", "ls", "git push", "git push --force", "cat key", "fail", "other", "echo"]
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
#: The commands that the tool got: `ls` was rewritten, and the second `git push` was refused.
RAN = ["ls -l", "git push", "cat key", "fail", "echo"]


USE = """
import { Hooks, Refused, type ToolOutcome } from "./hosts/node/lib/index.mjs";
import { guardTools, isStopped } from "./hosts/node/lib/ai.mjs";
import { guardClient } from "./hosts/node/lib/mcp.mjs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { generateText, tool, type LanguageModel } from "ai";
import { z } from "zod";

declare const model: LanguageModel;
const hooks = new Hooks("hooks.yaml", { approve: async ({ toolName }) => toolName === "shell" });
hooks.builtin("judge", (input, args) => ({ decision: "deny", reason: args[0] ?? input.tool_name }));
const shell = tool({ inputSchema: z.object({ cmd: z.string() }), execute: async ({ cmd }) => cmd });
const text: string = await hooks.session({ id: "s" }).run((session) =>
  session.turn("go").run(async (turn) => {
    const outcome: ToolOutcome = await turn.toolCall("x", {}).run(({ n }: { n: number }) => n);
    const tools = guardTools(session, { shell });
    await generateText({ model, tools, prompt: "go", stopWhen: isStopped(session) });
    const client: Client = guardClient(new Client({ name: "x", version: "1" }), session);
    await client.callTool({ name: "shell" });
    const response: { content: string } = await turn.modelCall([]).run(() => ({ content: "" }));
    return (await turn.finish(response.content)) ?? outcome.forModel;
  }),
);
try {
  await hooks.close();
} catch (error) {
  if (error instanceof Refused) console.log(text, error.stop?.scope);
}
// @ts-expect-error: it is a method of `Turn`
hooks.toolCall("x", {});
"""


def check(said):
    """Returns what is wrong with the report of an adapter's program."""
    texts, problems = dict(zip(COMMANDS, said["texts"], strict=True)), []

    def expect(what, is_so):
        if not is_so:
            problems.append(what)

    expect(f"ran {said['ran']}, not {RAN}", said["ran"] == RAN)
    expect("the denial", "`rm -r x` fits `rm -r`" in texts["rm -r x"])
    expect("the context", "ran ls -l" in texts["ls"] and "be brief" in texts["ls"])
    expect("the approval", "ran git push" in texts["git push"])
    expect("the refusal", "not with force" in texts["git push --force"])
    expect("the redaction", SECRET not in texts["cat key"] and texts["cat key"] != "")
    # The OpenAI Agents SDK and Agent Framework tell the model only that there was an error.
    told = ("it broke", "An error occurred", "Error: Function failed.")
    expect("the failure", any(it in texts["fail"] for it in told))
    expect("the rename", "wants the tool `other` instead" in texts["other"])
    expect("no change", texts["echo"] == "ran echo")
    expect(f"asked {said['asked']}", said["asked"] == ["git push", "git push --force"])
    expect("the stop", said["stopped"] == "enough")
    expect("the kill", said["killed"] == ["echo"])
    return [f"{problem}: {json.dumps(said)}" for problem in problems]


def install():
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE / "python"], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *PYPI], check=True)
    (PLACE / "node").mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--silent", "--no-save", "--prefix", PLACE / "node", *NPM]
    subprocess.run(command, check=True)


def is_installed(program, module):
    if program.endswith(".py"):
        if not PYTHON.exists():
            return False
        command = [PYTHON, "-c", f"import {module}"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return (PLACE / "node/node_modules" / module).is_dir()


def facts_of_release():
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    return {name: workspace[name] for name in ("version", "license")}


@functools.cache
def python_with_wheel(hookexec):
    """Packs the wheel and installs it in an empty environment, which then sees the frameworks."""
    place = pathlib.Path(tempfile.mkdtemp()).resolve()
    atexit.register(shutil.rmtree, place)
    systems = {"linux": "unknown-linux-musl", "darwin": "apple-darwin"}
    processor = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    target = f"{processor}-{systems[sys.platform]}"
    pack.pack_wheel(place, facts_of_release(), "hooks", target, pathlib.Path(hookexec))
    subprocess.run([PYTHON, "-m", "venv", place / "venv"], check=True)
    python = place / "venv/bin/python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*pip, "--find-links", place, "hookexec"], check=True)
    frameworks, = (PLACE / "python/lib").glob("*/site-packages")
    site, = (place / "venv/lib").glob("*/site-packages")
    (site / "frameworks.pth").write_text(f"{frameworks}\n")
    return python


def install_npm_package(place):
    """Packs the npm package, and puts it in the place of the source tree's."""
    pack.pack_npm_launcher(place, facts_of_release(), "hooks", [])
    packed, = place.glob("*.tgz")
    shutil.rmtree(place / "node_modules/hookexec")
    shutil.unpack_archive(packed, place)
    (place / "package").rename(place / "node_modules/hookexec")


def command_of(program, python=PYTHON):
    if program.endswith(".py"):
        return [python, ROOT / "tests/hosts/adapters" / program]
    # Node looks for packages beside the file.
    for part in ("tests/hosts/adapters", "hosts/node"):
        target = PLACE / "node" / part
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(ROOT / part, target)
    return ["node", PLACE / "node/tests/hosts/adapters" / program]


def claude(program, hookexec):
    """Runs a program under Claude Code's own entries, and returns what is wrong."""
    sys.path.insert(0, str(ROOT / "tests/agents/real"))
    import model

    problems = []
    hooks = HOOKS.replace("        - { type: builtin, command: judge, mutates: true }\n", "")
    for prompt, expected in [("rm -r kept", "`rm -r kept` fits `rm -r`"), ("echo it ran", "it ran")]:
        with tempfile.TemporaryDirectory() as directory, model.Model([prompt]) as played:
            home, project = [pathlib.Path(directory).resolve() / it for it in ("home", "project")]
            (home / ".config/hookexec").mkdir(parents=True)
            home.chmod(0o700)
            (home / ".config/hookexec/hooks.yaml").write_text(hooks)
            (project / "kept").mkdir(parents=True)
            env = {
                "HOME": str(home), "PATH": os.environ["PATH"], "ANTHROPIC_API_KEY": "dummy",
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{played.port}",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
                "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            options = {"cwd": project, "env": env, "capture_output": True, "text": True}
            subprocess.run([hookexec, "install", "claude-code"], check=True, **options)
            done = subprocess.run(command_of(program), timeout=300, check=False, **options)
            was_kept = (project / "kept").is_dir()
            told = " ".join(played.results)
            if done.returncode or expected not in told or not was_kept:
                problems.append(f"`{prompt}`: {told or 'no result'} {done.stdout}{done.stderr}")
    return problems


def run(program, hookexec):
    """Runs the program of an adapter and returns its report."""
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory).resolve()
        (place / "hooks.yaml").write_text(HOOKS)
        (place / "home").mkdir()
        wrapper = place / "hookexec"
        wrapper.write_text(f'#!/bin/sh\necho $$ > "{place}/pid"\nexec "{hookexec}" "$@"\n')
        wrapper.chmod(0o755)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(place / "home"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COMMANDS": json.dumps(COMMANDS),
            "SECRET": SECRET,
        }
        command = command_of(program, python_with_wheel(hookexec))
        done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True,
                              timeout=300, check=False)
    if done.returncode != 0:
        return [f"it ended with {done.returncode}:\n{done.stdout}{done.stderr}"]
    return check(json.loads(done.stdout.splitlines()[-1]))


def paste(name, program, hookexec):
    """Runs the block of docs/hosts.md for an adapter as it stands, and returns what is wrong."""
    import test_page

    stem = program.split(".")[0]
    module = f"hookexec/{stem}" if program.endswith(".mjs") else f"hookexec.{stem}"
    blocks = [text for _, text in test_page.blocks() if f"from {module} import" in text
              or f'from "{module}"' in text]
    if len(blocks) != 1:
        return [f"docs/hosts.md has {len(blocks)} blocks"]
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory).resolve()
        test_page.install(place)
        install_npm_package(place)
        for package in (PLACE / "node/node_modules").glob("[!.]*"):
            (place / "node_modules" / package.name).symlink_to(package)
        project = place / "project"
        project.mkdir()
        (place / "home").mkdir()
        for language, text in test_page.blocks():
            if language == "yaml":
                (project / text.split("\n")[0].removeprefix("# ")).write_text(text)
        agent = ROOT / "tests/hosts/adapters/my_agent" / program
        (project / f"my_agent{agent.suffix}").write_text(agent.read_text())
        file = project / f"block{agent.suffix}"
        file.write_text(blocks[0])
        env = {"PATH": os.environ["PATH"], "HOME": str(place / "home"),
               "PYTHONDONTWRITEBYTECODE": "1"}
        command = [python_with_wheel(hookexec) if agent.suffix == ".py" else "node", file]
        done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True,
                              timeout=300, check=False)
        ran = (project / "ran").read_text() if (project / "ran").exists() else ""
    expected = ["`rm -r build` fits", "ran ls"]
    # The host says in its own words that a call was denied, and a client of MCP has no model.
    expected += [] if name == "agent-hooks" else ["Tool call denied: "]
    expected += [] if name.startswith("mcp") else ["It is clean."]
    missing = [text for text in expected if text not in done.stdout]
    if done.returncode or ran != "ls\n" or missing:
        return [f"the page's code ran {ran!r} and did not print {missing}: {done.stdout}{done.stderr}"]
    return []


def vectors():
    """Runs the vectors that AGENT-HOOKS publishes, and returns which do not hold."""
    hookexec = os.path.abspath(os.environ["HOOKEXEC"])
    command = [python_with_wheel(hookexec), ROOT / "tests/hosts/agent_hooks_vectors.py"]
    with tempfile.TemporaryDirectory() as directory:
        env = {"PATH": os.environ["PATH"], "HOME": directory, "HOOKEXEC": hookexec}
        done = subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True,
                              timeout=300, check=False)
    if done.returncode == 0:
        print(done.stdout, end="")
        return []
    return [*done.stdout.splitlines(), *done.stderr.splitlines()[-5:]]


def mcp_proxy():
    """Runs a client and a server of the Python SDK with `hookexec mcp` between them."""
    with tempfile.TemporaryDirectory() as directory:
        env = {"PATH": os.environ["PATH"], "HOME": directory, "HOOKEXEC": os.environ["HOOKEXEC"]}
        done = subprocess.run([PYTHON, ROOT / "tests/hosts/mcp_proxy.py"], cwd=directory, env=env,
                              capture_output=True, text=True, timeout=300, check=False)
    return done.stderr.splitlines() if done.returncode else []


def types_of_node():
    """Checks the types of the npm package, as a program sees them."""
    (PLACE / "node/use.mts").write_text(USE)
    command = ["node_modules/.bin/tsc", "--noEmit", "--strict", "--module", "nodenext",
               "--skipLibCheck", "--types", "node", "use.mts"]
    done = subprocess.run(command, cwd=PLACE / "node", capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode else []


def types_of_python():
    """Checks the types of the Python package."""
    command = [PYTHON, "-m", "mypy", "--strict", "--no-error-summary", "-p", "hookexec"]
    env = {**os.environ, "MYPYPATH": str(ROOT / "hosts/python")}
    done = subprocess.run(command, cwd=PLACE, env=env, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--install", action="store_true", help="install the frameworks first")
    parser.add_argument("--only", action="append", choices=ADAPTERS, help="only these adapters")
    options = parser.parse_args()
    hookexec = os.path.abspath(os.environ.get("HOOKEXEC", ROOT / "target/debug/hookexec"))
    os.environ["HOOKEXEC"] = hookexec
    if options.install:
        install()
    failed = False
    for name in options.only or ADAPTERS:
        program, module = ADAPTERS[name]
        if not is_installed(program, module):
            print(f"SKIPPED {name}: not installed; use --install")
            continue
        problems = run(program, hookexec) + paste(name, program, hookexec)
        failed |= bool(problems)
        print(f"{'FAILED' if problems else 'ok'} {name}", *problems, sep="\n  ")
    for name, (program, module) in {} if options.only else CLAUDE.items():
        if not is_installed(program, module):
            print(f"SKIPPED {name}: not installed; use --install")
            continue
        problems = claude(program, hookexec)
        failed |= bool(problems)
        print(f"{'FAILED' if problems else 'ok'} {name}", *problems, sep="\n  ")
    checks = {"vectors of AGENT-HOOKS": (vectors, "x.py", "agent_hooks"),
              "hookexec mcp": (mcp_proxy, "x.py", "mcp"),
              "types of Python": (types_of_python, "x.py", "mypy"),
              "types of Node": (types_of_node, "x.mjs", "typescript")}
    for name, (run_check, *module) in {} if options.only else checks.items():
        if not is_installed(*module):
            print(f"SKIPPED {name}: not installed; use --install")
        else:
            problems = run_check()
            failed |= bool(problems)
            print(f"{'FAILED' if problems else 'ok'} {name}", *problems, sep="\n  ")
    sys.exit(failed)


if __name__ == "__main__":
    main()
