//! Switches that turn hooks off: in the agent's settings, and in those of the machine's
//! administrator.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hookexec_agents::{Agent, HookSettings, OffValue};
use serde_json::Value;

use super::Section;
use crate::settings::inspect::AgentFile;
use crate::settings::{Scope, beside, value_at, value_of};

/// Says which switches turn hooks off. The administrator's files are looked for below `root`.
pub(super) fn add(section: &mut Section, files: &[AgentFile], root: &Path) {
    let Some(AgentFile { agent, .. }) = files.first() else { return };
    let mut paths = BTreeSet::new();
    for file in files {
        let mut names: Vec<&str> = Vec::new();
        if let Some(layout) = agent.settings() {
            names.extend(layout.switch_files);
            names.retain(|name| file.scope == Scope::Project || !name.starts_with(".."));
        } else if let Some(package) = agent.package() {
            names.push(package.file);
        }
        for name in names {
            paths.insert(beside(&file.path, name));
        }
        paths.insert(file.path.clone());
    }
    let mut places = Vec::new();
    for path in paths {
        places.push((path, false));
    }
    if let Some(layout) = agent.settings() {
        for path in managed_files(layout, root) {
            places.push((path, true));
        }
    }
    for (path, is_managed) in places {
        if let Some(switch) = switched_off(*agent, &value_of(&path), is_managed) {
            section.problem(format!("{}: {switch}", path.display()));
        }
    }
}

/// Returns the switch in the value of a file that turns hooks off, and which hooks it turns off.
fn switched_off(agent: Agent, file: &Value, is_managed: bool) -> Option<String> {
    for switch in agent.off_switches() {
        let value = value_at(file, switch.keys);
        let is_off = match switch.off {
            // A variable is a text.
            OffValue::Is(off) => *value == off || off && (value == "1" || value == "true"),
            OffValue::NamesUs => names(value, "hookexec"),
            OffValue::LacksUs => value.is_array() && !names(value, "hookexec"),
            OffValue::Excludes => excludes(value),
            OffValue::ManagedOnly => is_managed && (*value == true || names(value, "hooks")),
            _ => false,
        };
        if is_off {
            let effect = match switch.off {
                OffValue::ManagedOnly => {
                    "turns off all hooks but the administrator's, so these never run; ask the \
                     administrator to add hookexec there"
                }
                OffValue::LacksUs | OffValue::Excludes => "turns the plugin of hookexec off",
                _ => "turns every hook off",
            };
            return Some(format!("`{}: {value}` {effect}", switch.keys.join(".")));
        }
    }
    None
}

fn names(list: &Value, name: &str) -> bool {
    let Some(list) = list.as_array() else { return false };
    list.iter().any(|item| item == name)
}

/// Returns whether one of the patterns of a list excludes the file of the plugin.
fn excludes(patterns: &Value) -> bool {
    for pattern in patterns.as_array().into_iter().flatten() {
        let pattern = pattern.as_str().unwrap_or_default();
        let is_glob =
            pattern.starts_with('!') && (pattern.contains('*') || pattern.contains("hookexec"));
        if is_glob || pattern.starts_with('-') && pattern.ends_with("extensions/hookexec.ts") {
            return true;
        }
    }
    false
}

/// Returns the administrator's files. A directory stands for the JSON files in it.
fn managed_files(layout: &HookSettings, root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for file in layout.managed_files {
        let path = root.join(file.trim_start_matches('/'));
        let Ok(directory) = std::fs::read_dir(&path) else {
            found.push(path);
            continue;
        };
        let mut inside: Vec<PathBuf> = directory.flatten().map(|entry| entry.path()).collect();
        inside.retain(|path| path.extension() == Some("json".as_ref()));
        inside.sort();
        found.extend(inside);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_switch_is_found_where_codex_looks_for_it() {
        let toml = |text: &str| crate::settings::toml::value(text).unwrap();
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
            assert_eq!(switched_off(Agent::Codex, &toml(config), false).is_some(), off, "{config}");
        }
        let is_managed_only = |text: &str| switched_off(Agent::Codex, &toml(text), true).is_some();
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

    // Each was measured in a trusted folder: the client ran a tool call that hookexec denies.
    #[test]
    fn the_switches_of_a_project_are_found() {
        for (agent, path, text) in [
            (Agent::Copilot, ".github/copilot/settings.json", r#"{"disableAllHooks": true}"#),
            (Agent::Copilot, ".github/copilot/settings.local.json", r#"{"disableAllHooks": true}"#),
            (Agent::Copilot, ".claude/settings.json", r#"{"disableAllHooks": true}"#),
            (Agent::Copilot, ".claude/settings.local.json", r#"{"disableAllHooks": true}"#),
            (Agent::ClaudeCode, ".claude/settings.json", r#"{"env": {"CLAUDE_CODE_SIMPLE": "1"}}"#),
            (Agent::Qwen, ".qwen/settings.json", r#"{"disableAllHooks": true}"#),
            (Agent::Codex, ".codex/config.toml", "[features]\nhooks = false\n"),
            (Agent::Droid, ".factory/hooks.json", r#"{"hooksDisabled": true}"#),
            (Agent::Droid, ".factory/settings.json", r#"{"hooks": {"hooksDisabled": true}}"#),
        ] {
            let said = said(agent, path, text);
            assert!(said.contains("turns every hook off"), "{path}: {said}");
            assert!(said.contains(&format!("{path}: ")), "{path}: {said}");
        }
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
