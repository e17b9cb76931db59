//! What Codex itself says about its hooks: only it knows whether it still means its approval.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Finding;
use crate::settings::Settings;

/// How long Codex may take to answer; it takes half a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// Says whether Codex was told that the hooks of `settings` may run.
pub(super) fn approval(settings: &Settings, project: &Path) -> Finding {
    match ask(project).map(|hooks| of_file(&hooks, &settings.path)) {
        Some(hooks) => judge(&hooks),
        None => guess(settings),
    }
}

fn judge(hooks: &[Hook]) -> Finding {
    let any = |wanted: &dyn Fn(&Hook) -> bool| hooks.iter().any(wanted);
    if hooks.is_empty() {
        Finding::problem(
            "Codex does not see these hooks: are hooks, or this project, turned off there?",
        )
    } else if any(&|hook| hook.trust == "untrusted") {
        Finding::problem(
            "not approved in Codex, which skips it without a word: start `codex`, open `/hooks`",
        )
    } else if any(&|hook| hook.trust == "modified") {
        Finding::problem(
            "changed since it was approved in Codex, which skips it without a word: start `codex`, open `/hooks`",
        )
    } else if any(&|hook| !hook.enabled) {
        Finding::problem("disabled in Codex: start `codex`, open `/hooks`")
    } else {
        Finding::fine("approved in Codex")
    }
}

/// Says what Codex's own notes tell, where Codex can't be asked.
fn guess(settings: &Settings) -> Finding {
    let config = settings.user_directory().map(|directory| directory.join("config.toml"));
    let config = config.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let path = std::path::absolute(&settings.path).unwrap_or_default();
    let key = format!("\"{}:pre_tool_use:", path.display());
    if config.contains(&key) {
        Finding::fine(
            "approved in Codex once; `codex` is not found and can't be asked whether it still is",
        )
    } else {
        Finding::problem(
            "not approved in Codex, which skips it without a word: start `codex`, open `/hooks`",
        )
    }
}

/// Returns whether a `config.toml` turns hooks off: `hooks = false` in `[features]`.
pub(super) fn is_switched_off(config: &str) -> bool {
    let mut section = "";
    config.lines().any(|line| {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']', ' ']);
            return false;
        }
        let Some((key, value)) = line.split_once('=') else { return false };
        let (key, value) = (key.trim(), value.trim());
        let names = ["hooks", "codex_hooks"];
        match section {
            "features" => names.contains(&key) && value == "false",
            "" => {
                key.strip_prefix("features.").is_some_and(|key| names.contains(&key))
                    && value == "false"
            }
            _ => false,
        }
    })
}

/// One hook as Codex sees it.
#[derive(Debug, PartialEq)]
struct Hook {
    trust: String,
    enabled: bool,
}

/// Returns what Codex says of hookexec's hooks in one file.
fn of_file(hooks: &[Value], path: &Path) -> Vec<Hook> {
    let same = |source: &str| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real(Path::new(source)) == real(path)
    };
    let text = |hook: &Value, key: &str| hook[key].as_str().unwrap_or_default().to_owned();
    hooks
        .iter()
        .filter(|hook| same(&text(hook, "sourcePath")))
        .filter(|hook| text(hook, "command").contains(" run --from codex "))
        .map(|hook| Hook {
            trust: text(hook, "trustStatus"),
            enabled: hook["enabled"] != json!(false),
        })
        .collect()
}

/// Asks Codex for its hooks; `None` when it is not there or says something else.
fn ask(project: &Path) -> Option<Vec<Value>> {
    let mut child = Command::new("codex")
        .arg("app-server")
        .current_dir(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let mut messages = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        let answer = messages.find(|message| message["id"] == json!(2));
        let _ = sender.send(answer);
    });
    let client = json!({ "name": "hookexec", "version": env!("CARGO_PKG_VERSION") });
    let initialize = json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } });
    let messages = [
        json!({ "id": 1, "method": "initialize", "params": initialize }),
        json!({ "method": "initialized" }),
        json!({ "id": 2, "method": "hooks/list", "params": { "cwds": [project] } }),
    ];
    let written = messages.iter().try_for_each(|message| writeln!(stdin, "{message}"));
    let answer = written.ok().and_then(|()| receiver.recv_timeout(PATIENCE).ok().flatten());
    let _ = child.kill();
    let _ = child.wait();
    let answer = answer?;
    let projects = answer["result"]["data"].as_array()?;
    Some(projects.iter().filter_map(|it| it["hooks"].as_array()).flatten().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_is_found_where_codex_looks_for_it() {
        for (config, off) in [
            ("[features]\nhooks = false # for now\n", true),
            ("[features]\ncodex_hooks=false\n", true),
            ("features.hooks = false\n[other]\n", true),
            ("[features]\nhooks = true\n", false),
            ("[other]\nhooks = false\n", false),
            ("# [features]\n# hooks = false\n", false),
            ("hooks = false", false),
            ("", false),
        ] {
            assert_eq!(is_switched_off(config), off, "{config}");
        }
    }
}
