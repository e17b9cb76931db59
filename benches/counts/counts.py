#!/usr/bin/env python3
"""Counts what hookexec costs: instructions, system calls, allocations, page faults.

None of them depends on how fast a machine is or what else it does. Each count stands beside that of
`baseline.json`; one that is more than 5 % larger is an error. `--update` writes the baseline and
the table in docs/benchmarks.md. Needs valgrind, strace, and the musl target of the compiler.
"""

import argparse
import contextlib
import ctypes
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BASELINE = HERE / "baseline.json"
PAGE = ROOT / "docs/benchmarks.md"
BEGIN, END = "<!-- begin: counts -->\n", "<!-- end: counts -->\n"

# The target that brings its C library along, so counts are the same on each system.
TARGET = f"{os.uname().machine}-unknown-linux-musl"
PROFILE = "counts"
KINDS = ["instructions", "system calls", "allocations", "page faults"]
# By how much a count may grow.
LIMIT = 0.05
# Depends on the kernel, and on which parts of the program are in memory.
UNCHECKED = {"page faults"}

# Starts of the command: the hooks file and the input on stdin.
STARTS = {
    "start, 1 hook, nothing to run": ("1.yaml", "small.json"),
    "start, 100 hooks, nothing to run": ("100.yaml", "small.json"),
    "start, 1,000 hooks, nothing to run": ("1000.yaml", "small.json"),
    "start, 1 hook, nothing to run, input of 12 MB": ("1.yaml", "large.json"),
    "start, one command hook": ("command.yaml", "small.json"),
    "start, a call under the starter": ("starter.yaml", "shell.json"),
}
STARTER = ROOT / "crates/cli/src/starter/user.yaml"
SHELL_CALL = {"tool_name": "Bash", "tool_input": {"command": "cargo test -p a && git push"}}
DECISION = "decision through the socket, one builtin"
EMPTY = "an empty Rust program"
# Work of the library: its name for the program `counts`, and how often it is done.
WORKS = {
    "dispatch, no match, 100 matchers": ("no-match", 1000),
    "dispatch, one builtin": ("builtin", 1000),
    "moment before a tool call, a rewriter and three guards": ("moment", 1000),
    "dispatch, round trip of a process hook": ("process", 200),
    "reading an input of 2 KiB": ("read-small", 100),
    "reading 2 KiB by `serde_json` alone": ("json-small", 100),
    "reading an input of 12 MB": ("read-large", 1),
    "reading 12 MB by `serde_json` alone": ("json-large", 1),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the baseline and the table")
    starts_only = "count the starts of this command; compare nothing"
    parser.add_argument("--program", type=Path, help=starts_only)
    parser.add_argument("--measured", type=Path, help="compare this file; count nothing")
    parser.add_argument("--save", type=Path, help="write what was counted to this file")
    arguments = parser.parse_args()

    if arguments.measured:
        measured = json.loads(arguments.measured.read_text())
    else:
        measured = measure(arguments.program)
    if arguments.program:
        print_table(measured["counts"], {})
        return 0
    if arguments.save:
        write_json(arguments.save, measured)
    if arguments.update:
        write_json(BASELINE, measured)
        PAGE.write_text(page_with(measured["counts"]))
    baseline = json.loads(BASELINE.read_text())
    if PAGE.read_text() != page_with(baseline["counts"]):
        sys.exit("docs/benchmarks.md does not show the baseline: run `just counts --update`")
    return judge(measured, baseline)


# Comparing


def judge(measured, baseline):
    """Prints the counts beside the baseline, and returns the exit code."""
    here, there = measured["build"], baseline["build"]
    others = [key for key in there if here.get(key) != there[key]]
    if others:
        print_table(measured["counts"], {})
        print("\nnot compared, because the baseline was counted with another build:")
        for key in others:
            print(f"  {key}: {here.get(key)}; in the baseline {there[key]}")
        print("to compare two commits here, run `just counts --update` on the first, and then")
        print("`just counts` on the second")
        return 0
    print_table(measured["counts"], baseline["counts"])
    grown, shrunk = differences(measured["counts"], baseline["counts"])
    for line in shrunk:
        print(f"less than the baseline: {line}")
    for line in grown:
        print(f"error: more than the baseline: {line}", file=sys.stderr)
    if grown:
        print("make it cheaper, or run `just counts --update` and commit it", file=sys.stderr)
    elif shrunk:
        print("run `just counts --update`, so that it stays so")
    return 1 if grown else 0


def differences(counts, baseline):
    """Returns the checked counts that grew, and those that shrank, by more than the limit."""
    grown, shrunk = [], []
    for work in dict.fromkeys([*baseline, *counts]):
        for kind in KINDS:
            if kind in UNCHECKED:
                continue
            now, before = (table.get(work, {}).get(kind) for table in (counts, baseline))
            if now == before:
                continue
            line = f"{kind} of `{work}`: {shown(now)}, was {shown(before)}"
            # A count that is in one of the two only is a change of what is counted.
            if now is None or before is None or now > before * (1 + LIMIT):
                grown.append(line)
            elif now < before * (1 - LIMIT):
                shrunk.append(line)
    return grown, shrunk


def shown(count):
    return "-" if count is None else f"{count:,}"


def print_table(counts, baseline):
    """Prints `now / baseline` for each count, or `now` alone without a baseline."""
    rows = [["", *KINDS]]
    for work, row in counts.items():
        cells = [work]
        for kind in KINDS:
            cell = shown(row.get(kind))
            if baseline and kind in row:
                cell += f" / {shown(baseline.get(work, {}).get(kind))}"
            cells.append(cell)
        rows.append(cells)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:])]
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    if baseline:
        print("each: now / baseline")


def page_with(counts):
    """Returns the page with the table of `counts`."""
    lines = [f"| work | {' | '.join(KINDS)} |", "|---|" + "---|" * len(KINDS)]
    for work, row in counts.items():
        lines.append(f"| {work} | {' | '.join(shown(row.get(kind)) for kind in KINDS)} |")
    before, rest = PAGE.read_text().split(BEGIN)
    return before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1]


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


# Counting


def measure(program):
    """Builds the command and the library's work, and counts both, or the starts of `program`."""
    build = description()
    binary, work = built(build["flags"])
    # `Place` is another working directory.
    binary = (program or binary).resolve()
    with Place() as place:
        run([work, "files", place.path])
        counts = starts(place, binary)
        if program is None:
            empty = empty_program(place, build["flags"])
            counts[EMPTY] = count_command(place, [empty], "small.json")
            # Paths and variables shift the stack, and with it what it costs to copy.
            work = shutil.copy(work, place.path / "work")
            for name, (word, times) in WORKS.items():
                counts[name] = count_work(place, work, word, times)
    return {"build": build, "counts": counts}


def empty_program(place, flags):
    """Compiles a program that does nothing, and returns its file."""
    program = place.path / "empty"
    source = ROOT / "benches/process/programs/empty.rs"
    options = ["--edition", "2024", "-O", "--target", TARGET, *flags]
    run(["rustc", *options, "-o", program, source])
    return program


def description():
    """Returns what counts depend on beside the source code."""
    import tomllib  # comparing works with a Python older than 3.11

    version = dict(line.split(": ", 1) for line in output(["rustc", "-vV"]).splitlines()[1:])
    profiles = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]
    compiler = (version["release"], version["commit-hash"], version["LLVM version"])
    return {
        "compiler": "rustc {} {}, LLVM {}".format(*compiler),
        "target": TARGET,
        "flags": (ROOT / "release/flags").read_text().split(),
        "profile": {**profiles["release"], **profiles[PROFILE]},
        # Searches in texts choose their code by it when they start.
        "avx2": " avx2 " in Path("/proc/cpuinfo").read_text(),
    }


def built(flags):
    """Builds what is counted, and returns the command and the program of the library's work."""
    environment = {
        **os.environ,
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        # The HTTP client has parts in C, which use no library. The system's compiler will do.
        f"CC_{TARGET.replace('-', '_')}": "cc",
    }
    packages = ["--package", "hookexec-cli", "--package", "hookexec-counts"]
    options = ["--profile", PROFILE, "--target", TARGET]
    command = ["cargo", "build", *packages, *options, "--message-format=json-render-diagnostics"]
    lines = output(command, cwd=ROOT, env=environment).splitlines()
    programs = [json.loads(line).get("executable") for line in lines]
    found = {Path(program).name: Path(program) for program in programs if program}
    return found["hookexec"], found["hookexec-counts"]


class Place:
    """A home and a project without hooks of the user's; counting happens there."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="counts-")
        self.path = Path(self.directory.name)
        (self.path / "project/.git").mkdir(parents=True)
        self.before = os.getcwd()
        os.chdir(self.path / "project")
        # What is in the environment counts.
        self.clean = {"HOME": str(self.path), "PATH": "/usr/bin:/bin"}
        return self

    def __exit__(self, *_):
        os.chdir(self.before)
        self.directory.cleanup()

    def run(self, command, stdin, environment):
        with open(self.path / stdin) as file:
            done = subprocess.run(command, stdin=file, capture_output=True, env=environment)
        if done.returncode != 0:
            sys.exit(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
        return done


def starts(place, binary):
    """Counts one start of the command for each of `STARTS`, and a decision of a server."""
    call = [binary, "run", "pre_tool_use"]
    (place.path / "starter.yaml").write_text(STARTER.read_text())
    (place.path / "shell.json").write_text(json.dumps(SHELL_CALL))
    counts = {}
    for name, (hooks, stdin) in STARTS.items():
        config = ["--isolated", "--config", place.path / hooks]
        counts[name] = count_command(place, [*call, *config], stdin)
    # The hook's own page faults are in the sum.
    del counts["start, one command hook"]["page faults"]
    # Its threads wake each other more or less often, by chance.
    del counts["start, a call under the starter"]["system calls"]
    with server(place, binary) as path:
        counts[DECISION] = count_command(place, [*call, "--connect", path], "small.json")
    return counts


@contextlib.contextmanager
def server(place, binary):
    """Runs a server with one rule, and returns its socket."""
    directory = place.path / ".config/hookexec"
    directory.mkdir(parents=True)
    hook = "{ type: rule, deny: no, tools: [fetch] }"
    (directory / "hooks.yaml").write_text(f"pre_tool_use: [{{ hooks: [{hook}] }}]\n")
    path = place.path / "private/socket"
    command = [binary, "serve", "--socket", path]
    process = subprocess.Popen(command, env=place.clean, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not listens(path):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the server does not listen")
            time.sleep(0.05)
        call = [binary, "run", "pre_tool_use", "--connect", path]
        answer = place.run(call, "small.json", place.clean)
        if answer.stderr or len(json.loads(answer.stdout)["hooks"]) != 1:
            sys.exit(f"the server did not answer: {answer}")
        yield path
    finally:
        process.terminate()
        process.wait()


def listens(path):
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


def count_command(place, command, stdin):
    """Returns the counts of one run of a command, without those of the hooks that it starts."""
    counts = counted(place, command, stdin, place.clean)
    counts["page faults"] = page_faults(place, command, stdin)
    return counts


def count_work(place, program, word, times):
    """Returns the counts of one piece of the library's work."""
    # The process hook needs Python, wherever that is.
    environment = os.environ if word == "process" else place.clean
    once, twice = (
        counted(place, [program, word, str(count)], "small.json", environment)
        for count in (times, 2 * times)
    )
    # To the whole: what a run loses or gains by chance is not the work's.
    return {kind: round((twice[kind] - once[kind]) / times) for kind in once}


def counted(place, command, stdin, environment):
    profile, calls = place.path / "callgrind", place.path / "strace"
    names = ["--compress-strings=no", "--demangle=no", f"--callgrind-out-file={profile}"]
    place.run(["valgrind", "--tool=callgrind", *names, *command], stdin, environment)
    text = profile.read_text()
    allocator = r"^cfn=\S*___rust_(?:alloc|alloc_zeroed|realloc)\ncalls=(\d+)"
    allocations = re.findall(allocator, text, re.M)
    place.run(["strace", "-qqq", "-e", "signal=none", "-o", calls, *command], stdin, environment)
    counts = {
        "instructions": int(re.search(r"^totals: (\d+)", text, re.M).group(1)),
        "system calls": len(calls.read_text().splitlines()),
    }
    # A program without the names of its functions does not tell.
    if allocations:
        counts["allocations"] = sum(map(int, allocations))
    return counts


def page_faults(place, command, stdin):
    """Returns the fewest page faults of ten runs."""
    files = [
        (os.POSIX_SPAWN_OPEN, 0, place.path / stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    # Without random addresses (ADDR_NO_RANDOMIZE), where the system allows that.
    ctypes.CDLL(None).personality(0x0040000)
    faults = []
    for _ in range(10):
        # `subprocess` may fork, and the faults of the copy would count.
        child = os.posix_spawn(command[0], command, place.clean, file_actions=files)
        _, status, used = os.wait4(child, 0)
        if status != 0:
            sys.exit(f"{command} ended with {status}")
        faults.append(used.ru_minflt)
    return min(faults)


def run(command):
    subprocess.run(command, check=True)


def output(command, **options):
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
