//! The hooks of one agent of a docker-agent file.

use std::path::Path;

use hookexec::Event;
use hookexec::config::{Command, Hook, Phase, Severity};
use hookexec::executor::Check;
use hookexec::load::LoadOptions;
use hookexec::{Executor, Registry};

use super::settings::Import;
use super::yaml::{self, Group};

/// Reads the hooks of the agent called `name`, and those that its flags stand for.
pub(super) fn read(path: &Path, name: Option<&str>) -> Import {
    let registry = Registry::with_shipped_builtins();
    let types: Vec<String> = registry.types().map(str::to_owned).collect();
    let mut options = LoadOptions::default();
    options.files = vec![path.to_owned()];
    options.agent = name.map(str::to_owned);
    options.isolated = true;
    let check = Executor::check(&options, registry);
    let mut import = Import { events: Vec::new(), problems: errors(&check), own_entries: 0 };
    // The administrator's files are among those that are read.
    let own = check.configured().filter(|hook| hook.location.path() == path);
    for hook in own.filter(|hook| types.contains(&hook.kind)) {
        add(&mut import.events, hook);
    }
    import
}

fn errors(check: &Check) -> hookexec::config::Diagnostics {
    let mut errors = hookexec::config::Diagnostics::default();
    let found = check.problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.extend(found.cloned());
    errors
}

fn add(events: &mut Vec<(Event, Vec<Group>)>, hook: &Hook) {
    let place = events.iter().position(|(event, _)| *event == hook.event);
    let place = place.unwrap_or_else(|| {
        events.push((hook.event, Vec::new()));
        events.len() - 1
    });
    let groups = &mut events[place].1;
    let matcher = (!hook.matcher.is_everything()).then(|| hook.matcher.to_string());
    let written = written(hook);
    match groups.last_mut().filter(|group| group.matcher == matcher) {
        Some(group) => group.hooks.push(written),
        None => groups.push(Group {
            line: hook.location.line(),
            matcher,
            condition: None,
            hooks: vec![written],
        }),
    }
}

/// Returns a hook with the keys that its file gives it.
fn written(hook: &Hook) -> yaml::Hook {
    let said = |key: &str| hook.key_locations.contains_key(key);
    let command = hook.command.clone().unwrap_or_else(|| Command::Text(String::new()));
    let mut written = yaml::Hook::new(hook.location.line(), &hook.kind, command);
    if let Some(name) = &hook.name {
        written.set("name", yaml::inline(name));
    }
    if !hook.args.is_empty() {
        written.set("args", yaml::list(&hook.args));
    }
    if !hook.env.is_empty() {
        written.set("env", yaml::mapping(hook.env.iter()));
    }
    for (key, value) in [("working_dir", &hook.working_dir), ("shell", &hook.shell)] {
        if let Some(value) = value {
            written.set(key, yaml::inline(value));
        }
    }
    if said("timeout") {
        written.set("timeout", format!("{}ms", hook.timeout.as_millis()));
    }
    if let Some(word) = hook.on_error.and_then(|it| serde_json::to_value(it).ok()) {
        written.set("on_error", word.as_str().unwrap_or_default());
    }
    for (key, value) in [
        ("strict_output", hook.strict_output),
        ("mutates", hook.phase == Phase::Mutate),
        ("background", hook.phase == Phase::Background),
    ] {
        if said(key) {
            written.set(key, value.to_string());
        }
    }
    written
}
