//! A server that runs already: one decision asked of it, and sixteen clients at once for a minute.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::hookexec;
use crate::measure::{Finding, ratio, readable, timed};
use crate::programs::{Linking, compile};
use crate::{Options, raw, support};

/// How many clients a load has, and for how long.
const CLIENTS: usize = 16;
const LOAD: Duration = Duration::from_mins(1);

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let work = "decision through the socket, one rule / an empty Rust program";
    options.add(findings, work, |samples| {
        let server =
            Server::start("pre_tool_use:\n  - hooks: [{ type: rule, deny: no, tools: [fetch] }]\n");
        let json = serde_json::to_vec(&support::input(2_000)).unwrap();
        let empty = compile(server.home.path(), "empty", Linking::Dynamic);
        server.check(&json);
        let nothing = || timed(|| raw::run(vec![Command::new(&empty)], &json));
        ratio(work, Some(0.9), samples, nothing, || timed(|| raw::run(vec![server.ask()], &json)))
    });

    agents_calls(options, findings);

    let work = "load on a server";
    if options.words.iter().any(|word| work.contains(word.as_str())) {
        findings.push(load(work, if options.samples < 100 { LOAD / 60 } else { LOAD }));
    }
}

/// A call of Claude Code with a process hook: through a server, and started anew for each call, both
/// beside `nc`, which sends the same line to the same server. The least that a process can need for
/// an answer from there is what `nc` needs.
fn agents_calls(options: &Options, findings: &mut Vec<Finding>) {
    let connected = "run --from claude-code --connect, one process hook / nc -U with the same line";
    let cold = "run --from claude-code, one process hook started for the call / nc -U";
    if !options.wants(connected) && !options.wants(cold) || !has_nc() {
        return;
    }
    let hook = json!({ "command": ["python3", "-c", include_str!("../support/echo.py")] });
    let server = Server::start(&format!(
        "processes: {{ echo: {hook} }}\nhooks: {{ pre_tool_use: [{{ hooks: [{{ type: process, command: echo }}] }}] }}\n"
    ));
    let text = support::input(2_000).tool_input.unwrap_or_default();
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
        "cwd": server.home.path().join("project"), "tool_input": text });
    let payload = payload.to_string().into_bytes();
    let line = server.recorded(&payload);
    let nc = || {
        let mut nc = Command::new("nc");
        nc.args(["-N", "-U"]).arg(&server.socket);
        nc
    };
    let answer: Value = serde_json::from_slice(&raw::output(nc(), &line).stdout).unwrap();
    assert_eq!(answer["result"]["hooks"][0]["type"], "process", "{answer}");
    let asked = raw::output(server.agents_call(Some(&server.socket)), &payload);
    assert!(asked.status.success() && asked.stderr.is_empty(), "{asked:?}");
    for (work, socket) in [(connected, Some(server.socket.as_path())), (cold, None)] {
        options.add(findings, work, |samples| {
            let bare = || timed(|| raw::run(vec![nc()], &line));
            ratio(work, None, samples, bare, || {
                timed(|| raw::run(vec![server.agents_call(socket)], &payload))
            })
        });
    }
}

/// Returns whether the `nc` of OpenBSD is here.
fn has_nc() -> bool {
    let output = Command::new("nc").arg("-h").output();
    output.is_ok_and(|output| output.stderr.starts_with(b"OpenBSD"))
}

/// Sixteen clients, each of which asks again as soon as it is answered; every tenth event starts a
/// shell and `grep`, the others match no hook.
fn load(work: &str, length: Duration) -> Finding {
    let server = Server::start(
        "pre_tool_use:\n  - { matcher: shell, hooks: [{ type: command, command: 'grep -q rm && exit 2 || exit 0' }] }\n",
    );
    let end = Instant::now() + length;
    let answers: Vec<(Duration, bool)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| server.load(end))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let wrong = answers.iter().filter(|(_, right)| !right).count();
    let mut times: Vec<Duration> = answers.into_iter().map(|(time, _)| time).collect();
    times.sort();
    let at = |hundredths: usize| readable(times[times.len() * hundredths / 100]);
    Finding {
        work: format!("{work}: {CLIENTS} clients for {} s", length.as_secs()),
        measured: format!(
            "{} events, {wrong} wrong or errors, p50 {}, p99 {}",
            times.len(),
            at(50),
            at(99)
        ),
        spread: String::new(),
        target: "0 errors".to_owned(),
        reached: Some(wrong == 0),
    }
}

/// A server of hooks that the user has, in a project without any.
struct Server {
    child: Child,
    home: TempDir,
    socket: PathBuf,
}

impl Server {
    fn start(hooks: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join(".config/hookexec");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("hooks.yaml"), hooks).unwrap();
        fs::create_dir_all(home.path().join("project/.git")).unwrap();
        let socket = home.path().join("private/socket");
        let mut command = at_home(home.path());
        command.args(["serve", "--socket"]).arg(&socket);
        let child = command.spawn().unwrap();
        let server = Self { child, home, socket };
        let started = Instant::now();
        while UnixStream::connect(&server.socket).is_err() {
            assert!(started.elapsed() < Duration::from_secs(30), "the server listens");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    /// Returns a command that asks the server.
    fn ask(&self) -> Command {
        let mut command = at_home(self.home.path());
        command.args(["run", "pre_tool_use", "--connect"]).arg(&self.socket);
        command
    }

    /// Returns a call of Claude Code, which asks the server at `socket`.
    fn agents_call(&self, socket: Option<&Path>) -> Command {
        let mut command = at_home(self.home.path());
        command.args(["run", "--from", "claude-code", "--event", "PreToolUse", "--within", "25"]);
        if let Some(socket) = socket {
            command.arg("--connect").arg(socket);
        }
        command
    }

    /// Returns the line that a call with `payload` sends to its server.
    fn recorded(&self, payload: &[u8]) -> Vec<u8> {
        let socket = self.home.path().join("private/recorder");
        let listener = UnixListener::bind(&socket).unwrap();
        let recorder = std::thread::spawn(move || {
            let mut line = Vec::new();
            let (stream, _) = listener.accept().unwrap();
            BufReader::new(stream).read_until(b'\n', &mut line).unwrap();
            line
        });
        let _ = raw::output(self.agents_call(Some(&socket)), payload);
        recorder.join().unwrap()
    }

    /// Makes sure that the server answers, and not the hooks in the command's own process.
    fn check(&self, input: &[u8]) {
        let output = raw::output(self.ask(), input);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(verdict["hooks"].as_array().map(Vec::len), Some(1), "{verdict}");
    }

    /// Asks until `end`, and returns how long each answer took and whether it was right.
    fn load(&self, end: Instant) -> Vec<(Duration, bool)> {
        let mut stream = BufReader::new(UnixStream::connect(&self.socket).unwrap());
        let mut answers = Vec::new();
        while Instant::now() < end {
            let id = answers.len();
            let tool = if id.is_multiple_of(10) { "shell" } else { "read_file" };
            let command = if id.is_multiple_of(20) { "rm x" } else { "ls" };
            let input = json!({ "tool_name": tool, "tool_input": { "cmd": command } });
            let params = json!({ "event": "pre_tool_use", "input": input });
            let request =
                json!({ "jsonrpc": "2.0", "id": id, "method": "dispatch", "params": params });
            let started = Instant::now();
            stream.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let time = started.elapsed();
            let answer: Value = serde_json::from_str(&line).unwrap();
            let right = answer["result"]["allowed"] == !id.is_multiple_of(20);
            answers.push((time, right && answer["id"] == id));
        }
        answers
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn at_home(home: &Path) -> Command {
    let mut command = Command::new(hookexec());
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").current_dir(home.join("project"));
    command
}
