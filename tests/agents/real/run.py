#!/usr/bin/env python3
"""Runs real coding agents offline with hookexec installed in them, and looks at what happens.

    run.py                    every client that is there, every scenario; what is skipped is printed
    run.py codex gemini       these clients
    run.py --only deny        these scenarios
    run.py --install          first gets the clients that are missing from the npm registry
    run.py --report           also prints a table of the versions that were played, and which hookexec names

Each client first plays `control`: without hookexec the command runs. A scenario in which the command must not run also needs a
sign that the client came that far: the guard left its mark, or the model was told a result.

HOOKEXEC names the program (default: target/debug/hookexec), HOOKEXEC_CLIENTS the directory of the clients (default:
~/.cache/hookexec-clients). No client needs a login: each talks to a mock model on 127.0.0.1. As root, everything runs in a
network namespace of its own, where nothing else can be reached.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import clients
from model import MCP_SERVER, Model
from person import Person

SERVER_SCRIPT = Path(__file__).resolve().with_name("mcp_server.py")
REPOSITORY = Path(__file__).resolve().parents[3]
HOOKEXEC = Path(os.environ.get("HOOKEXEC", REPOSITORY / "target/debug/hookexec")).resolve()
PROMPT = "please clean up"

# Says of each event that it fired, in a file beside the project.
FIRED = "\n".join(
    f"{event}: {{ type: command, command: 'echo {event} >> \"$FIRED\"' }}"
    for event in ["session_start", "user_prompt_submit", "stop", "session_end"]
) + "".join(
    f"\n{event}: {{ hooks: {{ type: command, command: 'echo {event} >> \"$FIRED\"' }} }}" for event in ["pre_tool_use", "post_tool_use"]
)


class Failed(Exception):
    pass


class Turn:
    """One turn of a client: what ran, what the model was told, what the user saw."""

    def __init__(self, client, model, process, seconds):
        self.client, self.model, self.seconds = client, model, seconds
        self.told = "\n".join(model.results)
        self.requests = "\n".join(model.requests)
        self.ran = (client.directory / "ran").exists()
        self.tamed = (client.project / "tamed").exists()
        fired = client.root / "fired"
        self.fired = fired.read_text().split() if fired.exists() else []
        self.output = process.stdout[-2000:] + process.stderr[-2000:]

    def expect(self, condition, what):
        if not condition:
            raise Failed(f"{what}\n      told: {self.told[:600]}\n      fired: {self.fired}\n      said: {self.output[-600:]}")


    def asked(self):
        """Expects that the model was asked and the guard was called."""
        self.expect(self.model.requests, "the model was never asked")
        self.expect("guard" in self.fired, "the guard was never called")

    def stopped(self):
        """Expects that the client answered the call of the tool, or refused the prompt and said so."""
        if self.client.refusal and not self.model.requests:
            self.expect(self.client.refusal in self.output, "neither was the model asked, nor did the client refuse the prompt")
            return
        self.expect(self.told, "the model got no result of its tool call")


def control(turn):
    turn.expect(turn.model.requests, "the model was never asked")
    turn.expect(turn.ran, "the command did not run, and no hook was installed")


def deny(turn):
    turn.expect(not turn.ran, "the denied command ran")
    turn.asked()
    turn.expect("touching is forbidden" in turn.told, "the model was not told why")


def mcp_denied(turn):
    turn.expect(not turn.ran, "the tool of the MCP server ran although it is denied")
    turn.asked()
    turn.expect(turn.client.hides_mcp_reason or "touching is forbidden" in turn.told, "the model was not told why")


def mcp_unguarded(turn):
    turn.expect(turn.model.requests, "the model was never asked")
    turn.expect(turn.model.called, "the client did not offer the tool of the MCP server")
    turn.expect(turn.ran, "the tool of the MCP server did not run although no guard matches it")
    turn.expect("IT-IS-DONE" in turn.told, "the model did not read the result of the MCP server")
    turn.expect("guard" not in turn.fired, "a guard of another tool was called")


def doubled(turn):
    turn.expect(turn.ran, "the allowed command did not run")
    turn.expect(turn.fired.count("guard") == 2, "the guard was not called by each of the two entries")


def unapproved(turn):
    turn.expect(turn.ran, "the command did not run although its guard was never approved")
    turn.expect("guard" not in turn.fired, "the guard was called without an approval")


def allow(turn):
    turn.expect(turn.ran, "the allowed command did not run")
    turn.asked()


def rewrite(turn):
    turn.expect(not turn.ran and turn.tamed, "the rewritten command is not what ran")
    turn.asked()


def advice(turn):
    turn.expect(not turn.ran and not turn.tamed, "a command ran although the arguments could not be changed")
    turn.asked()
    turn.expect("touch tamed" in turn.told, "the model was not told which arguments would pass")


def context(turn):
    turn.expect("FROM-SESSION" in turn.requests, "the context of session_start did not reach the model")
    turn.expect("FROM-PROMPT" in turn.requests, "the context of user_prompt_submit did not reach the model")


def events(turn):
    wanted = {"session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop"}
    turn.expect(turn.ran, "the command did not run")
    turn.expect(wanted <= set(turn.fired), f"never fired: {wanted - set(turn.fired)}")
    twice = {event for event in wanted if turn.fired.count(event) > 1}
    turn.expect(not twice, f"fired more than once: {twice}")


def prompt(turn):
    turn.expect("guard" in turn.fired, "the guard was never called")
    turn.expect(not turn.model.requests, "the model was asked although the prompt was refused")
    turn.expect(not turn.ran, "the command ran")


def unanswered(turn):
    """Expects a denial where no guard could be asked."""
    turn.expect(not turn.ran, "the command ran although nobody could decide")
    turn.stopped()


def failing(turn):
    """Expects a denial where the guard was called and failed."""
    turn.expect(not turn.ran, "the command ran although its guard failed")
    turn.asked()
    turn.stopped()


def project_missing(turn):
    unanswered(turn)
    said = turn.told or turn.output
    turn.expect(turn.client.hides_stderr or "hookexec" in said, "nobody was told that hookexec is missing")


def ask(turn):
    turn.expect(not turn.ran, "the command ran although a hook asked and nobody could answer")
    turn.asked()


def approval(turn):
    turn.asked()
    turn.expect(turn.ran, "the command that a person approved did not run")
    turn.expect(not turn.tamed, "another command ran, which the person denied")
    turn.expect("denied this call: not this one" in turn.told, "the model was not told why")


def approval_absent(turn):
    turn.expect(not turn.ran, "the command ran although no person could be asked")
    turn.asked()
    turn.expect("no receiver listens" in turn.told, "the model was not told why")


def redact(turn):
    turn.expect(turn.ran, "the command did not run")
    turn.asked()
    turn.expect("s3cr3t" not in turn.told, "the model read what a hook had taken out")
    turn.expect("[redacted]" in turn.told, "the model did not read what a hook had put in")


def command_denied(turn):
    turn.asked()
    turn.expect(not turn.ran, "the command ran although it is on the list")
    turn.expect("no touch: `touch ran`" in turn.told, "the model was not told which command is denied")


def command_allowed(turn):
    turn.asked()
    turn.expect(turn.ran, "the listed command did not run")


def asked_about(turn):
    turn.expect(turn.model.requests, "the model was never asked")
    turn.expect(not turn.ran, "the command ran although a hook asked and nobody could answer")


def formatted(turn):
    turn.expect((turn.client.project / "ran").read_text() == "a\n", "the formatter did not change the file")
    turn.expect("the formatter changed " in turn.told + turn.requests, "the model was not told what the formatter changed")


def switched_off(turn):
    turn.expect(turn.ran, "the denied command did not run, so this does not turn the hooks off")
    turn.expect("guard" not in turn.fired, "the guard was called")
    turn.expect(turn.doctor == 1, "doctor did not exit with 1")


def tools(turn):
    done = subprocess.run([HOOKEXEC, "docs", "agents", turn.client.name(), "--format", "json"], check=True, capture_output=True, text=True)
    known = json.loads(done.stdout)[0]["tools"]
    unknown = {name: arguments for name, arguments in turn.model.offered().items() if name not in known and TELLING & set(arguments)}
    turn.expect(turn.model.offered(), "no tool was offered")
    turn.expect(not unknown, f"tools that take a command, a file or an address and stand in no table: {unknown}")


def goes_on(turn):
    turn.expect("FINISH-THE-TESTS" in turn.requests, "the model was not sent on with the reason")


#: Arguments of tools that a guard must see.
TELLING = {"command", "cmd", "script", "path", "file_path", "filePath", "file", "url"}

#: What a guard does first, so that its call leaves a mark.
MARK = 'echo guard >> "$FIRED"; '


def guard(script, matcher="shell"):
    return f"pre_tool_use: [ {{ matcher: {matcher}, hooks: {{ type: command, timeout: 600, command: '{MARK}{script}' }} }} ]"


def commands(answer, *patterns):
    """Returns a rule about commands, and a hook that marks the call."""
    hooks = [{"type": "rule", **answer, "commands": patterns}, {"type": "command", "command": MARK}]
    return json.dumps({"pre_tool_use": [{"matcher": "shell", "hooks": hooks}]})


def past(turn):
    """Expects that another policy is tried on the transcript that the client wrote."""
    allow(turn)
    client = turn.client
    hooks = client.root / "past.yaml"
    hooks.write_text(commands({"deny": "no touch"}, "touch"))
    if not client.agent:
        # It is asked for its database.
        (client.root / f"bin/{client.binary}").symlink_to(client.program())
    command = [HOOKEXEC, "test", "--past", client.name(), "--config", hooks]
    done = subprocess.run(command, env=client.environment(0), cwd=client.project, capture_output=True, text=True, check=False)
    turn.expect("1 call in 1 transcript of " in done.stdout and "denied 1, " in done.stdout, done.stdout + done.stderr)
    turn.expect("form" not in done.stdout, done.stdout)


def beside(name):
    """Returns the hooks file of that name beside this program."""
    return (Path(__file__).parent / name).read_text()


# Written for Claude Code: looks at its names of events, tools and arguments, and imported as it is.
CLAUDE_SETTINGS = {
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": """
echo guard >> "$FIRED"
jq -e 'select(.hook_event_name == "PreToolUse" and .tool_name == "Bash" and (.tool_input.command | startswith("touch")))' >/dev/null || exit 0
[ -d "$CLAUDE_PROJECT_DIR" ] || exit 0
echo touching is forbidden >&2; exit 2"""}]}],
    }
}
CLAUDE_STOP = {
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": """
jq -e .stop_hook_active >/dev/null && exit 0
echo '{"decision":"block","reason":"FINISH-THE-TESTS"}'"""}]}],
    }
}


def imported(settings):
    """Returns what `hookexec init --from` makes of Claude Code's settings."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(settings, file)
        file.flush()
        command = [HOOKEXEC, "init", "--from", f"claude-code:{file.name}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


FORBID = "echo touching is forbidden >&2; exit 2"
DENY = guard(FORBID)
ASK = guard('echo "{\\"decision\\": \\"ask\\", \\"reason\\": \\"really?\\"}"')
PERSON = ASK + "\napproval: [ { hooks: { type: receiver, timeout: 600 } } ]"
SCENARIOS = {
    "control": (control, "{}"),
    "deny": (deny, DENY),
    "unapproved": (unapproved, DENY),
    "approved": (deny, DENY),
    "allow": (allow, guard("exit 0")),
    "rewrite": (rewrite, guard('echo "{\\"updated_input\\": {\\"command\\": \\"touch tamed\\"}}"')),
    "advice": (advice, guard('echo "{\\"updated_input\\": {\\"command\\": \\"touch tamed\\"}}"')),
    "context": (context, "session_start: { type: command, command: echo FROM-SESSION }\n"
                         "user_prompt_submit: { type: command, command: echo FROM-PROMPT }"),
    "events": (events, FIRED),
    "prompt": (prompt, f"user_prompt_submit: {{ type: command, command: '{MARK}echo not this >&2; exit 2' }}"),
    "broken": (unanswered, "pre_tool_usee: []"),
    "slow": (failing, guard("sleep 600")),
    "crash": (failing, guard("kill -9 $$")),
    "killed": (failing, guard("kill -9 $PPID")),
    "hangs": (failing, guard("kill -STOP $PPID")),
    "missing": (unanswered, DENY),
    # Claude Code's settings of the project, which other clients load as well: alone, and beside their own.
    "foreign": (deny, DENY),
    "doubled": (doubled, guard("exit 0")),
    "package": (deny, DENY),
    "package_missing": (unanswered, DENY),
    "project": (deny, DENY),
    "project_missing": (project_missing, DENY),
    "long": (deny, guard("echo touching is forbidden >&2; head -c 900000 /dev/zero | tr \\\\0 x >&2; exit 2")),
    "ask": (ask, ASK),
    "approval": (approval, PERSON),
    "approval_absent": (approval_absent, PERSON),
    "imported": (deny, lambda: imported(CLAUDE_SETTINGS)),
    "off": (switched_off, DENY),
    "refused": (switched_off, DENY),
    "tools": (tools, "{}"),
    "goes_on": (goes_on, lambda: imported(CLAUDE_STOP)),
    "redact": (redact, "post_tool_use: [ { hooks: { type: command, command: '" + MARK
                       + 'echo "{\\"updated_tool_response\\": \\"[redacted]\\"}"\' } } ]'),
    "command_denied": (command_denied, commands({"deny": "no touch"}, "touch")),
    "command_allowed": (command_allowed, commands({"allow": True}, "touch *", "echo *")),
    "allow_list": (asked_about, lambda: beside("allow_list.yaml")),
    "formats": (formatted, lambda: beside("formats.yaml")),
    "past": (past, guard("exit 0")),
    "mcp": (mcp_denied, guard(FORBID, "mcp__my-kit__do-it")),
    "mcp_proxy": (deny, guard(FORBID, "mcp__my-kit__do-it")),
}

#: What a person says to the questions of `hookexec approve`, one after another.
ANSWERS = {"approval": [["allow"], ["deny", "not this one"]]}

#: The commands that the model asks for, where they matter.
COMMANDS = {
    "approval": ["touch ran", "touch tamed"],
    "formats": ["printf 'a  \\n' > ran"],
    "allow_list": ["ls; touch ran; rm -f x"],
}

#: The turn that a scenario plays first. It shows that the tool runs if no guard matches it.
BEFORE = dict.fromkeys(["mcp", "mcp_proxy"], (mcp_unguarded, guard(FORBID, "mcp__my-kit__do-other")))


def set_up(client, name, environment):
    """Installs hookexec as the scenario wants it."""
    program = client.root / "bin/hookexec"
    if name.startswith("package"):
        client.without_plugin()
        for command in client.install_package():
            done = run([client.program(), *command], env=environment, cwd=client.project)
            if done.returncode != 0:
                raise Failed(f"{command}: {done.stdout}{done.stderr}")
        if client.shows_package:
            doctor = subprocess.run(["hookexec", "doctor", client.agent], env=environment, cwd=client.project, capture_output=True, text=True)
            if "installed as its own package" not in doctor.stdout:
                raise Failed(f"doctor does not see the package: {doctor.stdout}")
    elif client.agent and name not in ["control", "mcp_proxy", "tools"]:
        if name in ["foreign", "doubled"]:
            install = ["hookexec", "install", "claude-code", "--scope", "project"]
            subprocess.run(install, env=environment, cwd=client.project, capture_output=True, check=True)
        if name == "foreign":
            return
        # The program is on the path of the client, so that is how it is written down.
        scope = ["--scope", "project"] if name.startswith("project") else []
        client.bypasses_approval = "approved" not in name
        approve = ["--approve"] if name == "approved" else []
        (client.root / f"bin/{client.binary}").symlink_to(client.program())
        install = ["hookexec", "install", client.agent, "--timeout", "9", *scope, *approve]
        done = subprocess.run(install, env=environment, cwd=client.project, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"install: {done.stderr}")
    if name in ["control", "mcp_proxy", "tools"]:
        client.without_plugin()
    if name.endswith("missing"):
        program.unlink()


def play(kind, name):
    """Runs one scenario with one client, and returns the seconds of its last turn."""
    if name in BEFORE:
        take_turn(kind, name, *BEFORE[name])
    for change in getattr(kind, name) if name in ["off", "refused"] else [None]:
        seconds = take_turn(kind, name, *SCENARIOS[name], change)
    return seconds


def take_turn(kind, name, check, hooks, change=None):
    """Runs one turn of a client in directories of its own, and checks it. A change is one of its settings, after the installation."""
    root = Path(tempfile.mkdtemp(prefix="hookexec-real-"))
    client = kind(root)
    # Only the hook says that the command may run.
    client.allows_shell = name != "command_allowed"
    try:
        for directory in [client.home, client.project, root / "tmp", root / "bin"]:
            directory.mkdir()
        (root / "bin/hookexec").symlink_to(HOOKEXEC)
        subprocess.run(["git", "init", "-q", client.project], check=True)
        if name.startswith("mcp"):
            command = [sys.executable, str(SERVER_SCRIPT), str(client.project / "ran")]
            if name == "mcp_proxy":
                # Codex hands on a few variables only.
                fired = ["env", f"FIRED={root / 'fired'}"]
                command = [*fired, str(root / "bin/hookexec"), "mcp", "--name", MCP_SERVER, "--", *command]
            client.servers = {MCP_SERVER: {"command": command[0], "args": command[1:]}}
        with Model(COMMANDS.get(name, ["touch ran; echo s3cr3t"]), mcp=name.startswith("mcp")) as model:
            client.prepare(model.port)
            client.write(".config/hookexec/hooks.yaml", hooks() if callable(hooks) else hooks)
            environment = {**client.environment(model.port), "FIRED": str(root / "fired"), "HOOKEXEC_SECONDS": "8"}
            set_up(client, name, environment)
            if change:
                client.change(*change)
            start = time.monotonic()
            with person(name, environment):
                process = run([client.program(), *client.command(PROMPT)], env=environment, cwd=client.directory)
            turn = Turn(client, model, process, time.monotonic() - start)
            if change:
                doctor = ["hookexec", "doctor", client.name()]
                turn.doctor = subprocess.run(doctor, env=environment, cwd=client.directory, capture_output=True, check=False).returncode
        try:
            check(turn)
        except Failed as error:
            raise Failed(f"{change}: {error}" if change else str(error)) from None
        return turn.seconds
    finally:
        client.close()
        if os.environ.get("KEEP"):
            print(f"      kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)


def person(name, environment):
    """Returns the person that a scenario needs."""
    if name not in ANSWERS:
        return contextlib.nullcontext()
    return Person(HOOKEXEC, {key: environment[key] for key in ["HOME", "PATH"]}, ANSWERS[name])


def run(command, **options):
    """Runs a client and everything that it starts, for four minutes at most."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )
    try:
        stdout, stderr = process.communicate(timeout=240)
    finally:
        # Also ends what a scenario stopped with a signal.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def install(kinds):
    """Gets the clients that are missing. npm runs no scripts; `finish` is the one that a client needs. Exits with 1 if one can't be had."""
    failed = []
    wanted = [("node", "node@24.16.0")] + [(kind.__name__.lower(), kind.package) for kind in kinds]
    finishes = {kind.__name__.lower(): kind.finish for kind in kinds}
    node = clients.CLIENTS / "node/node_modules/node/bin"
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    for name, package in wanted:
        directory = clients.CLIENTS / name
        if any((directory / made).is_dir() for made in ["node_modules", "venv"]):
            continue
        directory.mkdir(parents=True, exist_ok=True)
        scripts = [] if name == "node" else ["--ignore-scripts"]
        print(f"installing {package}", flush=True)
        if "==" in package:
            if not install_from_pypi(directory, package):
                failed.append(package)
            continue
        command = ["npm", "install", "--prefix", str(directory), "--no-audit", "--no-fund", "--silent", *scripts, package]
        if subprocess.run(command, env=environment, check=False).returncode != 0:
            shutil.rmtree(directory)
            failed.append(package)
            continue
        finish = finishes.get(name)
        if finish:
            script = directory / "node_modules" / finish
            subprocess.run(["node", script.name], env=environment, cwd=script.parent, check=False)
    if failed:
        sys.exit(f"not installed: {', '.join(failed)}")


def install_from_pypi(directory, package):
    """Gets a client for Python into an environment of its own, and returns whether that worked."""
    subprocess.run([sys.executable, "-m", "venv", directory / "venv"], check=True)
    done = subprocess.run([directory / "venv/bin/pip", "install", "--quiet", package], check=False)
    if done.returncode != 0:
        shutil.rmtree(directory)
    return done.returncode == 0


def isolate():
    """As root, goes on in a network namespace with nothing but the loopback in it."""
    if os.geteuid() != 0 or os.environ.get("HOOKEXEC_ISOLATED") or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0:
        os.environ["HOOKEXEC_ISOLATED"] = "1"
        script = 'ip link set lo up; exec "$0" "$@"'
        os.execvp("unshare", ["unshare", "-n", "sh", "-c", script, sys.executable, *sys.argv])


RESULTS = ["passed", "failed", "skipped"]


def report(rows):
    """Prints the version of each client that was played, that which hookexec was measured with, and the results."""
    known = json.loads(subprocess.run([HOOKEXEC, "docs", "agents", "--format", "json"], check=True, capture_output=True).stdout)
    measured = {agent["name"]: agent["measured"] for agent in known}
    print(f"| client | version | measured | {' | '.join(RESULTS)} |\n|---|---|---|---|---|---|")
    for kind, counts in rows:
        version = re.split("@|==", kind.package)[-1]
        results = " | ".join(str(counts[result]) for result in RESULTS)
        print(f"| {kind.__name__} | {version} | {measured.get(kind.name())} | {results} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {kind.__name__.lower(): kind for kind in clients.ALL}
    parser.add_argument("clients", nargs="*", choices=[*names, []], metavar="CLIENT")
    parser.add_argument("--only", action="append", choices=SCENARIOS, metavar="SCENARIO")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    kinds = [names[name] for name in arguments.clients] or clients.ALL
    if arguments.install and not os.environ.get("HOOKEXEC_ISOLATED"):
        install(kinds)
    isolate()
    total, rows = Counter(), []
    for kind in kinds:
        counts = Counter()
        reason = kind.missing()
        chosen = arguments.only or list(SCENARIOS)
        for name in chosen if "control" in chosen else ["control", *chosen]:
            title = f"{kind.__name__:<10} {name:<15}"
            why = reason or kind.cannot.get(name)
            if name == "past" and kind not in [clients.Claude, clients.Codex, clients.Gemini, clients.OpenCode]:
                why = why or "its transcripts can't be read"
            if name in ["off", "refused"] and not getattr(kind, name):
                why = why or "nothing that does so is known"
            if why:
                counts["skipped"] += 1
                print(f"{title} skipped: {why}", flush=True)
                continue
            try:
                print(f"{title} ok ({play(kind, name):.1f} s)", flush=True)
                counts["passed"] += 1
            except (Failed, OSError, subprocess.SubprocessError) as error:
                counts["failed"] += 1
                print(f"{title} FAILED: {error}", flush=True)
        total += counts
        rows.append((kind, counts))
    print(", ".join(f"{total[result]} {result}" for result in RESULTS))
    if arguments.report:
        report(rows)
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
