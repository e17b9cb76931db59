//! Checks what only the whole configuration shows, such as hooks that are the same.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use hookexec_files::diagnostic::{Diagnostic, Diagnostics};

use super::model::{Command, Config, Hook};
use crate::event::Event;
use crate::wire::Mode;

/// Completes `config`, and warns about what is allowed and probably not meant.
pub(super) fn whole(config: &mut Config, problems: &mut Diagnostics) {
    process_timeouts(config);
    if problems.has_errors() {
        // Broken hooks are left out: what seems to be missing or unused may just be among them.
        return;
    }
    guards_that_open(config, problems);
    duplicates(config, problems);
}

/// Gives the hooks that say nothing the time that their process has for a call.
fn process_timeouts(config: &mut Config) {
    for hook in &mut config.hooks {
        if hook.key_locations.get("timeout").is_none()
            && let Some(process) = hook.process().and_then(|name| config.processes.get(name))
            && let Some(timeout) = process.timeout
        {
            hook.timeout = timeout;
        }
    }
}

/// Warns of guards whose crash lets the tool run, once per file: an interpreter that dies of an
/// exception exits with 1, which every agent reads as "no opinion".
fn guards_that_open(config: &Config, problems: &mut Diagnostics) {
    // The first of each file, and how many there are: the hooks of a file stand together.
    let mut guards: Vec<(&Hook, usize)> = Vec::new();
    for hook in &config.hooks {
        if !lets_crashes_pass(hook) {
            continue;
        }
        match guards.last_mut() {
            Some((first, count)) if first.location.path() == hook.location.path() => *count += 1,
            _ => guards.push((hook, 1)),
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
        let message = format!("{who} on `{event}` would let {what} after a crash (exit code 1)");
        let problem = Diagnostic::warning(message).at(first.location.clone());
        problems.push(problem.hint("set `on_error: block` on the hook or in `defaults:`"));
    }
}

/// Returns whether a crash of the hook has no consequence, although its event fails closed.
fn lets_crashes_pass(hook: &Hook) -> bool {
    hook.kind == "command"
        && hook.enabled
        && hook.mode != Mode::Shadow
        && hook.on_error.or(hook.on_exit_code).is_none()
        && hook.event.contract().fails_closed()
        // There a crash counts as a missing answer, and that is a denial.
        && hook.event != Event::Approval
}

/// Warns of hooks that never run, because the same one stands before them.
#[expect(clippy::mutable_key_type, reason = "what a pattern compiles on first use is not compared")]
fn duplicates(config: &Config, problems: &mut Diagnostics) {
    let mut seen: HashMap<Identity<'_>, Vec<&Hook>> = HashMap::with_capacity(config.hooks.len());
    for hook in config.hooks.iter().filter(|hook| hook.enabled) {
        let alike = seen.entry(Identity(hook)).or_default();
        // The same hook under another matcher runs for the tools that only that one matches.
        let first = alike
            .iter()
            .find(|first| first.matcher == hook.matcher || first.matcher.is_everything());
        if let Some(first) = first {
            let message =
                format!("this hook is the same as the one at {}, and does not run", first.location);
            problems.push(Diagnostic::warning(message).at(hook.location.clone()));
        } else {
            alike.push(hook);
        }
    }
}

/// A hook that equals those of its layer that do the same in the same place: of those that match an
/// input, only the first runs.
#[derive(Clone, Copy)]
pub(crate) struct Identity<'h>(pub(crate) &'h Hook);

impl Identity<'_> {
    /// Returns what makes the difference.
    fn parts(&self) -> impl PartialEq {
        let hook = self.0;
        (
            (hook.event, &hook.kind, &hook.command, &hook.args, &hook.name, hook.timeout),
            (&hook.env, &hook.working_dir, &hook.shell, &hook.inherit_env, hook.max_output),
            (hook.on_error, hook.on_exit_code, hook.strict_output, hook.phase, hook.mode),
            (&hook.when, &hook.limit, &hook.with, &hook.untrusted),
            &hook.own,
            // Two matchers may lead to one hook: it still runs once. In a dialect one call may be
            // several tools, of which each matcher chooses its own.
            hook.dialect.as_ref().map(|dialect| (dialect, &hook.matcher)),
            // A script may live beside its file (`$HOOKEXEC_CONFIG_DIR`).
            hook.location.directory(),
            // A project must not replace the hook of another layer: its own limits would count.
            hook.layer(),
        )
    }
}

impl PartialEq for Identity<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Identity<'_> {}

impl Hash for Identity<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Hooks that are alike in these and differ in others are few.
        let texts = match &self.0.command {
            Some(Command::Text(text)) => std::slice::from_ref(text),
            Some(Command::Argv(argv)) => argv,
            None => &[],
        };
        for text in texts.iter().chain(&self.0.args).chain(&self.0.name) {
            state.write(text.as_bytes());
        }
    }
}
