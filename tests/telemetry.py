#!/usr/bin/env python3
"""Runs the configurations of docs/telemetry.md with real programs, on logs that hookexec writes.

`python3 tests/telemetry.py --install` puts Vector's language into target/telemetry first. Programs that are
not installed are skipped, and the output names them.

* `rsyslog` reads a log through rotations, a late line and a cut line, and sends each record once.
* The program for Vector runs in the WebAssembly build of Vector's library, on the lines of such a log.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import socketserver
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/telemetry.md"
NODE = ROOT / "target/telemetry/node"
NPM = ["@bpinternal/verel@0.2.0"]
HOOKEXEC = os.path.abspath(os.environ.get("HOOKEXEC", ROOT / "target/debug/hookexec"))
#: No program takes this long.
PATIENCE = 60

HOOKS = """
audit: { path: audit.jsonl, input: redacted, max_size: 4KiB, keep: 100 }
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { name: no-rm, type: rule, deny: no, commands: [rm -r] }
"""
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
BEGINNING = '{"v":1,"time":"'


class Failure(Exception):
    pass


def expect(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {found!r}, expected {expected!r}")


def until(what, condition):
    """Waits until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"never happened: {what}")
        time.sleep(0.1)


def block(section, language):
    """Returns the first code block of a section of the page."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1]
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


class Machine:
    """A home and a project with a log of decisions."""

    def __init__(self, directory):
        self.project = pathlib.Path(directory) / "project"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        (self.project / "hooks.yaml").write_text(HOOKS)
        self.env = {"PATH": os.environ["PATH"], "HOME": directory,
                    "TRACEPARENT": f"00-{TRACE}-{PARENT}-01"}
        self.log = self.project / "audit.jsonl"

    def decide(self, session, command):
        call = {"session_id": session, "tool_name": "shell", "tool_input": {"cmd": command}}
        subprocess.run([HOOKEXEC, "run", "pre_tool_use", "--config", "hooks.yaml"],
                       input=json.dumps(call), capture_output=True, text=True, check=False,
                       cwd=self.project, env=self.env)

    def cut(self):
        """Appends half a record, as a process does that is killed."""
        with self.log.open("a", encoding="utf-8") as log:
            log.write(BEGINNING + '2026-03-01T10:00:00.000Z","event":"sto')


class Receiver:
    """Takes lines over TCP."""

    def __init__(self):
        self.lines = lines = []

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                lines.extend(iter(self.rfile.readline, b""))

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def sessions(self):
        return [json.loads(line)["session"] for line in list(self.lines)]


@contextlib.contextmanager
def running(command, directory):
    """Runs a program, whose output is shown if something fails."""
    with open(os.path.join(directory, "output"), "w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   cwd=directory)
        try:
            yield process
        except Failure as failure:
            output.seek(0)
            raise Failure(f"{failure}\n{output.read()[-3000:]}") from None
        finally:
            process.terminate()
            process.wait()


def rsyslog(directory):
    machine, receiver = Machine(directory), Receiver()
    state = pathlib.Path(directory) / "state"
    state.mkdir()
    configuration = block("rsyslog", "text")
    for told, here in [("/home/*/.local/state/hookexec/audit.jsonl", str(machine.log)),
                       ("logs.example", "127.0.0.1"), ('port="514"', f'port="{receiver.port}"')]:
        expect(f"{told} on the page", configuration.count(told), 1)
        configuration = configuration.replace(told, here)
    file = pathlib.Path(directory) / "rsyslog.conf"
    file.write_text(f'global(workDirectory="{state}")\n{configuration}')
    command = [shutil.which("rsyslogd"), "-n", "-f", file, "-i", os.path.join(directory, "pid")]
    sent = []

    def decide(session):
        sent.append(session)
        machine.decide(session, "rm -r x")

    def arrived():
        return sorted(receiver.sessions()) == sorted(sent)

    decide("before")
    with running(command, directory):
        until("the first record", arrived)
        for number in range(12):
            decide(f"while it runs {number}")
        until("the records around a rotation", arrived)
        machine.cut()
        decide("behind a cut record")
        until("the record behind a cut one", arrived)
        while machine.log.stat().st_size > 2048:
            decide("until a new file begins")
        until("the records before it ends", arrived)
    # It goes on where it was, if no new file begins meanwhile.
    decide("while it is away")
    with running(command, directory):
        until("the records of the time without it", arrived)
        decide("the last")
        until("the last record", arrived)
        time.sleep(0.5)
        expect("the records", sorted(receiver.sessions()), sorted(sent))
    rotated = len(list(machine.project.glob("audit.jsonl.*[0-9]")))
    expect("there was a rotation", rotated >= 2, True)


PROGRAM = """
const vrl = require("@bpinternal/verel")
const { program, events } = JSON.parse(require("fs").readFileSync(0, "utf8"))
const { errors } = vrl.check(program)
if (errors.length) {
  console.error(errors.map((error) => vrl.formatDiagnostic(error)).join("\\n"))
  process.exit(1)
}
const run = (event) => {
  try {
    return vrl.execute(program, event).event
  } catch (error) {
    return { failed: String(error) }
  }
}
console.log(JSON.stringify(events.map(run)))
"""


def vector(directory):
    machine = Machine(directory)
    machine.decide("s-1", "rm -r x")
    machine.cut()
    machine.decide("s-2", "ls")
    machine.cut()
    text = block("Vector", "yaml")
    source = re.search(r"\n    source: \|\n(.*?)\n(?=\S)", text, re.DOTALL)[1]
    lines = machine.log.read_text().splitlines()
    events = [{"message": line, "host": "here", "file": str(machine.log)} for line in lines]
    done = subprocess.run(["node", "-e", PROGRAM], cwd=NODE, capture_output=True, text=True,
                          input=json.dumps({"program": textwrap.dedent(source), "events": events}),
                          check=False)
    expect(f"the exit code ({done.stderr})", done.returncode, 0)
    denied, passed, cut = json.loads(done.stdout)
    expect("the cut record is aborted", list(cut), ["failed"])
    for event, session, decision, severity in [(denied, "s-1", "deny", "WARN"),
                                               (passed, "s-2", "none", "INFO")]:
        attributes = event["attributes"]
        expect("the session", attributes["gen_ai.conversation.id"], session)
        expect("the tool", attributes["gen_ai.tool.name"], "shell")
        expect("the operation", attributes["gen_ai.operation.name"], "execute_tool")
        expect("the decision", attributes["hookexec.decision"], decision)
        expect("the event", attributes["hookexec.event"], "pre_tool_use")
        expect("the hooks", attributes["hookexec.hooks"][0]["name"], "no-rm")
        expect("the severity", event["severity_text"], severity)
        expect("the trace", (event["trace_id"], event["span_id"]), (TRACE, PARENT))
        expect("the host", event["host"], "here")
    arguments = json.loads(denied["attributes"]["gen_ai.tool.call.arguments"])
    expect("the arguments", arguments, {"cmd": "rm -r x"})


READERS = {"rsyslog": rsyslog, "vector": vector}


def is_installed(name):
    if name == "rsyslog":
        return shutil.which("rsyslogd")
    return shutil.which("node") and (NODE / "node_modules/@bpinternal/verel").exists()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--install", action="store_true", help="install Vector's language first")
    parser.add_argument("--only", action="append", choices=READERS, help="only these")
    options = parser.parse_args()
    if options.install:
        NODE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--prefix", NODE, *NPM], check=True)
    failed = False
    for name in options.only or READERS:
        if not is_installed(name):
            print(f"SKIPPED {name}: not installed; see the head of this file")
            continue
        directory = tempfile.mkdtemp()
        try:
            READERS[name](directory)
            print(f"ok {name}")
        except Failure as failure:
            failed = True
            print(f"FAILED {name}: {failure}")
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
