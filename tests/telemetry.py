#!/usr/bin/env python3
"""Sends decisions to real receivers, and looks at what arrives.

`python3 tests/telemetry.py --install` puts the receivers into target/telemetry first. Without it, those
that are not installed there are skipped, and said to be.

* The messages are decoded by the official Python package `opentelemetry-proto`.
* `rotel`, a collector of OpenTelemetry, takes everything and sends it on.
* Through `rotel`, two machines tell what a policy from a real registry denied, and that a refresh failed.
* `arize-phoenix` takes the spans, and shows them over its own API.
"""

import argparse
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACE = ROOT / "target/telemetry/python"
PYTHON = PLACE / "bin/python"
PYPI = ["opentelemetry-proto==1.45.2", "rotel==0.0.1a15", "arize-phoenix==20.26.1"]
HOOKEXEC = os.path.abspath(os.environ.get("HOOKEXEC", ROOT / "target/debug/hookexec"))
#: No receiver takes this long; who waits gives up after it.
PATIENCE = 120

HOOKS = """
audit: { path: audit.jsonl, input: redacted }
hooks:
  pre_tool_use:
    - matcher: shell
      hooks:
        - { name: no-rm, type: builtin, command: deny_commands, args: ["rm -r"] }
        - { name: no-curl, type: builtin, command: deny_commands, args: [curl], mode: shadow }
"""
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
COMMANDS = ["rm -r x", "curl https://example.org", "cat diary.txt"]
METRICS = {"hookexec.events", "hookexec.event.duration", "hookexec.hook.runs",
           "hookexec.hook.would_change", "hookexec.hook.duration", "hookexec.config",
           "hookexec.ship.records", "hookexec.ship.waiting"}


class Failure(Exception):
    pass


def expect(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {found!r}, expected {expected!r}")


def until(what, condition):
    """Waits until a condition holds, and returns what it returns."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise Failure(f"never happened: {what}")
        time.sleep(0.1)
    return found


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Machine:
    """A home and a project with a log of decisions."""

    def __init__(self, directory):
        self.project = pathlib.Path(directory) / "project"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        (self.project / "hooks.yaml").write_text(HOOKS)
        self.env = {"PATH": os.environ["PATH"], "HOME": directory}

    def hookexec(self, *arguments, stdin="", **env):
        command = [HOOKEXEC, *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False,
                              cwd=self.project, env=self.env | env)

    def decide(self):
        for command in COMMANDS:
            call = {"session_id": "s-1", "tool_name": "shell", "tool_input": {"cmd": command}}
            self.hookexec("run", "pre_tool_use", "--config", "hooks.yaml", stdin=json.dumps(call),
                          TRACEPARENT=f"00-{TRACE}-{PARENT}-01")

    def ship(self, to, *arguments):
        return self.hookexec("ship", "audit.jsonl", "--once", "--to", to, *arguments)

    def is_shipped(self, to, *arguments):
        done = self.ship(to, *arguments)
        expect(f"the exit code ({done.stderr})", done.returncode, 0)
        expect("what it says", done.stdout, f"{len(COMMANDS)} records sent\n")


    def publish(self, source):
        """Pushes a policy as version 7, and returns the public key."""
        (self.project / "policy").mkdir()
        (self.project / "policy/hooks.yaml").write_text(HOOKS.replace("audit:", "#"))
        subprocess.run(["minisign", "-G", "-W", "-p", "fleet.pub", "-s", "fleet.key"], check=True,
                       cwd=self.project, stdout=subprocess.DEVNULL)
        for arguments in (["build", "policy", "--version", "7"],
                          ["sign", "policy-7.tar", "--key", "fleet.key"],
                          ["push", "policy-7.tar", source]):
            done = self.hookexec("bundle", *arguments)
            expect(f"bundle {arguments} ({done.stderr})", done.returncode, 0)
        return (self.project / "fleet.pub").read_text().splitlines()[-1]

    def tell(self, command, to):
        """Has a command denied by the policy, and ships the decision."""
        call = json.dumps({"tool_name": "shell", "tool_input": {"cmd": command}})
        verdict = json.loads(self.hookexec("run", "pre_tool_use", stdin=call).stdout)
        expect("the verdict", verdict["decision"], "deny")
        expect("the hooks", [hook["name"] for hook in verdict["hooks"]], ["no-rm", "no-curl"])
        done = self.hookexec("ship", "--once", "--to", to)
        expect(f"what it says ({done.stderr})", done.stdout, "1 record sent\n")


class Receiver:
    """Takes requests of OTLP, and decodes them by the official messages."""

    def __init__(self):
        from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
        kinds = {"/v1/logs": logs.ExportLogsServiceRequest,
                 "/v1/metrics": metrics.ExportMetricsServiceRequest,
                 "/v1/traces": traces.ExportTraceServiceRequest}
        self.taken = {path: [] for path in kinds}
        taken = self.taken

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers["content-encoding"] == "gzip":
                    import gzip
                    body = gzip.decompress(body)
                taken[self.path].append(kinds[self.path].FromString(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def records(self):
        return [(request.resource, record) for all_of in self.taken["/v1/logs"]
                for request in all_of.resource_logs for scope in request.scope_logs
                for record in scope.log_records]

    def spans(self):
        return [span for all_of in self.taken["/v1/traces"] for request in all_of.resource_spans
                for scope in request.scope_spans for span in scope.spans]

    def metrics(self):
        return {metric.name: metric for all_of in self.taken["/v1/metrics"]
                for request in all_of.resource_metrics for scope in request.scope_metrics
                for metric in scope.metrics}

    def gauge(self, name):
        """The newest value of a metric on each machine, with the attributes of its point."""
        of = lambda holder: {it.key: it.value.string_value for it in holder.attributes}
        return {of(request.resource)["service.instance.id"]: (of(point), point.as_int)
                for all_of in self.taken["/v1/metrics"] for request in all_of.resource_metrics
                for scope in request.scope_metrics for metric in scope.metrics
                if metric.name == name for point in metric.gauge.data_points}

    def check(self):
        records = until("all records", lambda: len(self.records()) >= 3 and self.records())
        of = lambda holder: {it.key: it.value.string_value for it in holder.attributes}
        expect("the service", of(records[0][0])["service.name"], "hookexec")
        by_decision = sorted(of(record)["hookexec.decision"] for _, record in records)
        expect("the decisions", by_decision, ["deny", "none", "none"])
        expect("the tool", of(records[0][1])["gen_ai.tool.name"], "shell")
        expect("ids", len({of(record)["log.record.uid"] for _, record in records}), 3)
        expect("the trace", records[0][1].trace_id.hex(), TRACE)
        expect("an input is sent", "diary.txt" in str(records), False)
        spans = until("all spans", lambda: len(self.spans()) >= 3 and self.spans())
        expect("the parents", {span.parent_span_id.hex() for span in spans}, {PARENT})
        expect("the span of a record", {span.span_id for span in spans},
               {record.span_id for _, record in records})
        metrics = until("the metrics", lambda: METRICS <= set(self.metrics()) and self.metrics())
        changed = metrics["hookexec.hook.would_change"].sum.data_points
        expect("what enforcing would have denied", [point.as_int for point in changed], [1])
        took = metrics["hookexec.event.duration"].histogram.data_points
        expect("times", [point.count for point in took], [3])


@contextlib.contextmanager
def running(command, directory, **env):
    """Runs a receiver, whose output is shown if something fails."""
    with open(os.path.join(directory, "output"), "w+") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   cwd=directory, env={"PATH": os.environ["PATH"],
                                                       "HOME": directory} | env)
        try:
            yield process
        except Failure as failure:
            output.seek(0)
            raise Failure(f"{failure}\n{output.read()[-3000:]}") from None
        finally:
            process.kill()
            process.wait()


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def official_messages(directory):
    machine, receiver = Machine(directory), Receiver()
    machine.decide()
    machine.is_shipped(receiver.url)
    receiver.check()


def rotel_command(directory, receiver):
    """Returns the command of a collector that sends all to `receiver`, and its port."""
    ports = [free_port(), free_port()]
    program = next(PLACE.glob("lib/python*/site-packages/rotel/rotel-agent"))
    return [program, "start", "--exporter", "otlp", "--otlp-exporter-protocol", "http",
            "--otlp-exporter-endpoint", receiver.url,
            "--otlp-http-endpoint", f"127.0.0.1:{ports[0]}",
            "--otlp-grpc-endpoint", f"127.0.0.1:{ports[1]}",
            "--pid-file", os.path.join(directory, "pid")], ports[0]


def rotel(directory):
    """The collector is away, comes, is killed and comes again; each decision arrives."""
    machine, receiver = Machine(directory), Receiver()
    command, port = rotel_command(directory, receiver)
    url, state = f"http://127.0.0.1:{port}", machine.project / "audit.jsonl.shipped"

    def without_wait():
        text = json.loads(state.read_text())
        text["failure"]["not_before"] = 0
        state.write_text(json.dumps(text))

    machine.decide()
    expect("the exit code without a collector", machine.ship(url).returncode, 1)
    without_wait()
    with running(command, directory):
        until("rotel listens", lambda: answers(port))
        machine.is_shipped(url)
        receiver.check()
    for requests in receiver.taken.values():
        requests.clear()
    machine.decide()
    expect("the exit code without a collector", machine.ship(url).returncode, 1)
    without_wait()
    with running(command, directory):
        until("rotel listens again", lambda: answers(port))
        machine.is_shipped(url)
        until("the new records", lambda: len(receiver.records()) == 3)


def policy(directory):
    """The walk of docs/fleet.md with a real registry and a real collector."""
    team, receiver = Machine(os.path.join(directory, "team")), Receiver()
    machines = [Machine(os.path.join(directory, name)) for name in ("one", "other")]
    registry, (command, port) = free_port(), rotel_command(directory, receiver)
    source, to = f"oci://127.0.0.1:{registry}/policy:stable", f"http://127.0.0.1:{port}"
    config = pathlib.Path(directory) / "registry.yml"
    config.write_text(f"""version: 0.1
http: {{ addr: '127.0.0.1:{registry}', secret: s }}
storage: {{ filesystem: {{ rootdirectory: '{directory}/data' }} }}
""")
    with running(command, directory):
        until("rotel listens", lambda: answers(port))
        with running(["docker-registry", "serve", config], directory):
            until("the registry listens", lambda: answers(registry))
            key = team.publish(source)
            for machine in machines:
                (machine.project / "hooks.yaml").unlink()
                file = machine.project.parent / ".config/hookexec/hooks.yaml"
                file.parent.mkdir(parents=True)
                file.write_text(f"audit: {{ path: log.jsonl }}\n"
                                f"policy: {{ from: '{source}', key: {key} }}\n")
                expect("the refresh", machine.hookexec("bundle", "refresh").returncode, 0)
                machine.tell("rm -r x", to)
        denied = until("both decisions", lambda: len(receiver.records()) == 2 and
                       receiver.records())
        ids = {str(resource): record for resource, record in denied}
        expect("the machines", len(ids), 2)
        expect("the severity", {record.severity_text for _, record in denied}, {"WARN"})
        ages = until("both versions", lambda: len(receiver.gauge("hookexec.policy.age")) == 2 and
                     receiver.gauge("hookexec.policy.age"))
        expect("the versions", [of["hookexec.policy.version"] for of, _ in ages.values()],
               ["7", "7"])
        # The registry is gone.
        expect("the refresh", machines[0].hookexec("bundle", "refresh").returncode, 1)
        machines[0].tell("rm -r y", to)
        until("its failure", lambda: sorted(
            failures for _, failures in receiver.gauge("hookexec.policy.failures").values()
        ) == [0, 1])
        until("its decision", lambda: "refresh_failed" in str(receiver.records()[-1:]))


def phoenix(directory):
    machine, (port, grpc) = Machine(directory), (free_port(), free_port())
    url = f"http://127.0.0.1:{port}"
    env = {"PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc), "PHOENIX_HOST": "127.0.0.1",
           "PHOENIX_WORKING_DIR": directory, "PHOENIX_TELEMETRY_ENABLED": "false"}
    machine.decide()
    with running([PYTHON, "-m", "phoenix.server.main", "serve"], directory, **env):
        until("phoenix listens", lambda: answers(port))
        machine.is_shipped(url, "--signals", "traces")

        def spans():
            with contextlib.suppress(OSError), \
                 urllib.request.urlopen(f"{url}/v1/projects/default/spans", timeout=10) as answer:
                found = json.load(answer)["data"]
                return found if len(found) == len(COMMANDS) else None
        found = until("phoenix shows the spans", spans)
    expect("the names", {span["name"] for span in found}, {"hookexec pre_tool_use"})
    expect("the trace", {span["context"]["trace_id"] for span in found}, {TRACE})
    decisions = sorted(span["attributes"]["hookexec.decision"] for span in found)
    expect("the decisions", decisions, ["deny", "none", "none"])


RECEIVERS = {"opentelemetry-proto": (official_messages, "opentelemetry.proto"),
             "rotel": (rotel, "rotel"), "policy": (policy, "rotel"),
             "arize-phoenix": (phoenix, "phoenix")}


def is_installed(name, module):
    if name == "policy" and not (shutil.which("docker-registry") and shutil.which("minisign")):
        return False
    command = [PYTHON, "-c", f"import importlib.util as u; exit(u.find_spec('{module}') is None)"]
    return PYTHON.exists() and subprocess.run(command, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--install", action="store_true", help="install the receivers first")
    parser.add_argument("--only", action="append", choices=RECEIVERS, help="only these")
    options = parser.parse_args()
    if options.install:
        if not PYTHON.exists():
            subprocess.run([sys.executable, "-m", "venv", PLACE], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *PYPI], check=True)
    # The messages are decoded in this process.
    sys.path.extend(str(path) for path in PLACE.glob("lib/python*/site-packages"))
    failed = False
    for name in options.only or RECEIVERS:
        run, module = RECEIVERS[name]
        if not is_installed(name, module):
            print(f"SKIPPED {name}: not installed; use --install")
            continue
        directory = tempfile.mkdtemp()
        try:
            run(directory)
            print(f"ok {name}")
        except Failure as failure:
            failed = True
            print(f"FAILED {name}: {failure}")
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
