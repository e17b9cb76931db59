//! What only the whole configuration shows.

use std::collections::{HashMap, HashSet};

use super::diagnostic::{Diagnostic, Diagnostics};
use super::identity::Identity;
use super::model::{Command, Config, Hook, OnError, Phase, Protocol};
use crate::event::{Event, Permission, Rewrite};

/// Completes `config`, and warns about what is allowed and probably not meant.
pub(super) fn whole(config: &mut Config, problems: &mut Diagnostics) {
    process_timeouts(config);
    if problems.has_errors() {
        // Broken hooks are left out: what seems to be missing or unused may just be among them.
        return;
    }
    unused_processes(config, problems);
    guards_that_open(config, problems);
    for hook in config.hooks.iter().filter(|hook| !hook.location.file().text.is_empty()) {
        without_effect(hook, problems);
    }
    duplicates(config, problems);
}

/// Gives the hooks that say nothing the time that their process has for a call.
fn process_timeouts(config: &mut Config) {
    for hook in &mut config.hooks {
        if !hook.key_locations.contains_key("timeout")
            && let Some(process) = hook.process().and_then(|name| config.processes.get(name))
            && let Some(timeout) = process.timeout
        {
            hook.timeout = timeout;
        }
    }
}

fn unused_processes(config: &Config, problems: &mut Diagnostics) {
    let used: HashSet<&str> = config.hooks.iter().filter_map(Hook::process).collect();
    for process in config.processes.values().filter(|process| !used.contains(&*process.name)) {
        let message = format!("no hook calls process `{}`", process.name);
        let name = &process.name;
        let hint = match process.protocol {
            Protocol::Hooks => format!(
                "add a hook `{{ type: process, command: {name} }}`, or `intercept:` to the process"
            ),
            Protocol::Mcp => {
                format!("add a hook `{{ type: mcp, with: {{ server: {name}, tool: NAME }} }}`")
            }
        };
        problems.push(Diagnostic::warning(message).hint(hint).at(process.location.clone()));
    }
}

/// Warns of guards whose crash lets the tool run, once per file: an interpreter that dies of an
/// exception exits with 1, which every agent reads as "no opinion".
fn guards_that_open(config: &Config, problems: &mut Diagnostics) {
    // The first of each file, and how many there are: the hooks of a file stand together.
    let mut guards: Vec<(&Hook, usize)> = Vec::new();
    for hook in &config.hooks {
        if hook.kind == "command"
            && hook.enabled
            && hook.on_error.or(hook.on_exit_code).is_none()
            && hook.event.contract().fails_closed()
            // There a crash counts as a missing answer, and that is a denial.
            && hook.event != Event::Approval
        {
            match guards.last_mut() {
                Some((first, count))
                    if first.location.path().as_os_str() == hook.location.path().as_os_str() =>
                {
                    *count += 1;
                }
                _ => guards.push((hook, 1)),
            }
        }
    }
    for (first, count) in guards {
        let event = first.event;
        let what = match event.contract() {
            contract if contract.withholds() => "the response pass",
            contract if contract.tool_matched => "the tool run",
            _ => "the event go on",
        };
        let who = match count {
            1 => "a guard".to_owned(),
            _ => format!("{count} guards, this one first,"),
        };
        problems.push(
            Diagnostic::warning(format!(
                "{who} on `{event}` would let {what} after a crash (exit code 1)"
            ))
            .hint("set `on_error: block` on the hook or in `defaults:`")
            .at(first.location.clone()),
        );
    }
}

/// Warns of keys that change nothing where they stand.
fn without_effect(hook: &Hook, problems: &mut Diagnostics) {
    let mut warn = |key: &str, message: String, hint: &str| {
        if let Some(location) = hook.key_locations.get(key) {
            problems.push(Diagnostic::warning(message).hint(hint).at(location.clone()));
        }
    };
    let contract = hook.event.contract();
    let may_rewrite =
        contract.rewrite != Rewrite::None || contract.permission == Permission::Approves;
    if hook.phase == Phase::Mutate && !may_rewrite {
        let message = format!("`mutates` on `{}`, where nothing can be rewritten", hook.event);
        warn("mutates", message, "without it the hook runs beside the others");
    }
    if matches!(hook.command, Some(Command::Argv(_))) {
        let message = "`shell` has no effect on a `command` that is a list".to_owned();
        warn("shell", message, "a list is run as it is; write the command as text for a shell");
    }
    if hook.phase == Phase::Background
        && matches!(hook.on_error, Some(OnError::Block | OnError::Ask))
    {
        let message = "`on_error` has no effect on a hook in the background".to_owned();
        warn("on_error", message, "the event does not wait for its answer");
    }
}

/// Warns of hooks that never run, because the same one stands before them.
#[expect(clippy::mutable_key_type, reason = "what a pattern compiles on first use is not compared")]
fn duplicates(config: &Config, problems: &mut Diagnostics) {
    let mut seen: HashMap<Identity<'_>, Vec<&Hook>> = HashMap::with_capacity(config.hooks.len());
    for hook in config.hooks.iter().filter(|hook| hook.enabled) {
        let alike = seen.entry(Identity(hook)).or_default();
        // The same hook under another matcher runs for the tools that only that one matches.
        let covers =
            |first: &&&Hook| first.matcher == hook.matcher || first.matcher.is_everything();
        if let Some(first) = alike.iter().find(covers) {
            let message =
                format!("this hook is the same as the one at {}, and does not run", first.location);
            problems.push(Diagnostic::warning(message).at(hook.location.clone()));
        } else {
            alike.push(hook);
        }
    }
}
