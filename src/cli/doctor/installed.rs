//! Whether an agent would call hookexec at all.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hookexec::Event;
use hookexec::agents::{Agent, NativeEvent};
use hookexec::executor::Check;

use super::scripts::is_program;
use super::{Finding, codex, guards};
use crate::cli::from::firings;
use crate::cli::settings::text::Installed;
use crate::cli::settings::{Scope, Settings, store};

/// One command in an agent's settings.
struct Call {
    native: &'static NativeEvent,
    scope: Scope,
    /// How long hookexec may take, in seconds.
    within: f64,
    entry: Installed,
}

/// Returns what is to be said of `agent`.
pub(super) fn findings(
    agent: Agent,
    asked: bool,
    all: &[(Scope, Settings)],
    check: &Check,
    project: &Path,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut calls = Vec::new();
    for (scope, settings) in all {
        let text = match store::read(&settings.path) {
            Ok(text) => text.unwrap_or_else(|| "{}".to_owned()),
            Err(error) => {
                findings.push(Finding::problem(format!("{}: {error}", settings.path.display())));
                continue;
            }
        };
        match settings.installed(&text) {
            Err(error) => {
                findings.push(Finding::problem(format!("{}: {error}", settings.path.display())));
            }
            Ok(entries) if entries.is_empty() => {}
            Ok(entries) => {
                findings.push(Finding::fine(format!(
                    "installed for the {scope}: {} ({} events)",
                    settings.path.display(),
                    entries.len()
                )));
                let switch = switched_off(&text, settings);
                if agent == Agent::Codex && switch.is_none() {
                    findings.push(codex::approval(settings, project));
                }
                findings.extend(switch);
                calls.extend(entries.into_iter().filter_map(|entry| call(agent, *scope, entry)));
            }
        }
    }
    if calls.is_empty() {
        let text = format!("not installed: `hookexec install {agent}`");
        findings.push(if asked { Finding::problem(text) } else { Finding::warning(text) });
        return findings;
    }
    findings.extend(programs(&calls));
    findings.extend(twice(&calls));
    for event in configured(check) {
        findings.push(event_finding(agent, event, &calls));
    }
    findings.extend(patience(agent, &calls, check));
    findings
}

fn call(agent: Agent, scope: Scope, entry: Installed) -> Option<Call> {
    let value = |flag: &str| {
        let (_, rest) = entry.command.split_once(flag)?;
        rest.split_whitespace().next().map(str::to_owned)
    };
    let native = agent.native_event(&value(" --event ")?)?;
    let within = value(" --within ").and_then(|text| text.parse().ok()).unwrap_or(25.0);
    Some(Call { native, scope, within, entry })
}

/// Returns the events that enabled hooks are configured for, in order.
fn configured(check: &Check) -> Vec<Event> {
    let mut events: Vec<Event> =
        check.configured().filter(|hook| hook.enabled).map(|hook| hook.event).collect();
    events.sort_unstable();
    events.dedup();
    events
}

/// Says whether the hooks of `event` would run, and when they did last.
fn event_finding(agent: Agent, event: Event, calls: &[Call]) -> Finding {
    let firing: Vec<&Call> =
        calls.iter().filter(|call| call.native.fires(agent).contains(&event)).collect();
    if firing.is_empty() {
        let possible = agent.events().iter().any(|native| native.fires(agent).contains(&event));
        let text = if possible {
            format!("{event}: not registered: `hookexec install {agent}` once more")
        } else {
            format!("{event}: {} has no such event, so its hooks never run there", agent.title())
        };
        return if guards(event) { Finding::problem(text) } else { Finding::warning(text) };
    }
    let mut names: Vec<&str> = firing.iter().map(|call| call.native.name).collect();
    names.dedup();
    let names = names.join(", ");
    let last = firing.iter().filter_map(|call| last_seen(agent, call.native)).max();
    match last {
        Some(time) => Finding::fine(format!("{event}: {names}, last seen {}", ago(time))),
        None => Finding::warning(format!("{event}: {names}, never seen firing yet")),
    }
}

fn last_seen(agent: Agent, native: &NativeEvent) -> Option<SystemTime> {
    firings(agent)?.join(native.name).metadata().ok()?.modified().ok()
}

fn ago(time: SystemTime) -> String {
    let seconds = time.elapsed().unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86400),
    }
}

/// Says which of the programs that the agent is to start are not there.
fn programs(calls: &[Call]) -> Vec<Finding> {
    let mut programs: Vec<String> =
        calls.iter().map(|call| first_word(&call.entry.command)).collect();
    programs.sort_unstable();
    programs.dedup();
    programs
        .iter()
        .filter(|program| !is_program(Path::new(program)))
        .map(|program| {
            Finding::problem(format!("{program} is no program any more: install once more"))
        })
        .collect()
}

/// Returns the first word of a shell command, as `install` wrote it.
fn first_word(command: &str) -> String {
    match command.strip_prefix('\'') {
        Some(rest) => {
            let end = rest.find("' run ").unwrap_or(rest.len());
            rest[..end].replace(r"'\''", "'")
        }
        None => command.split(' ').next().unwrap_or_default().to_owned(),
    }
}

/// Says when both the user's and the project's settings call hookexec: each hook would run twice.
fn twice(calls: &[Call]) -> Option<Finding> {
    let in_scope = |scope| calls.iter().any(|call| call.scope == scope);
    (in_scope(Scope::User) && in_scope(Scope::Project)).then(|| {
        Finding::warning("installed for the user and for the project: every hook runs twice here")
    })
}

/// Says where time runs out: the agent's before hookexec's, or hookexec's before a hook's.
fn patience(agent: Agent, calls: &[Call], check: &Check) -> Vec<Finding> {
    let mut findings = Vec::new();
    for call in calls {
        let name = call.native.name;
        if let Some(timeout) = call.entry.timeout
            && call.within >= timeout
        {
            findings.push(Finding::problem(format!(
                "{name}: {} waits {timeout} s, hookexec takes up to {} s to answer, and no answer is permission",
                agent.title(),
                call.within
            )));
        }
        let fires = call.native.fires(agent);
        for hook in check.configured().filter(|hook| hook.enabled && fires.contains(&hook.event)) {
            let longer = hook.timeout.as_secs_f64() > call.within;
            // The default timeout is longer than most agents wait; only a wish of the user's counts.
            if longer && hook.key_locations.contains_key("timeout") {
                findings.push(Finding::warning(format!(
                    "{name}: `{}` ({}) may take {} s and is stopped after {} s: `hookexec install {agent} --timeout {}`",
                    hook.label(),
                    hook.location,
                    hook.timeout.as_secs(),
                    call.within,
                    (hook.timeout.as_secs() * 10).div_ceil(9) + 1
                )));
            }
        }
    }
    findings
}

/// Says when a switch in the settings turns hooks off.
fn switched_off(text: &str, settings: &Settings) -> Option<Finding> {
    if settings.agent == Agent::Codex {
        let beside = settings.path.parent().map(Path::to_owned);
        let configs = [settings.user_directory(), beside].into_iter().flatten();
        let mut configs = configs.map(|directory| directory.join("config.toml"));
        let off = |path: &PathBuf| {
            std::fs::read_to_string(path).is_ok_and(|text| codex::is_switched_off(&text))
        };
        return configs.find(off).map(|path| {
            let path = path.display();
            Finding::problem(format!("{path}: `features.hooks = false` turns every hook off"))
        });
    }
    settings.switched_off(text).map(|switch| {
        let path = settings.path.display();
        Finding::problem(format!("{path}: `{switch}` turns every hook off"))
    })
}
