//! Switches that turn hooks off: in the agent's settings, and in those of the machine's
//! administrator.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use hookexec_agents::{Agent, HookSettings, OffSwitch, OffValue};
use serde_json::Value;

use super::Section;
use crate::settings::inspect::{AgentFile, up_to_repository};
use crate::settings::{Scope, beside, value_of};

/// Says which switches turn hooks off. The administrator's files are looked for below `root`.
pub(super) fn add(section: &mut Section, files: &[AgentFile], project: &Path, root: &Path) {
    let Some(AgentFile { agent, .. }) = files.first() else { return };
    let mut places = own_files(*agent, files, project);
    if let Some(layout) = agent.settings() {
        add_managed_files(&mut places, layout, root);
    }
    for (path, scope) in places {
        let file = value_of(&path);
        for switch in &agent.facts().off_switches {
            if switch.file.is_some_and(|name| !path.ends_with(name)) {
                continue;
            }
            if let Some(value) = value_off(switch, &file, scope) {
                let (keys, effect) = (switch.keys.join("."), effect(switch));
                section.problem(format!("{}: `{keys}: {value}` {effect}", path.display()));
                break;
            }
        }
    }
    for switch in &agent.facts().off_switches {
        let name = switch.name();
        if switch.off == OffValue::Variable
            && let Ok(value) = env::var(name)
            && is_on(&value)
        {
            section.problem(format!("the variable `{name}` {}", effect(switch)));
        }
    }
}

/// The files that may have switches. The administrator's are of no scope.
type Places = BTreeMap<PathBuf, Option<Scope>>;

/// Returns the files of the user and the project that may have switches. One that is both is the user's.
fn own_files(agent: Agent, files: &[AgentFile], project: &Path) -> Places {
    let mut found = Places::new();
    if let (Some(layout), Some(place)) = (agent.settings(), agent.place()) {
        let (directory, name) = place.in_project();
        for other in &layout.switch_files {
            for above in up_to_repository(project) {
                let path = beside(&above.join(directory).join(name), other);
                found.insert(path, Some(Scope::Project));
            }
            for file in files {
                if file.scope == Scope::User && !other.starts_with("..") {
                    found.insert(beside(&file.path, other), Some(Scope::User));
                }
            }
        }
    }
    for file in files.iter().rev() {
        if let (Some(_), Some(package)) = (agent.facts().plugin, &agent.facts().package) {
            found.insert(beside(&file.path, package.file), Some(file.scope));
        }
        found.insert(file.path.clone(), Some(file.scope));
    }
    found
}

/// Adds the administrator's files. A directory stands for the JSON files in it.
fn add_managed_files(places: &mut Places, layout: &HookSettings, root: &Path) {
    for file in &layout.managed_files {
        let path = match file.strip_prefix('$') {
            Some(variable) => env::var_os(variable).unwrap_or_default().into(),
            None => root.join(file.trim_start_matches('/')),
        };
        for inside in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            if inside.path().extension() == Some("json".as_ref()) {
                places.insert(inside.path(), None);
            }
        }
        places.insert(path, None);
    }
}

/// Returns the value of a switch in a file, if it turns hooks off.
fn value_off<'v>(switch: &OffSwitch, file: &'v Value, scope: Option<Scope>) -> Option<&'v Value> {
    let value = file.pointer(&format!("/{}", switch.keys.join("/")))?;
    let is_off = match switch.off {
        OffValue::Is(off) => !value.is_null() && *value != !off,
        OffValue::Variable => {
            // A process gets every value as a text.
            let text = value.to_string();
            scope != Some(Scope::Project) && is_on(value.as_str().unwrap_or(&text))
        }
        OffValue::NoObject => !value.is_object(),
        OffValue::NamesUs => names(value, "hookexec"),
        OffValue::LacksUs => value.is_array() && !names(value, "hookexec"),
        OffValue::Excludes => excludes(value),
        OffValue::ManagedOnly => scope.is_none() && (*value == true || names(value, "hooks")),
        _ => false,
    };
    if is_off { Some(value) } else { None }
}

fn effect(switch: &OffSwitch) -> &'static str {
    match switch.off {
        OffValue::ManagedOnly => {
            "turns off all hooks but the administrator's, so these never run; ask the administrator to \
             add hookexec there"
        }
        OffValue::LacksUs | OffValue::Excludes => "turns the plugin of hookexec off",
        _ => "turns every hook off",
    }
}

/// Returns whether agents take the value of a variable for `true`.
fn is_on(value: &str) -> bool {
    !["", "0", "false", "no", "off"].contains(&value.to_ascii_lowercase().as_str())
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

#[cfg(test)]
mod tests {
    use std::fs;

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
            let said = said(Agent::Codex, ".codex/config.toml", config);
            assert_eq!(!said.is_empty(), off, "{config}: {said}");
        }
        let is_managed_only =
            |text: &str| !said(Agent::Codex, "etc/codex/requirements.toml", text).is_empty();
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
        add(&mut section, &[project], root.path(), root.path());
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
