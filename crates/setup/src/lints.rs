//! Warnings about hooks that can be read, and do not do what they seem to do.

use std::path::Path;
use std::time::Duration;

use hookexec::Input;
use hookexec::config::{Command, Diagnostic, Hook};
use hookexec::lifecycle::DeclaredEvents;
use hookexec_agents::{Agent, Ask, field_names};
use hookexec_files::suggest::hint_or_list;
use hookexec_files::template::{Part, parts};
use hookexec_project::Check;
use hookexec_rules::{answers_other_commands, doubts};
use serde_json::Value;

use crate::matchers;
use crate::scripts::{echoed_input, found_from_here_alone, missing};
use crate::waits::{answered_within, timeout_for};

/// Returns warnings about programs and scripts that are missing (they may exist when the hook runs),
/// and about hooks that an agent never runs or whose answer it drops. The agent is the host, or else
/// each one in which hookexec is installed.
pub fn warnings(check: &Check, host: Option<&DeclaredEvents>, project: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut agents: Vec<Agent> = Vec::new();
    match host {
        Some(host) => {
            found.extend(host.unfired(check.configured()));
            agents.extend(Agent::all().find(|agent| agent.title() == host.host()));
        }
        None => agents.extend(matchers::installed(project)),
    }
    for hook in check.configured() {
        let mut of_command = missing(hook, project);
        of_command.extend(echoed_input(hook));
        of_command.extend(found_from_here_alone(hook));
        for problem in of_command {
            let place = hook.key_locations.get("command").unwrap_or(&hook.location);
            found.push(problem.at(place.clone()));
        }
        found.extend(absent_fields(hook));
        found.extend(doubts(hook));
        for mut warning in matchers::warnings(hook, &agents) {
            warning.message = format!("`{}`: {}", hook.label(), warning.message);
            warning.location.get_or_insert_with(|| hook.location.clone());
            found.push(warning);
        }
        if let (Some(_), Some(agent)) = (host, agents.first()) {
            found.extend(late(hook, *agent, project));
            found.extend(unasked(hook, *agent));
        }
    }
    found.extend(rivals(check));
    found
}

/// Returns a warning for each field in the texts of `hook` that its event does not have. In a dialect
/// the fields have other names.
fn absent_fields(hook: &Hook) -> Vec<Diagnostic> {
    let mut paths = Vec::new();
    match (&*hook.kind, &hook.command, &hook.with) {
        ("mcp", _, Some(with)) if hook.dialect.is_none() => collect_fields(with, &mut paths),
        ("builtin", Some(Command::Text(name)), _) if name == "http_post" => {
            // The first text is the address, and a header names variables.
            let mut texts = hook.args.clone();
            texts.retain(|text| !text.starts_with("--"));
            for text in texts.into_iter().skip(1) {
                collect_fields(&text.into(), &mut paths);
            }
        }
        _ => {}
    }
    let known = field_names(hook.event);
    let mut problems = Vec::new();
    for path in paths {
        let name = path.split('.').next().unwrap_or_default();
        if !known.contains(&name) && !Input::CARRIED.contains(&name) {
            let message = format!("`{}` has no field `{name}`, so `${{{path}}}` fails", hook.event);
            let hint = hint_or_list(name, known.iter().copied(), "its fields are");
            problems.push(Diagnostic::warning(message).hint(hint).at(hook.location.clone()));
        }
    }
    problems
}

/// Adds the path of each `${a.b}` in the texts of `value` to `paths`.
fn collect_fields(value: &Value, paths: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for part in parts(text, "${", "}") {
                if let Part::Field(path) = part {
                    paths.push(path.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, paths)),
        Value::Object(fields) => fields.values().for_each(|field| collect_fields(field, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a warning for each rule that answers what another one allows.
fn rivals(check: &Check) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut first: Option<&Hook> = None;
    for rule in check.configured() {
        if !answers_other_commands(rule) {
            continue;
        }
        let Some(first) = first else {
            first = Some(rule);
            continue;
        };
        if rule.event == first.event {
            let (own, other, place) = (rule.label(), first.label(), &first.location);
            let what = format!(
                "`{own}` answers the calls that `{other}` ({place}) allows, and vice versa"
            );
            let hint =
                "write one rule with `otherwise`, or give a rule of `files` its `tools`, too";
            problems.push(Diagnostic::warning(what).hint(hint).at(rule.location.clone()));
        }
    }
    problems
}

/// Returns a warning of a hook that may answer after `agent` has given up.
fn late(hook: &Hook, agent: Agent, project: &Path) -> Option<Diagnostic> {
    if !hook.states_timeout() || !hook.phase.is_answered() {
        return None;
    }
    let native = *agent.firing(hook.event).first()?;
    let within = Duration::from_secs(answered_within(agent, native, project));
    if hook.timeout <= within {
        return None;
    }
    let (label, event, title, needed) = (hook.label(), hook.event, agent.title(), hook.timeout);
    let message =
        format!("`{label}` may take {needed:?} at `{event}`, and {title} waits {within:?}");
    let mut hint = "a late answer counts as none: lower the `timeout`".to_owned();
    if let Some(wait) = timeout_for(hook.timeout) {
        hint = format!("{hint}, or run `hookexec install {agent} --timeout {wait}`");
    }
    Some(Diagnostic::warning(message).hint(hint).at(hook.location.clone()))
}

/// Returns a warning of a rule that asks where `agent` can't ask its user.
fn unasked(hook: &Hook, agent: Agent) -> Option<Diagnostic> {
    let mut natives = agent.events().iter();
    natives.find(|native| native.ask == Ask::Denies && native.event == Some(hook.event))?;
    let asks = hook.read_own_keys(|_, node| {
        Some(node.as_map()?.iter().any(|(key, value)| match key.as_text() {
            Some("otherwise") => value.as_text() == Some("ask"),
            key => key == Some("ask"),
        }))
    });
    if hook.kind != "rule" || !asks.unwrap_or_default() {
        return None;
    }
    let (label, title) = (hook.label(), agent.title());
    let message = format!("`{label}` asks, and {title} can't: an ask is a denial there");
    Some(Diagnostic::warning(message).at(hook.location.clone()))
}
