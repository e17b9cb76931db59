//! Guards of others beside the command, as Claude Code starts them: one call that they all allow.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::hookexec;
use crate::command::shell;
use crate::measure::{Finding, ratio, timed};
use crate::programs::{Linking, compile};
use crate::{Options, raw};

/// Where `--install` puts the guards of others.
const PLACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers");
const GUARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/support/guard.py");

/// A guard of others, and how it gets into `PLACE` and into Claude Code's settings.
struct Peer {
    name: &'static str,
    install: &'static str,
    program: &'static str,
    arguments: &'static str,
}

const PEERS: [Peer; 2] = [
    // As `nah install claude` writes it.
    Peer {
        name: "nah 0.11.0",
        install: "python3 -m venv nah && nah/bin/pip install --quiet nah==0.11.0",
        program: "nah/bin/nah",
        arguments: "_claude-hook",
    },
    // As its README says.
    Peer {
        name: "rippy 0.2.6",
        install: "cargo install --quiet --locked --root rippy rippy-cli@0.2.6",
        program: "rippy/bin/rippy",
        arguments: "--mode claude",
    },
];

#[expect(clippy::print_stderr, reason = "what is left out is said")]
pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    if options.install {
        install();
    }
    let work = "peers: hookexec with a builtin guard / an empty Rust program";
    options.add(findings, work, |samples| {
        let agent = Agent::with(RULE);
        let empty = compile(agent.home.path(), "empty", Linking::Dynamic);
        agent.compare(work, samples, empty.to_str().unwrap(), &agent.hookexec, None)
    });
    let beside = |work: &str, guard: &str, samples| {
        let agent = Agent::with(RULE);
        agent.check(guard);
        agent.compare(work, samples, &agent.hookexec, guard, None)
    };
    let work = "peers: a Python guard / hookexec with a builtin guard";
    options.add(findings, work, |samples| beside(work, &python_guard(), samples));
    let under_policy = |work: &str, guard: &str, samples, is_installed| {
        let agent = Agent::with_policy(POLICY);
        agent.check(guard);
        let line = if is_installed { &*agent.hookexec } else { agent.without_denial() };
        agent.compare(work, samples, guard, line, Some(0.95))
    };
    for peer in PEERS {
        let work = format!("peers: {} / hookexec with a builtin guard", peer.name);
        let whole = format!("peers: hookexec with the policy of `init --user` / {}", peer.name);
        let plain = format!("{whole}, without the shell that denies if hookexec is gone");
        let program = Path::new(PLACE).join(peer.program);
        if program.is_file() {
            let guard = format!("'{}' {}", program.display(), peer.arguments);
            options.add(findings, &work, |samples| beside(&work, &guard, samples));
            options.add(findings, &whole, |samples| under_policy(&whole, &guard, samples, true));
            options.add(findings, &plain, |samples| under_policy(&plain, &guard, samples, false));
        } else if options.wants(&whole) {
            eprintln!("left out, use `just bench peers --install`: {work}, {whole}");
        }
    }
    let work = "peers: hookexec with the Python guard as a hook / the Python guard alone";
    options.add(findings, work, |samples| {
        let guard = python_guard();
        let agent = Agent::with(&format!("{{ type: command, command: {} }}", json!(guard)));
        agent.compare(work, samples, &guard, &agent.hookexec, None)
    });
}

/// Gets the guards of others.
fn install() {
    fs::create_dir_all(PLACE).unwrap();
    for peer in PEERS {
        let status = shell(peer.install).current_dir(PLACE).status().unwrap();
        assert!(status.success(), "{} is not installed: {}", peer.name, peer.install);
    }
}

/// Returns the line that starts the Python guard, without a version manager before Python.
fn python_guard() -> String {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let python = String::from_utf8(asked.unwrap().stdout).unwrap();
    format!("'{}' '{GUARD}'", python.trim())
}

/// The guard of the command itself, which reads the call as a shell would.
const RULE: &str = "{ type: rule, deny: no, commands: [rm] }";

/// The policy that `hookexec init --user` writes.
const POLICY: &str = include_str!("../../crates/cli/src/starter/user.yaml");

/// A user of Claude Code with hookexec installed.
struct Agent {
    home: TempDir,
    project: PathBuf,
    /// The line in Claude Code's settings.
    hookexec: String,
}

impl Agent {
    /// Returns a user with one hook.
    fn with(hook: &str) -> Self {
        Self::with_policy(&format!("pre_tool_use: [{{ hooks: [{hook}] }}]\n"))
    }

    /// Returns a user with a hooks file.
    fn with_policy(policy: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        let directory = home.path().join(".config/hookexec");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("hooks.yaml"), policy).unwrap();
        let mut agent = Self { home, project, hookexec: String::new() };
        let line = format!("'{}' install claude-code", hookexec().display());
        let installed = agent.command(&line).output().unwrap();
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        let settings = fs::read(agent.home.path().join(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_slice(&settings).unwrap();
        let line = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
        line.as_str().unwrap().clone_into(&mut agent.hookexec);
        agent.check(&agent.hookexec);
        agent
    }

    /// Returns the line without the shell that denies a call if hookexec gives no answer. The lines of
    /// other guards have none: the tool runs.
    fn without_denial(&self) -> &str {
        let (_, line) = self.hookexec.rsplit_once("exit 2; }' ").unwrap();
        line
    }

    /// Returns how long a guard takes, from the shell that Claude Code starts to its end.
    fn time(&self, guard: &str) -> Duration {
        let input = self.call("git status");
        timed(|| raw::run(vec![self.command(guard)], input.as_bytes()))
    }

    /// Measures the line `subject` beside the line `baseline`: times, and instructions.
    fn compare(
        &self,
        work: &str,
        samples: usize,
        baseline: &str,
        subject: &str,
        target: Option<f64>,
    ) -> Finding {
        let mut found = ratio(work, target, samples, || self.time(baseline), || self.time(subject));
        if let (Some(base), Some(count)) = (self.instructions(baseline), self.instructions(subject))
        {
            let _ = write!(found.measured, "; {count:.1} / {base:.1} million instructions");
        }
        found
    }

    /// Returns the million instructions of a line and all that it starts, if Valgrind is there.
    fn instructions(&self, line: &str) -> Option<f64> {
        Command::new("valgrind").arg("--version").output().ok()?;
        let counts = self.home.path().join("counts");
        fs::create_dir(&counts).unwrap();
        let mut command = self.adapt(Command::new("valgrind"));
        command.args(["--tool=callgrind", "--trace-children=yes", "--quiet"]);
        command.arg(format!("--callgrind-out-file={}/%p", counts.display()));
        command.args(["/bin/sh", "-c", line]);
        let output = raw::output(command, self.call("git status").as_bytes());
        assert!(output.status.success(), "{line}: {output:?}");
        let mut count = 0.0;
        for profile in fs::read_dir(&counts).unwrap() {
            let text = fs::read_to_string(profile.unwrap().path()).unwrap();
            let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
            count += total.parse::<f64>().unwrap() / 1e6;
        }
        fs::remove_dir_all(&counts).unwrap();
        Some(count)
    }

    /// Makes sure that a guard lets `git status` pass, and not `rm`.
    fn check(&self, guard: &str) {
        let answer = |call| raw::output(self.command(guard), self.call(call).as_bytes());
        let passes = |output: &Output| {
            let text = String::from_utf8_lossy(&output.stdout);
            output.status.success() && !text.contains("\"deny\"") && !text.contains("\"ask\"")
        };
        let (status, remove) = (answer("git status"), answer("rm -rf /"));
        assert!(passes(&status) && !passes(&remove), "{guard}: {status:?}, {remove:?}");
    }

    /// Returns what Claude Code writes to a guard before it runs a command.
    fn call(&self, command: &str) -> String {
        json!({
            "session_id": "0193f5a2-session",
            "transcript_path": self.home.path().join("transcript.jsonl"),
            "cwd": self.project,
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": { "command": command, "description": "Run a command" },
            "tool_use_id": "toolu_01",
        })
        .to_string()
    }

    /// Returns a line that this user starts.
    fn command(&self, line: &str) -> Command {
        self.adapt(shell(line))
    }

    /// Starts a command in the user's home and project.
    fn adapt(&self, mut command: Command) -> Command {
        command.env("HOME", self.home.path()).env_remove("XDG_CONFIG_HOME");
        command.current_dir(&self.project);
        command
    }
}
