//! One cell of the matrix: a fault of a type, at a kind of event, with an `on_error`.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hookexec::wire::{HookReport, HookStatus};
use hookexec::{Config, Contract, Decision, Executor, Input, Verdict};
use serde_json::json;

use crate::builtins::Gate;
use crate::expected::{Ends, Kind, OnErrorKey, Outcome, expected};
use crate::fault::{Case, Fault, Hooks, Run, TYPES};
use crate::server::Server;

/// How long a cell may take before the test gives up on it.
const HANG: Duration = Duration::from_mins(3);

/// The timeout of hooks that hang, and of those that must not run into it.
const SHORT: &str = "300ms";
const LONG: &str = "2m";

/// The name of the hook, for reports.
const NAME: &str = "the-guard";

/// What all shell texts may use.
const PRELUDE: &str = r#"
fork() { n=$1; while [ $n -gt 0 ]; do n=$((n-1)); (read -r x <>hold) & done; }
welcome() { echo '{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'; }
hello() { read -r line; welcome; }
greet() { echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}}'; }
each() { while read -r line; do id=${line#*\"id\":}; id=${id%%,*}; eval "$1"; done; }
"#;

/// One cell.
pub(crate) struct Cell {
    fault: &'static str,
    kind: &'static str,
    hooks: &'static Hooks,
    contract: &'static Contract,
    on_error: OnErrorKey,
}

impl Cell {
    pub(crate) fn new(fault: &'static Fault, at: usize, kind: Kind, on_error: OnErrorKey) -> Self {
        let Case::Run(hooks) = fault.case(at) else { panic!("{} is meaningless", fault.name) };
        let contract = kind.event().contract();
        Self { fault: fault.name, kind: TYPES[at], hooks, contract, on_error }
    }

    /// Returns what becomes of `crowd` dispatches at once.
    ///
    /// # Errors
    /// When it is not what it must be, or not said as it must be said.
    pub(crate) async fn observe(&self, crowd: usize) -> Result<Outcome, String> {
        let wanted = expected(self.contract, self.on_error, self.hooks.ends);
        for (run, cause) in self.hooks.variants {
            let problem = match tokio::time::timeout(HANG, self.dispatch(*run, crowd)).await {
                Err(_) => format!("took longer than {HANG:?}"),
                Ok(Err(refusal)) if wanted == Outcome::Refused => {
                    let said = if self.forbidden() { "`on_error: " } else { cause };
                    if refusal.contains(said) && refusal.contains("hooks.yaml:") {
                        continue;
                    }
                    format!("refused without `{said}`: {refusal}")
                }
                Ok(Err(refusal)) => format!("refused: {refusal}"),
                Ok(Ok((place, verdicts))) => {
                    let judged = verdicts.iter().map(|it| self.judge(it, wanted, cause, &place));
                    match judged.collect::<Result<Vec<()>, String>>() {
                        Ok(_) => continue,
                        Err(problem) => problem,
                    }
                }
            };
            let Self { fault, kind, contract, on_error, .. } = self;
            return Err(format!(
                "{kind}, {fault}, {}, on_error {on_error:?}, {crowd} at once: {problem}",
                contract.event
            ));
        }
        Ok(wanted)
    }

    /// Returns whether the event can't do what `on_error` says.
    fn forbidden(&self) -> bool {
        expected(self.contract, self.on_error, Ends::Fails) == Outcome::Refused
    }

    /// Dispatches the event so many times at once. Returns where the hook stands, and the verdicts;
    /// or why the hooks file is refused.
    async fn dispatch(&self, run: Run, crowd: usize) -> Result<(String, Vec<Verdict>), String> {
        let project = tempfile::tempdir().unwrap();
        let gate = Gate::default();
        let server = match run {
            Run::Replies(reply) => Some(Server::start(reply, self.kind == "model").await),
            _ => None,
        };
        let url = server.as_ref().map(|server| server.url.as_str());
        let (text, line) = self.hooks_file(project.path(), run, url);
        let config =
            Config::from_yaml(&text, "hooks.yaml").map_err(|problems| problems.to_string())?;
        let executor = Executor::builder(config)
            .registry(gate.registry())
            .working_dir(project.path())
            .env([("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())])
            .build()
            .map_err(|problems| problems.to_string())?;
        if self.hooks.hangs {
            // Only the call itself shall run into the timeout.
            executor.check_processes().await;
        }
        let (executor, input) = (Arc::new(executor), Arc::new(self.input()));
        let event = self.contract.event;
        let dispatches = (0..crowd).map(|_| {
            let (executor, input) = (Arc::clone(&executor), Arc::clone(&input));
            tokio::spawn(async move { executor.dispatch(event, &input).await })
        });
        let verdicts = join_all(dispatches).await.into_iter().map(Result::unwrap).collect();
        Ok((format!("hooks.yaml:{line}"), verdicts))
    }

    /// Writes what the hook runs, and returns a hooks file and the hook's line in it.
    fn hooks_file(&self, project: &Path, run: Run, url: Option<&str>) -> (String, usize) {
        std::fs::write(project.join("barred"), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(project.join("barred"), PermissionsExt::from_mode(0o644)).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, project.join("hold"), 0o600.into()).unwrap();
        let command = match run {
            Run::Shell(text) if text.contains("fork ") => json!(format!("{PRELUDE}{text}")),
            Run::Shell(text) | Run::Builtin(text) => json!(text),
            Run::Program(program) => json!([program]),
            Run::Calls(text) if self.kind == "mcp" => {
                let text = format!(
                    "{PRELUDE}call() {{\n{text}\n}}\nread -r line; greet; read -r line; each call"
                );
                json!(["/bin/sh", "-c", text])
            }
            Run::Calls(text) => {
                let text = format!("{PRELUDE}call() {{\n{text}\n}}\nhello; each call");
                json!(["/bin/sh", "-c", text])
            }
            Run::Script(text) => json!(["/bin/sh", "-c", format!("{PRELUDE}{text}")]),
            Run::Replies(_) => json!(null),
        };
        let mut hook = json!({
            "name": NAME,
            "type": self.kind,
            "command": command,
            "timeout": if self.hooks.hangs { SHORT } else { LONG },
        });
        if let Some(word) = self.on_error.word() {
            hook["on_error"] = json!(word);
        }
        let mut text = String::new();
        if let Some(url) = url {
            hook.as_object_mut().unwrap().remove("command");
            hook["with"] = json!({ "url": url, "allow_private": true });
            if self.kind == "model" {
                hook["with"].as_object_mut().unwrap().extend([
                    ("api".to_owned(), json!("openai-chat")),
                    ("model".to_owned(), json!("judge")),
                    ("prompt".to_owned(), json!("Allow it.")),
                    ("decisions".to_owned(), json!(["allow", "deny", "none"])),
                ]);
            }
        }
        if self.kind == "process" || self.kind == "mcp" {
            let mut process = json!({
                "command": command, "start_timeout": LONG, "max_line": 8192,
            });
            if self.kind == "mcp" {
                hook.as_object_mut().unwrap().remove("command");
                hook["with"] = json!({ "server": "child", "tool": "judge" });
                process["protocol"] = json!("mcp");
            } else {
                hook["command"] = json!("child");
            }
            text = format!("processes:\n  child: {process}\n");
        }
        writeln!(text, "hooks:\n  {}:", self.contract.event).unwrap();
        if self.contract.tool_matched {
            text += "    - matcher: shell\n      hooks:\n  ";
        }
        let line = text.lines().count() + usize::from(text.ends_with('\n'));
        writeln!(text, "    - {hook}").unwrap();
        (text, line)
    }

    fn input(&self) -> Input {
        let text = "x".repeat(if self.hooks.large_input { 100_000 } else { 1 });
        Input::for_tool("shell", json!({ "cmd": text }).as_object().unwrap().clone())
    }

    /// Compares a verdict with what it must be.
    fn judge(
        &self,
        verdict: &Verdict,
        wanted: Outcome,
        cause: &str,
        place: &str,
    ) -> Result<(), String> {
        let seen = outcome(verdict);
        if seen != wanted {
            return Err(format!("is {seen:?} and must be {wanted:?}: {verdict:#?}"));
        }
        let [report] = &verdict.hooks[..] else { return Err(format!("{:#?}", verdict.hooks)) };
        let allowed = verdict.decision.is_none_or(|decision| decision == Decision::Allow);
        let mut wrong = Vec::new();
        let mut check = |holds: bool, what: &'static str| {
            if !holds {
                wrong.push(what);
            }
        };
        check(verdict.allowed == allowed, "allowed");
        check(report.name == NAME && report.source == place, "name or place in the report");
        let told = format!("hook `{NAME}` ({place}) failed: ");
        let tells = |text: &Option<String>| {
            text.as_ref().is_some_and(|text| text.starts_with(&told) && text.contains(cause))
        };
        let open = [NAME];
        let (message, system, failed_open): (bool, bool, &[&str]) = match wanted {
            Outcome::Refused | Outcome::Fine(_) => (false, false, &[]),
            Outcome::Decided(_) => (true, false, &[]),
            Outcome::Warned => (false, true, &open),
            Outcome::Noted => (false, false, &open),
        };
        let said =
            |text: &Option<String>, wanted| if wanted { tells(text) } else { text.is_none() };
        check(said(&verdict.message, message), "message");
        check(said(&verdict.system_message, system), "system_message");
        check(verdict.failed_open == failed_open, "failed_open");
        check(self.reported(report, cause), "report");
        if wrong.is_empty() { Ok(()) } else { Err(format!("wrong {wrong:?}: {verdict:#?}")) }
    }

    /// Returns whether the report of the hook says how it ended.
    fn reported(&self, report: &HookReport, cause: &str) -> bool {
        let says = report.error.as_ref().is_some_and(|error| error.contains(cause));
        match self.hooks.ends {
            Ends::Fails => {
                report.status == HookStatus::Failed && says && report.exit_code == Some(-1)
            }
            Ends::Errs => report.status == HookStatus::Error && says && report.exit_code > Some(0),
            Ends::Silent | Ends::Allows | Ends::Refused => {
                let warned = report.warnings.iter().any(|it| it.contains("a background process"));
                report.status == HookStatus::Ok
                    && report.error.is_none()
                    && warned == self.hooks.lives_on
            }
        }
    }
}

/// Returns what a verdict says that became of its only hook.
fn outcome(verdict: &Verdict) -> Outcome {
    let failed = verdict
        .hooks
        .iter()
        .any(|hook| matches!(hook.status, HookStatus::Failed | HookStatus::Error));
    match (failed, verdict.decision, &verdict.system_message) {
        (false, decision, _) => Outcome::Fine(decision),
        (true, Some(decision), _) => Outcome::Decided(decision),
        (true, None, Some(_)) => Outcome::Warned,
        (true, None, None) => Outcome::Noted,
    }
}
