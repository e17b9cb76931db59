//! Switches that turn hooks off: in the agent's settings, and in those of the machine's
//! administrator.

use std::path::{Path, PathBuf};

use hookexec_agents::HookSettings;
use serde_json::Value;

use super::Section;
use crate::settings::inspect::AgentFile;
use crate::settings::{Scope, value_of};

/// Says which switches turn hooks off. The administrator's files are looked for below `root`.
pub(super) fn add(section: &mut Section, files: &[AgentFile], root: &Path) {
    let Some(layout) = files.first().and_then(|file| file.agent.settings()) else { return };
    for file in files {
        let local = layout.local_file.filter(|_| file.scope == Scope::Project);
        let beside = local.into_iter().chain(layout.config_file);
        let beside = beside.map(|name| file.path.with_file_name(name));
        for path in std::iter::once(file.path.clone()).chain(beside) {
            if let Some(problem) = switched_off(layout, &path, &value_of(&path)) {
                section.problem(problem);
            }
        }
    }
    for path in managed_files(layout, root) {
        let value = value_of(&path);
        let managed = managed_only(layout, &path, &value);
        if let Some(problem) = managed.or_else(|| switched_off(layout, &path, &value)) {
            section.problem(problem);
        }
    }
}

/// Says which switch in the value of a file turns hooks off.
fn switched_off(layout: &HookSettings, path: &Path, value: &Value) -> Option<String> {
    let at = |keys: &[&str]| keys.iter().fold(value, |value, key| &value[*key]);
    let mut switches = layout.off_switches.iter();
    let switch = if let Some((keys, off)) = switches.find(|(keys, off)| at(keys) == off) {
        format!("{}: {off}", keys.join("."))
    } else {
        let keys = layout.disabled_names?;
        at(keys).as_array()?.iter().find(|name| *name == "hookexec")?;
        format!("{}: [\"hookexec\"]", keys.join("."))
    };
    Some(format!("{}: `{switch}` turns every hook off", path.display()))
}

/// Says which switch in the value of the administrator's file leaves no hook but theirs.
fn managed_only(layout: &HookSettings, path: &Path, value: &Value) -> Option<String> {
    let names_hooks = |list: &Vec<Value>| list.iter().any(|kind| kind == "hooks");
    let is_on = |name: &&&str| {
        let switch = &value[**name];
        *switch == true || switch.as_array().is_some_and(names_hooks)
    };
    let name = layout.managed_only.iter().find(is_on)?;
    Some(format!(
        "{}: `{name}: {}` turns off all hooks but the administrator's, so these never run; ask the \
         administrator to add hookexec there",
        path.display(),
        value[*name]
    ))
}

/// Returns the administrator's files that exist.
fn managed_files(layout: &HookSettings, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for file in layout.managed_files {
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
        let codex = Agent::Codex.settings().unwrap();
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
            assert_eq!(
                switched_off(codex, Path::new(""), &toml(config)).is_some(),
                off,
                "{config}"
            );
        }
        let is_managed_only =
            |text: &str| managed_only(codex, Path::new(""), &toml(text)).is_some();
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
        let project = AgentFile::inspect(agent, Scope::Project, root.path()).unwrap();
        let mut section = Section::new("");
        add(&mut section, &[project], root.path());
        let lines: Vec<String> = section.findings.into_iter().map(|found| found.text).collect();
        lines.join("\n")
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
