//! The servers that the entries ask (`install --connect`): whether each would answer.

use std::collections::BTreeMap;
use std::path::Path;

use hookexec_project::LoadOptions;
use hookexec_serve::server;
use hookexec_setup::doctor::{Finding, Grade, Section};
use hookexec_setup::settings::inspect::AgentFile;

use crate::connect::remedy;
use crate::console::report::counted;
use crate::runtime::Runtime;

/// Returns what is found about the servers; `None` if no entry asks one.
pub(super) fn section(files: &[AgentFile], options: &LoadOptions) -> Option<Section> {
    let mut callers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        for (socket, entries) in file.sockets() {
            let entries = format!("{} in {}", counted(entries, "event"), file.path.display());
            callers.entry(socket).or_default().push(entries);
        }
    }
    if callers.is_empty() {
        return None;
    }
    let mut section = Section::new("Servers");
    if options.has_managed_files() {
        section.ok(
            "this machine has managed hooks: no server is asked, all hooks run in the process of the \
             call",
        );
        return Some(section);
    }
    let project = options.working_dir.as_deref().unwrap_or(Path::new(""));
    for (socket, about) in callers {
        let (grade, text) = ask(Path::new(socket), project);
        section.findings.push(Finding { grade, about, text });
    }
    Some(section)
}

fn ask(socket: &Path, project: &Path) -> (Grade, String) {
    let asked = Runtime::new().and_then(|runtime| runtime.block_on(server::ping(socket, project)));
    let place = socket.display();
    let problem = match asked {
        Ok(Ok(())) => return (Grade::Ok, format!("the server at {place} answers")),
        Ok(Err(problem)) if problem.ran_nothing() => {
            let here = "here the hooks run in the process of the call";
            return (Grade::Ok, format!("the server at {place} {problem}; {here}"));
        }
        Ok(Err(problem)) => format!("the server at {place} {problem}"),
        Err(error) => error.to_string(),
    };
    let remedy = remedy(socket);
    let effect = "without its answer a guarded call is denied and never allowed";
    (Grade::Problem, format!("{problem}; {effect}; {remedy}"))
}

#[cfg(test)]
mod tests {
    use hookexec_agents::Agent;

    use super::*;
    use hookexec_setup::settings::Scope;

    #[test]
    fn beside_managed_hooks_no_server_is_asked() {
        let place = tempfile::tempdir().unwrap();
        let settings = place.path().join(".claude/settings.json");
        std::fs::create_dir(settings.parent().unwrap()).unwrap();
        let command =
            "hookexec run --from claude-code --event Stop --within 54 --connect /nowhere/socket";
        let hook = serde_json::json!({ "type": "command", "command": command });
        let hooks = serde_json::json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
        std::fs::write(settings, hooks.to_string()).unwrap();
        let file = AgentFile::inspect(Agent::ClaudeCode, Scope::Project, place.path()).unwrap();
        let mut options = LoadOptions::default();
        options.managed_dir = Some(place.path().into());
        let files = [file];
        let lines = |options: &LoadOptions| -> Vec<String> {
            let section = section(&files, options).unwrap();
            section.findings.iter().map(Finding::line).collect()
        };
        let alone = lines(&options);
        assert_eq!(alone.len(), 1);
        assert!(alone[0].starts_with("1 event in "), "{alone:?}");
        assert!(alone[0].contains("the server at /nowhere/socket is not there"), "{alone:?}");
        std::fs::create_dir(place.path().join("hooks.d")).unwrap();
        let managed = lines(&options);
        assert_eq!(managed.len(), 1);
        assert!(managed[0].starts_with("this machine has managed hooks: no server"), "{managed:?}");
    }
}
