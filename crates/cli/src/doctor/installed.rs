//! Whether an agent would call hookexec at all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hookexec::Event;
use hookexec::config::Command;
use hookexec::internal::{Check, files, spoken};
use hookexec_agents::{Agent, NativeEvent};
use serde_json::Value;

use super::{Finding, codex, guards, programs, switches};
use crate::from::firings;
use crate::import;
use crate::install::timeout_for;
use crate::settings::call::{Call, denies_without_answer};
use crate::settings::entry::Entry;
use crate::settings::inspect::AgentFile;
use crate::settings::{Scope, others, store, user_directory, value_of};

/// One entry that calls hookexec, under an event that the agent has.
struct Registered<'f> {
    file: &'f AgentFile,
    entry: &'f Entry,
    call: &'f Call,
}

/// Returns the findings about an agent whose settings may call hookexec; `None` for an agent that is
/// not used here, if the user did not ask.
pub(super) fn by_settings(
    agent: Agent,
    files: &[AgentFile],
    asked: bool,
    check: &Check,
    project: &Path,
) -> Option<Vec<Finding>> {
    if !asked && !files.iter().any(AgentFile::is_found) {
        return None;
    }
    let package = others::package(files);
    if files.iter().all(|file| file.entries.is_ok() && file.ours().is_empty()) {
        return Some(match package {
            Some(place) => by_package(agent, &place, files, project),
            None => vec![not_installed(agent, files, asked)],
        });
    }
    let mut findings = Vec::new();
    let mut calls = Vec::new();
    for file in files {
        let (scope, path, ours) = (file.scope, file.path.display(), file.ours());
        if !ours.is_empty() {
            let count = ours.len();
            findings
                .push(Finding::fine(format!("installed for the {scope}: {path} ({count} events)")));
            findings.extend(match agent {
                Agent::Codex => Some(codex::approval(file, project)),
                Agent::Copilot if scope == Scope::Project => copilot_trust(file, project),
                _ => None,
            });
            findings.extend(imported(file, check));
        }
        match (&file.entries, &file.ignored) {
            (Err(problem), _) => findings.push(Finding::problem(format!("{path}: {problem}"))),
            (Ok(_), Some(reason)) if !ours.is_empty() => {
                findings.push(Finding::problem(format!("{path}: {reason}")));
            }
            _ => calls.extend(
                ours.into_iter().filter_map(|entry| registered(file, entry, &mut findings)),
            ),
        }
    }
    findings.extend(switches::findings(files, Path::new("/")));
    let direct = calls.iter().filter(|it| it.entry.written().is_some());
    let named = direct.map(|it| (it.call.program.as_str(), it.file.scope));
    findings.extend(programs::findings(agent, named));
    let in_scope = |scope| calls.iter().any(|call| call.file.scope == scope);
    if in_scope(Scope::User) && in_scope(Scope::Project) {
        let text = "installed for the user and for the project: every hook runs twice here";
        findings.push(Finding::warning(text));
    }
    findings.extend(package.map(|place| {
        Finding::warning(format!(
            "also installed as its own package: {place}: every hook runs twice"
        ))
    }));
    findings.extend(others::in_agent(agent, project).into_iter().map(Finding::warning));
    let enabled = check.configured().filter(|hook| hook.enabled);
    let events: BTreeSet<Event> = enabled.map(|hook| hook.event).collect();
    findings.extend(events.into_iter().map(|event| event_finding(agent, event, &calls, project)));
    findings.extend(calls.iter().flat_map(|call| impatient(call, check)));
    Some(findings)
}

/// Says that hookexec is not installed, and which file `install` would write.
fn not_installed(agent: Agent, files: &[AgentFile], asked: bool) -> Finding {
    let install = format!("not installed: `hookexec install {agent}`");
    Finding::of(
        asked,
        match files.first() {
            Some(file) => format!("{install} writes to {}", file.path.display()),
            None => install,
        },
    )
}

/// Returns the findings about an agent that calls hookexec by its own package alone.
fn by_package(agent: Agent, place: &str, files: &[AgentFile], project: &Path) -> Vec<Finding> {
    let mut findings = vec![Finding::fine(format!("installed as its own package: {place}"))];
    if agent == Agent::Codex {
        findings.push(codex::approval_of_plugin(project));
    }
    findings.extend(switches::findings(files, Path::new("/")));
    findings.extend(programs::findings(agent, [("hookexec", Scope::Project)].into_iter()));
    let called = last_call(agent, "its package", project);
    let never = || Finding::warning("its package never called hookexec yet");
    findings.push(called.unwrap_or_else(never));
    findings
}

/// Returns a warning when the settings, which call hookexec, hold commands of hooks that hookexec
/// runs.
fn imported(file: &AgentFile, check: &Check) -> Option<Finding> {
    let commands = import::commands(file);
    let is_hook = |command: &&Command| {
        check.configured().any(|hook| hook.enabled && hook.command.as_ref() == Some(command))
    };
    let (twice, path) = (commands.iter().filter(is_hook).count(), file.path.display());
    let text = format!(
        "{path}: {twice} of the hooks there stand in the hooks files, too, and run twice; take them \
         out of the settings"
    );
    if twice > 0 { Some(Finding::warning(text)) } else { None }
}

/// Says when Copilot CLI loads no hooks of the project: with `-p` it does so only in a trusted
/// folder.
fn copilot_trust(file: &AgentFile, project: &Path) -> Option<Finding> {
    const VARIABLE: &str = "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS";
    let config = value_of(&user_directory(file.agent.settings()?)?.join("config.json"));
    let folders = config["trusted_folders"].as_array().into_iter().flatten();
    let real = files::real(project);
    // Folders in a trusted one are trusted as well.
    let mut folders = folders.filter_map(Value::as_str);
    let is_trusted = folders.any(|folder| project.starts_with(folder) || real.starts_with(folder));
    if is_trusted || std::env::var(VARIABLE).is_ok_and(|value| value == "true") {
        return None;
    }
    Some(Finding::problem(format!(
        "`copilot -p` loads no hooks of this project: start `copilot` here and trust the folder, \
         or set {VARIABLE}=true"
    )))
}

/// Returns what an entry calls, if it is a call of hookexec for its event; says how it differs from what
/// `install` writes.
fn registered<'f>(
    file: &'f AgentFile,
    entry: &'f Entry,
    findings: &mut Vec<Finding>,
) -> Option<Registered<'f>> {
    let (title, Entry { event, command, .. }) = (file.agent.title(), entry);
    let Some(native) = file.agent.native_event(event) else {
        let text = format!("not an event of {title}, and never called");
        findings.push(Finding::problem(text).about(format!("`{event}`")));
        return None;
    };
    let mut differs = |what: String| {
        findings.push(Finding::of(native.is_deciding(), what).about(event));
    };
    let Some(call) = entry.call() else {
        differs(format!("`{command}` is not what `install` writes: it may not deny"));
        return None;
    };
    if call.native != native {
        differs(format!("the command there is for `{}`", call.native.name));
        return None;
    }
    let again = format!("run `{}` again", install(file.agent, file.scope));
    if !entry.differences.is_empty() {
        let differences = entry.differences.join(", ");
        differs(format!(
            "{differences} beside the command: it may not be called, not be heard or not deny; {again}"
        ));
    }
    if !call.denies_without_answer && denies_without_answer(native) {
        differs(format!("{title} does not deny when hookexec is missing or killed: {again}"));
    }
    for config in call.configs.iter().filter(|config| !Path::new(config).exists()) {
        differs(format!("{config} does not exist: nothing passes there"));
    }
    if let Some(timeout) =
        entry.timeout.filter(|timeout| Duration::from_secs(call.within).as_secs_f64() >= *timeout)
    {
        let text = format!(
            "{title} waits {timeout} s, hookexec takes up to {} s to answer, and no answer is permission",
            call.within
        );
        findings.push(Finding::problem(text).about(event));
    }
    if entry.written().is_none() {
        let text = format!("changed by hand: `{command}`");
        findings.push(Finding::warning(text).about(event));
    }
    Some(Registered { file, entry, call })
}

/// Says whether the hooks of `event` would run, and when they did last.
fn event_finding(agent: Agent, event: Event, calls: &[Registered<'_>], project: &Path) -> Finding {
    let firing: Vec<&Registered<'_>> =
        calls.iter().filter(|it| it.call.native.fires(agent).contains(&event)).collect();
    if firing.is_empty() {
        let possible = agent.events().iter().any(|native| native.fires(agent).contains(&event));
        let text = if possible {
            format!("not registered: run `{}` again", install(agent, scope_of(calls)))
        } else {
            format!("{} has no such event, so its hooks never run there", agent.title())
        };
        return Finding::of(guards(event), text).about(event.name());
    }
    let mut names: Vec<&str> = firing.iter().map(|it| it.call.native.name).collect();
    names.dedup();
    let names = names.join(", ");
    let seen = firing.iter().filter_map(|it| last_seen(agent, it.call.native, project)).max();
    match seen {
        Some((true, time)) => Finding::fine(format!("{event}: {names}, last seen {}", ago(time))),
        Some((false, time)) => {
            Finding::warning(format!("never seen in this project; last in another, {}", ago(time)))
                .about(format!("{event} ({names})"))
        }
        None => Finding::warning("never seen firing yet").about(format!("{event} ({names})")),
    }
}

/// Returns the findings about an agent whose plugin calls hookexec; `None` if it never did and the
/// user did not ask.
pub(super) fn by_plugin(
    agent: Agent,
    files: &[AgentFile],
    source: &str,
    asked: bool,
    project: &Path,
) -> Option<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in files {
        if let Err(error) = &file.entries {
            findings.push(Finding::problem(format!("{}: {error}", file.path.display())));
        }
    }
    let installed = files.iter().find(|file| !file.ours().is_empty());
    if let Some(file) = installed {
        findings.push(Finding::fine(format!("installed: {}", file.path.display())));
    }
    findings.push(match last_call(agent, "its plugin", project) {
        Some(finding) => finding,
        None if installed.is_some() => Finding::warning("its plugin never called hookexec yet"),
        None if asked && files.is_empty() => Finding::problem(format!(
            "its plugin never called hookexec: copy it from `{source}` of hookexec's repository"
        )),
        None if asked || files.iter().any(AgentFile::is_found) => {
            not_installed(agent, files, asked)
        }
        None => return (!findings.is_empty()).then_some(findings),
    });
    Some(findings)
}

/// Says when the plugin or package of an agent called last; `None` if it never did.
fn last_call(agent: Agent, caller: &str, project: &Path) -> Option<Finding> {
    let seen = agent.events().iter().filter_map(|native| last_seen(agent, native, project)).max();
    let (is_here, time) = seen?;
    let ago = ago(time);
    Some(if is_here {
        Finding::fine(format!("{caller} last called {ago}"))
    } else {
        Finding::warning(format!(
            "{caller} never called in this project; it last called in another, {ago}"
        ))
    })
}

/// Returns whether an agent worked in the project when it called last, and when that was.
fn last_seen(agent: Agent, native: &NativeEvent, project: &Path) -> Option<(bool, SystemTime)> {
    let note = firings(agent)?.join(native.name);
    let time = note.metadata().ok()?.modified().ok()?;
    let text = store::text(&note);
    Some((is_in(Path::new(text.trim_end_matches('\n')), project), time))
}

/// Returns whether `directory` is in the project, or both are in the same repository.
fn is_in(directory: &Path, project: &Path) -> bool {
    fn repository(path: &Path) -> Option<&Path> {
        path.ancestors().find(|ancestor| ancestor.join(".git").exists())
    }
    let (directory, project) = (files::real(directory), files::real(project));
    let same = repository(&project).is_some_and(|it| repository(&directory) == Some(it));
    same || directory.starts_with(&project)
}

/// Returns the command that writes the entries of `scope`.
pub(super) fn install(agent: Agent, scope: Scope) -> String {
    match scope {
        Scope::User => format!("hookexec install {agent}"),
        Scope::Project => format!("hookexec install {agent} --scope project"),
    }
}

/// Returns whose settings an advice is about: the project's if only these call hookexec.
fn scope_of(calls: &[Registered<'_>]) -> Scope {
    let is_projects =
        !calls.is_empty() && calls.iter().all(|call| call.file.scope == Scope::Project);
    if is_projects { Scope::Project } else { Scope::User }
}

fn ago(time: SystemTime) -> String {
    format!("{} ago", spoken(time.elapsed().unwrap_or_default()))
}

/// Says which hooks may take longer than hookexec has for an answer.
fn impatient(registered: &Registered<'_>, check: &Check) -> Vec<Finding> {
    let Registered { file, call, .. } = registered;
    let (within, native) = (Duration::from_secs(call.within), call.native);
    let fires = native.fires(file.agent);
    let mut findings = Vec::new();
    for hook in check.configured().filter(|hook| hook.enabled && fires.contains(&hook.event)) {
        // A hook without a `timeout` has the time that the agent leaves.
        if hook.timeout <= within || !hook.states_timeout() {
            continue;
        }
        let remedy = match timeout_for(hook.timeout) {
            Some(timeout) => {
                format!("`{} --timeout {timeout}`", install(file.agent, file.scope))
            }
            None => "no agent can be made to wait that long; lower its `timeout`".to_owned(),
        };
        let (name, source, takes) = (hook.label(), &hook.location, hook.timeout.as_secs());
        let text = format!(
            "`{name}` ({source}) may take {takes} s and is stopped after {} s: {remedy}",
            call.within
        );
        findings.push(Finding::warning(text).about(native.name));
    }
    findings
}
