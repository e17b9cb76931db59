//! `hookexec install codex --approve`, with a Codex that answers as 0.169 does, or badly.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Done, Sandbox};

/// Answers the requests of JSON lines from the files that are named after them, and keeps what it
/// reads. After an approval `hooks/list` answers from `approved.json`.
const CODEX: &str = r#"#!/bin/sh
[ "$1" = app-server ] || exit 1
while read -r line; do
  echo "$line" >> requests
  id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
    *'"initialize"'*) echo '{"method":"notice"}'; result='{}' ;;
    *hooks/list*) if [ -e written ]; then list=approved.json; else list=listed.json; fi; result=$(cat $list) ;;
    *config/batchWrite*) : > written; result='{"status":"ok"}' ;;
    *) continue ;;
  esac
  echo "{\"id\":$id,\"result\":$result}"
done
"#;

struct Codex {
    sandbox: Sandbox,
}

impl Codex {
    /// Returns a sandbox with `script` as the program `codex`.
    fn new(script: &str) -> Self {
        let sandbox = Sandbox::new();
        let _ = sandbox.script("bin/codex", script);
        Self { sandbox }
    }

    fn file(&self) -> PathBuf {
        self.sandbox.home().join(".codex/hooks.json")
    }

    fn run(&self, args: &[&str]) -> Done {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.sandbox.project().join("bin").display());
        self.sandbox.hookexec(args).env("PATH", path).run()
    }

    fn approve(&self) -> Done {
        self.run(&["install", "codex", "--approve"])
    }

    /// Returns the entries of hookexec as Codex lists them, with this trust.
    fn listed(&self, trust: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.file()).unwrap();
        let settings: Value = serde_json::from_str(&text).unwrap();
        let events = settings["hooks"].as_object().unwrap();
        let hook = |(event, groups): (&String, &Value)| {
            let hook = &groups[0]["hooks"][0];
            let name = format!("{}{}", event[..1].to_lowercase(), &event[1..]);
            json!({
                "key": format!("key-of-{event}"), "eventName": name, "handlerType": "command",
                "command": hook["command"], "async": false, "matcher": null,
                "timeoutSec": hook["timeout"], "sourcePath": self.file(), "source": "user",
                "enabled": true, "currentHash": format!("sha256:{event}"), "trustStatus": trust,
            })
        };
        events.iter().map(hook).collect()
    }

    /// Sets what `hooks/list` answers before and after the approval.
    fn lists(&self, before: &[Value], after: &[Value]) {
        for (name, hooks) in [("listed.json", before), ("approved.json", after)] {
            let answer = json!({ "data": [{ "hooks": hooks, "errors": [] }] });
            let _ = self.sandbox.write(name, &answer.to_string());
        }
    }

    /// Returns what Codex was told to store.
    fn stored(&self) -> Vec<Value> {
        let requests = fs::read_to_string(self.sandbox.project().join("requests"));
        let requests = requests.unwrap_or_default();
        let requests = requests.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        requests.filter(|it| it["method"] == "config/batchWrite").collect()
    }
}

#[test]
fn codex_is_told_the_entries_that_were_written_and_no_other() {
    let codex = Codex::new(CODEX);
    let without = codex.run(&["install", "codex"]).exits(0);
    assert!(
        without.stderr.contains("run `hookexec install codex --approve`"),
        "{}",
        without.stderr
    );
    assert_eq!(codex.stored(), Vec::<Value>::new());

    let ours = codex.listed("untrusted");
    let mut others = [ours[0].clone(), ours[1].clone(), ours[2].clone()];
    others[0]["key"] = json!("of another file");
    others[0]["sourcePath"] = json!("/etc/hooks.json");
    others[1]["key"] = json!("another command");
    others[1]["command"] = json!(format!("{} || true", ours[1]["command"].as_str().unwrap()));
    others[2]["key"] = json!("narrowed");
    others[2]["matcher"] = json!("Read");
    let all: Vec<Value> = others.iter().chain(&ours).cloned().collect();
    codex.lists(&all, &codex.listed("trusted"));
    let done = codex.approve().exits(0);
    for hook in &ours {
        assert!(done.stderr.contains(hook["command"].as_str().unwrap()), "{}", done.stderr);
    }
    assert!(done.stderr.contains(&format!("approved {} events", ours.len())), "{}", done.stderr);
    let expected: serde_json::Map<String, Value> = ours
        .iter()
        .map(|hook| {
            let state = json!({ "trusted_hash": hook["currentHash"] });
            (hook["key"].as_str().unwrap().to_owned(), state)
        })
        .collect();
    let [stored] = &codex.stored()[..] else { panic!("{:?}", codex.stored()) };
    let edit = json!({ "keyPath": "hooks.state", "mergeStrategy": "upsert", "value": expected });
    assert_eq!(stored["params"], json!({ "edits": [edit] }));
}

#[test]
fn what_is_approved_already_is_not_approved_again() {
    let codex = Codex::new(CODEX);
    let _ = codex.run(&["install", "codex"]).exits(0);
    let trusted = codex.listed("trusted");
    codex.lists(&trusted, &trusted);
    let done = codex.approve().exits(0);
    assert!(done.stderr.contains("approved before"), "{}", done.stderr);
    assert_eq!(codex.stored(), Vec::<Value>::new());

    let mut off = trusted.clone();
    off[0]["enabled"] = json!(false);
    codex.lists(&off, &off);
    let done = codex.approve().exits(1);
    assert!(done.stderr.contains("disabled in Codex"), "{}", done.stderr);
}

#[test]
fn an_entry_that_was_changed_by_hand_is_not_approved() {
    let codex = Codex::new(CODEX);
    let _ = codex.run(&["install", "codex"]).exits(0);
    let text = fs::read_to_string(codex.file()).unwrap();
    let changed = text.replace("--event Stop --within 54", "--event Stop --within 54 || true");
    assert_ne!(text, changed);
    fs::write(codex.file(), changed).unwrap();
    codex.lists(&codex.listed("untrusted"), &codex.listed("trusted"));
    let done = codex.approve().exits(0);
    assert!(!done.stderr.contains("  Stop: "), "{}", done.stderr);
    let [stored] = &codex.stored()[..] else { panic!("{:?}", codex.stored()) };
    let value = &stored["params"]["edits"][0]["value"];
    assert!(value.get("key-of-Stop").is_none() && value.get("key-of-PreToolUse").is_some());
}

#[test]
fn an_approval_that_fails_says_why() {
    // It never reads nor answers, and leaves a child that holds its pipes.
    let hangs = "#!/bin/sh\nsleep 600\n";
    let refuses = CODEX.replace(
        "result='{\"status\":\"ok\"}'",
        "echo '{\"id\":'$id',\"error\":{\"message\":\"read-only\"}}'; continue",
    );
    for (script, before, after, said) in [
        ("#!/bin/sh\nexit 1\n", "", "", "`codex app-server` ended at `initialize`"),
        ("#!/no/such/shell\n", "", "", "is not on the PATH"),
        (&refuses, "untrusted", "", "refused `config/batchWrite`: read-only"),
        (CODEX, "", "", "Codex does not see these hooks"),
        (CODEX, "untrusted", "untrusted", ": not approved in Codex"),
        (CODEX, "untrusted", "modified", "changed since it was approved in Codex"),
        (hangs, "", "", "did not answer `initialize` within 20 s"),
    ] {
        let codex = Codex::new(script);
        let _ = codex.run(&["install", "codex"]).exits(0);
        let listed = |trust: &str| match trust {
            "" => Vec::new(),
            trust => codex.listed(trust),
        };
        codex.lists(&listed(before), &listed(after));
        let done = codex.approve().exits(1);
        assert!(
            done.stderr.contains("Codex skips the entries in [SANDBOX]/home/.codex/hooks.json: "),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains(said), "{said}: {}", done.stderr);
    }
    let codex =
        Codex::new(&CODEX.replace("result=$(cat $list)", "result='{\"data\":[{\"hooks\":[7]}]}'"));
    let done = codex.approve().exits(1);
    assert!(
        done.stderr.contains("answered `hooks/list` with what hookexec can't read"),
        "{}",
        done.stderr
    );
}

#[test]
fn only_a_person_approves_and_only_for_codex() {
    let codex = Codex::new(CODEX);
    let done = codex.run(&["install", "claude-code", "--approve"]).exits(64);
    assert!(done.stderr.contains("`--approve` is for Codex"), "{}", done.stderr);
    let run = codex.sandbox.hookexec(["install", "codex", "--approve"]);
    let done = run.env("CLAUDECODE", "1").run().exits(64);
    assert!(done.stderr.contains("a coding agent runs this command"), "{}", done.stderr);
    assert!(!codex.file().exists(), "it was installed");

    let done = codex.run(&["install", "codex", "--approve", "--dry-run"]).exits(0);
    assert!(!codex.file().exists() && codex.stored().is_empty(), "{}", done.stderr);
}
