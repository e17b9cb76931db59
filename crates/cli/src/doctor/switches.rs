//! Switches that turn hooks off: in the agent's settings, and in those of the machine's
//! administrator.

use std::path::{Path, PathBuf};

use super::Finding;
use crate::settings::{Scope, Settings, value_of};

/// Says which switches turn hooks off. The administrator's files are looked for below `root`.
pub(super) fn findings(all: &[Settings], root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for settings in all {
        let mut paths = vec![settings.path.clone()];
        let local = settings.layout.local_file.filter(|_| settings.scope == Scope::Project);
        let beside = local.into_iter().chain(settings.layout.config_file);
        paths.extend(beside.map(|file| settings.path.with_file_name(file)));
        for path in paths {
            let switch = settings.switched_off(&value_of(&path));
            findings.extend(switch.map(|switch| off(&path, &switch)));
        }
    }
    let Some(settings) = all.first() else { return findings };
    for path in managed_files(settings, root) {
        let file = value_of(&path);
        if let Some(switch) = settings.managed_only(&file) {
            findings.push(administrators(&path, &switch));
        } else if let Some(switch) = settings.switched_off(&file) {
            findings.push(off(&path, &switch));
        }
    }
    findings
}

fn off(path: &Path, switch: &str) -> Finding {
    Finding::problem(format!("{}: `{switch}` turns every hook off", path.display()))
}

fn administrators(path: &Path, switch: &str) -> Finding {
    Finding::problem(format!(
        "{}: `{switch}` turns off all hooks but the administrator's, so these never run; ask the \
         administrator to add hookexec there",
        path.display()
    ))
}

/// Returns the administrator's files that exist.
fn managed_files(settings: &Settings, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for file in settings.layout.managed_files {
        let path = root.join(file.trim_start_matches('/'));
        let inside = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let mut inside: Vec<PathBuf> = inside.map(|entry| entry.path()).collect();
        inside.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        inside.sort();
        files.extend(inside);
        files.extend(path.is_file().then_some(path));
    }
    files
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hookexec_agents::Agent;

    use super::*;

    #[test]
    fn the_switch_is_found_where_codex_looks_for_it() {
        let toml = |text: &str| crate::settings::toml::value(text).unwrap();
        let codex = Settings::of(Agent::Codex, Scope::Project, Path::new("/")).unwrap();
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
            assert_eq!(codex.switched_off(&toml(config)).is_some(), off, "{config}");
        }
        let is_managed_only = |text: &str| codex.managed_only(&toml(text)).is_some();
        assert!(is_managed_only("a = 1\nallow_managed_hooks_only = true # by order\n[hooks]\n"));
        // Codex 0.169 ignores it there.
        assert!(!is_managed_only("[hooks]\nallow_managed_hooks_only = true\n"));
        assert!(!is_managed_only("allow_managed_hooks_only = false\n"));
    }

    /// Returns what is said with `text` in the administrator's file `path`.
    fn said(agent: Agent, path: &str, text: &str) -> String {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        let settings = Settings::of(agent, Scope::Project, root.path()).unwrap();
        let found = findings(&[settings], root.path());
        found.iter().map(Finding::line).collect::<Vec<_>>().join("\n")
    }

    // Each was measured: the client ran a tool call that hookexec denies.
    #[test]
    fn the_administrators_switches_are_found() {
        use Agent::{ClaudeCode, Codex, Gemini, Qwen};
        let only = "turns off all hooks but the administrator's";
        let claude = "etc/claude-code/managed-settings.json";
        for (agent, path, text, expected) in [
            (ClaudeCode, claude, r#"{"allowManagedHooksOnly": true}"#, only),
            (ClaudeCode, claude, r#"{"strictPluginOnlyCustomization": true}"#, only),
            (ClaudeCode, claude, r#"{"strictPluginOnlyCustomization": ["skills", "hooks"]}"#, only),
            (ClaudeCode, claude, r#"{"strictPluginOnlyCustomization": ["skills"]}"#, ""),
            (ClaudeCode, claude, r#"{"disableAllHooks": true}"#, "turns every hook off"),
            (ClaudeCode, claude, r#"{"allowManagedHooksOnly": false}"#, ""),
            (
                ClaudeCode,
                "etc/claude-code/managed-settings.d/10-hooks.json",
                r#"{"allowManagedHooksOnly": true}"#,
                only,
            ),
            // In a file of the user's or the project's own it has no effect.
            (ClaudeCode, ".claude/settings.json", r#"{"allowManagedHooksOnly": true}"#, ""),
            (Codex, "etc/codex/requirements.toml", "allow_managed_hooks_only = true\n", only),
            (Codex, "etc/codex/requirements.toml", "[features]\nhooks = false\n", "every hook"),
            (Codex, "etc/codex/requirements.toml", "[features]\nhooks = true\n", ""),
            (
                Gemini,
                "etc/gemini-cli/settings.json",
                r#"{"hooksConfig": {"enabled": false}}"#,
                "turns every hook off",
            ),
            (Qwen, "etc/qwen-code/settings.json", r#"{"disableAllHooks": true}"#, "every hook off"),
        ] {
            let said = said(agent, path, text);
            assert!(said.contains(expected), "{text}: {said}");
            assert_eq!(said.is_empty(), expected.is_empty(), "{text}: {said}");
        }
    }
}
