//! Whether an agent would call hookexec at all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hookexec::Event;
use hookexec::config::Command;
use hookexec::internal::{Check, files, spoken};
use hookexec_agents::{Agent, NativeEvent};

use super::{Finding, codex, guards, programs, switches};
use crate::from::firings;
use crate::import;
use crate::install::timeout_for;
use crate::settings::call::{Call, denies_without_answer};
use crate::settings::entry::{Entry, Owner};
use crate::settings::inspect::AgentFile;
use crate::settings::{Scope, others, store, user_directory, value_of};

/// One entry in an agent's settings that calls hookexec.
struct Registered<'e> {
    scope: Scope,
    call: &'e Call,
    /// Whether the program is called by another.
    wrapped: bool,
    /// How long the agent waits, in seconds.
    timeout: Option<f64>,
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
    let mut findings = Vec::new();
    let mut calls = Vec::new();
    let mut found = false;
    for file in files {
        match registered_in(file, project, &mut findings) {
            Ok(None) => continue,
            Ok(Some(registered)) => {
                findings.extend(imported(file, check));
                calls.extend(registered);
            }
            Err(problem) => {
                let path = file.path.display();
                findings.push(Finding::problem(format!("{path}: {problem}")));
            }
        }
        found = true;
    }
    let package = others::package(files);
    if !found {
        return Some(match package {
            Some(place) => by_package(agent, &place, files, project),
            None => vec![not_installed(agent, files, asked)],
        });
    }
    findings.extend(switches::findings(files, Path::new("/")));
    let direct = calls.iter().filter(|registered| !registered.wrapped);
    let named = direct.map(|registered| (registered.call.program.as_str(), registered.scope));
    findings.extend(programs::findings(agent, named));
    findings.extend(twice(&calls));
    findings.extend(package.map(|place| {
        Finding::warning(format!(
            "also installed as its own package: {place}: every hook runs twice"
        ))
    }));
    findings.extend(others::in_agent(agent, project).into_iter().map(Finding::warning));
    let enabled = check.configured().filter(|hook| hook.enabled);
    let events: BTreeSet<Event> = enabled.map(|hook| hook.event).collect();
    findings.extend(events.into_iter().map(|event| event_finding(agent, event, &calls, project)));
    findings.extend(patience(agent, &calls, check));
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

/// Returns the calls of hookexec in one settings file; `None` when it has none.
fn registered_in<'f>(
    file: &'f AgentFile,
    project: &Path,
    findings: &mut Vec<Finding>,
) -> Result<Option<Vec<Registered<'f>>>, String> {
    if let Err(error) = &file.entries {
        return Err(error.clone());
    }
    let ours = file.ours();
    if ours.is_empty() {
        return Ok(None);
    }
    let (scope, path, count) = (file.scope, file.path.display(), ours.len());
    findings.push(Finding::fine(format!("installed for the {scope}: {path} ({count} events)")));
    match file.agent {
        Agent::Codex => findings.push(codex::approval(file, project)),
        Agent::Copilot if scope == Scope::Project => findings.extend(copilot_trust(file, project)),
        _ => {}
    }
    if let Some(reason) = &file.ignored {
        return Err(reason.clone());
    }
    Ok(Some(ours.into_iter().filter_map(|entry| registered(file, entry, findings)).collect()))
}

/// Returns a warning when the settings, which call hookexec, hold commands of hooks that hookexec
/// runs.
fn imported(file: &AgentFile, check: &Check) -> Option<Finding> {
    let ours: Vec<&Command> = check
        .configured()
        .filter(|hook| hook.enabled)
        .filter_map(|hook| hook.command.as_ref())
        .collect();
    let commands = import::commands(file);
    let twice = commands.iter().filter(|command| ours.contains(command)).count();
    if twice == 0 {
        return None;
    }
    Some(Finding::warning(format!(
        "{}: {twice} of the hooks there stand in the hooks files, too, and run twice; take them \
         out of the settings",
        file.path.display()
    )))
}

/// Says when Copilot CLI loads no hooks of the project: with `-p` it does so only in a trusted
/// folder.
fn copilot_trust(file: &AgentFile, project: &Path) -> Option<Finding> {
    const VARIABLE: &str = "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS";
    if std::env::var(VARIABLE).is_ok_and(|value| value == "true") {
        return None;
    }
    let config = user_directory(file.agent.settings()?)?.join("config.json");
    let config = value_of(&config);
    let mut folders = config["trusted_folders"].as_array().into_iter().flatten();
    let real = files::real(project);
    // Folders in a trusted one are trusted as well.
    let trusted = folders.any(|folder| {
        folder.as_str().is_some_and(|it| project.starts_with(it) || real.starts_with(it))
    });
    (!trusted).then(|| {
        Finding::problem(format!(
            "`copilot -p` loads no hooks of this project: start `copilot` here and trust the folder, \
             or set {VARIABLE}=true"
        ))
    })
}

/// Returns what an entry calls, when the agent would call and hear it as `install` meant it; says
/// what is different.
fn registered<'e>(
    file: &AgentFile,
    entry: &'e Entry,
    findings: &mut Vec<Finding>,
) -> Option<Registered<'e>> {
    let (agent, scope) = (file.agent, file.scope);
    let Entry { event, command, owner, timeout, differences, .. } = entry;
    let Some(native) = agent.native_event(event) else {
        let text = format!("not an event of {}, and never called", agent.title());
        findings.push(Finding::problem(text).about(format!("`{event}`")));
        return None;
    };
    let mut differs = |what: String| {
        findings.push(Finding::of(native.is_deciding(), what).about(event));
    };
    let (call, wrapped) = match owner {
        Owner::Written(call) => (call, false),
        Owner::Wrapped(call) => (call, true),
        Owner::ByHand | Owner::Foreign => {
            differs(format!("`{command}` is not what `install` writes: it may not deny"));
            return None;
        }
    };
    let again = format!("run `{}` again", install(agent, scope));
    if !differences.is_empty() {
        let differences = differences.join(", ");
        differs(format!(
            "{differences} beside the command: it may not be called, not be heard or not deny; {again}"
        ));
    }
    if !call.denies_without_answer && denies_without_answer(native) {
        let title = agent.title();
        differs(format!("{title} does not deny when hookexec is missing or killed: {again}"));
    }
    if call.native != native {
        differs(format!("the command there is for `{}`", call.native.name));
        return None;
    }
    for config in call.configs.iter().filter(|config| !Path::new(config).exists()) {
        differs(format!("{config} does not exist: nothing passes there"));
    }
    if wrapped {
        let text = format!("changed by hand: `{command}`");
        findings.push(Finding::warning(text).about(event));
    }
    Some(Registered { scope, call, wrapped, timeout: *timeout })
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
    let is_projects = !calls.is_empty() && calls.iter().all(|call| call.scope == Scope::Project);
    if is_projects { Scope::Project } else { Scope::User }
}

fn ago(time: SystemTime) -> String {
    format!("{} ago", spoken(time.elapsed().unwrap_or_default()))
}

/// Says when both the user's and the project's settings call hookexec: each hook would run twice.
fn twice(calls: &[Registered<'_>]) -> Option<Finding> {
    let in_scope = |scope| calls.iter().any(|call| call.scope == scope);
    (in_scope(Scope::User) && in_scope(Scope::Project)).then(|| {
        Finding::warning("installed for the user and for the project: every hook runs twice here")
    })
}

/// Says where time runs out: the agent's before hookexec's, or hookexec's before a hook's.
fn patience(agent: Agent, calls: &[Registered<'_>], check: &Check) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Registered { scope, call, timeout, .. } in calls {
        let native = call.native;
        let within = Duration::from_secs(call.within);
        if let Some(timeout) = timeout
            && within.as_secs_f64() >= *timeout
        {
            let text = format!(
                "{} waits {timeout} s, hookexec takes up to {} s to answer, and no answer is permission",
                agent.title(),
                call.within
            );
            findings.push(Finding::problem(text).about(native.name));
        }
        let fires = native.fires(agent);
        for hook in check.configured().filter(|hook| hook.enabled && fires.contains(&hook.event)) {
            // A hook without a `timeout` has the time that the agent leaves.
            if hook.timeout > within && hook.states_timeout() {
                let remedy = timeout_for(hook.timeout).map_or_else(
                    || "no agent can be made to wait that long; lower its `timeout`".to_owned(),
                    |timeout| format!("`{} --timeout {timeout}`", install(agent, *scope)),
                );
                let (name, source, within) = (hook.label(), &hook.location, call.within);
                let takes = format!("may take {} s", hook.timeout.as_secs());
                let text = format!(
                    "`{name}` ({source}) {takes} and is stopped after {within} s: {remedy}"
                );
                findings.push(Finding::warning(text).about(native.name));
            }
        }
    }
    findings
}
