//! Which keys of a hook a person is shown before approving it.

use std::collections::BTreeMap;

use hookexec::config::{Command, Hook, Phase};
use hookexec::internal::Process;
use hookexec::internal::reading::Words;
use hookexec::internal::shell::quoted;
use hookexec::wire::Mode;

/// Returns the keys that change what `hook` does or when its answer counts, beside its matcher and
/// command, where they differ from the default. A hook of a process has the process's environment.
pub(super) fn settings_of(
    hook: &Hook,
    processes: &BTreeMap<String, Process>,
) -> BTreeMap<&'static str, String> {
    let process = hook.process().and_then(|name| processes.get(name));
    let (env, working_dir) = match process {
        Some(process) => (&process.env, &process.working_dir),
        None => (&hook.env, &hook.working_dir),
    };
    let words =
        |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let env: Vec<String> =
        env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
    // Those of a list stand in the command itself.
    let has_args = !hook.args.is_empty() && !matches!(hook.command, Some(Command::Argv(_)));
    let yes = |holds: bool| holds.then(|| "true".to_owned());
    let shown = [
        ("type", (hook.kind != "command").then(|| hook.kind.clone())),
        ("args", has_args.then(|| words(&hook.args))),
        ("env", (!env.is_empty()).then(|| env.join(" "))),
        ("working_dir", working_dir.clone()),
        ("shell", hook.shell.clone()),
        ("start", process.filter(|process| process.eager).map(|_| "eager".to_owned())),
        ("when", hook.when.as_ref().map(ToString::to_string)),
        ("with", hook.with.as_ref().map(ToString::to_string)),
        ("mode", (hook.mode != Mode::Enforce).then(|| word(hook.mode)).flatten()),
        ("rollout", hook.rollout.map(|rollout| rollout.to_string())),
        ("on_error", hook.on_error.and_then(word)),
        ("mutates", yes(hook.phase == Phase::Mutate)),
        ("background", yes(hook.phase == Phase::Background)),
        ("enabled", (!hook.enabled).then(|| "false".to_owned())),
    ];
    shown.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn word<W: Words + PartialEq>(value: W) -> Option<String> {
    W::WORDS.iter().find(|(_, it)| *it == value).map(|(word, _)| (*word).to_owned())
}
