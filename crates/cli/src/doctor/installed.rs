//! Whether an agent would call hookexec at all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::ValueEnum as _;
use hookexec::Event;
use hookexec::internal::{Check, files, spoken};
use hookexec_agents::{Agent, NativeEvent, Plugin};

use super::{Finding, codex, guards, programs, switches};
use crate::from::firings;
use crate::import;
use crate::install::timeout_for;
use crate::settings::call::{Call, denies_without_answer};
use crate::settings::live::Live;
use crate::settings::plugin::PluginFile;
use crate::settings::{Scope, Settings, others, store, user_directory, value_of};

/// One entry in an agent's settings that calls hookexec.
struct Registered {
    scope: Scope,
    call: Call,
    /// Whether the program is called by another.
    wrapped: bool,
    /// How long the agent waits, in seconds.
    timeout: Option<f64>,
}

/// Returns the findings about an agent whose settings call hookexec; `None` for an agent that is not
/// used here, if the user did not ask.
pub(super) fn by_settings(
    agent: Agent,
    asked: bool,
    check: &Check,
    project: &Path,
) -> Option<Vec<Finding>> {
    let all = &Settings::in_scopes(agent, project);
    if !asked && !all.iter().any(Settings::is_found) {
        return None;
    }
    let mut findings = Vec::new();
    let mut calls = Vec::new();
    let mut found = false;
    for settings in all {
        match entries(settings, project, &mut findings) {
            Ok(None) => continue,
            Ok(Some(registered)) => {
                findings.extend(imported(settings, check));
                calls.extend(registered);
            }
            Err(problem) => {
                let path = settings.path.display();
                findings.push(Finding::problem(format!("{path}: {problem}")));
            }
        }
        found = true;
    }
    let package = others::package(all);
    if !found {
        let text = format!("not installed: `hookexec install {agent}`");
        return Some(match package {
            Some(place) => by_package(agent, &place, all, project),
            None => vec![Finding::of(asked, text)],
        });
    }
    findings.extend(switches::findings(all, Path::new("/")));
    let direct = calls.iter().filter(|registered| !registered.wrapped);
    let named = direct.map(|it| (it.call.program.as_str(), it.scope));
    findings.extend(programs::findings(agent, named));
    findings.extend(twice(&calls));
    findings.extend(package.map(|place| {
        Finding::warning(format!(
            "also installed as its own package: {place}: every hook runs twice"
        ))
    }));
    if let Some(settings) = all.first() {
        let twice = others::in_agent(settings, project);
        findings.extend(twice.into_iter().map(Finding::warning));
    }
    let enabled = check.configured().filter(|hook| hook.enabled);
    let events: BTreeSet<Event> = enabled.map(|hook| hook.event).collect();
    findings.extend(events.into_iter().map(|it| event_finding(agent, it, &calls, project)));
    findings.extend(patience(agent, &calls, check));
    Some(findings)
}

/// Returns the findings about an agent that calls hookexec by its own package alone.
fn by_package(agent: Agent, place: &str, all: &[Settings], project: &Path) -> Vec<Finding> {
    let mut findings = vec![Finding::fine(format!("installed as its own package: {place}"))];
    if agent == Agent::Codex {
        findings.push(codex::approval_of_plugin(project));
    }
    findings.extend(switches::findings(all, Path::new("/")));
    findings.extend(programs::findings(agent, [("hookexec", Scope::Project)].into_iter()));
    let called = last_call(agent, "its package", project);
    let never = || Finding::warning("its package never called hookexec yet");
    findings.push(called.unwrap_or_else(never));
    findings
}

/// Returns the calls of hookexec in one settings file; `None` when it has none.
fn entries(
    settings: &Settings,
    project: &Path,
    findings: &mut Vec<Finding>,
) -> Result<Option<Vec<Registered>>, String> {
    let scope = settings.scope;
    let text = store::read(&settings.path).map_err(|error| error.to_string())?;
    let text = text.unwrap_or_default();
    let installed = settings.installed(&text)?;
    if installed.is_empty() {
        return Ok(None);
    }
    let (path, count) = (settings.path.display(), installed.len());
    findings.push(Finding::fine(format!("installed for the {scope}: {path} ({count} events)")));
    match settings.agent {
        Agent::Codex => findings.push(codex::approval(settings, project)),
        Agent::Copilot if scope == Scope::Project => {
            findings.extend(copilot_trust(settings, project));
        }
        _ => {}
    }
    let live = settings.live(&text)?;
    if live.len() < installed.len() {
        let (dead, title) = (count - live.len(), settings.agent.title());
        findings.push(Finding::problem(format!(
            "{path}: {dead} of the entries stand where {title} looks for no hooks"
        )));
    }
    let calls = live.into_iter().filter_map(|it| registered(settings.agent, scope, it, findings));
    Ok(Some(calls.collect()))
}

/// Returns a warning when the settings, which call hookexec, hold commands of hooks that hookexec
/// runs.
fn imported(settings: &Settings, check: &Check) -> Option<Finding> {
    let ours: Vec<_> = check.configured().filter(|hook| hook.enabled).collect();
    let twice = import::commands(settings.agent, &settings.path)
        .into_iter()
        .filter(|command| ours.iter().any(|hook| hook.command.as_ref() == Some(command)))
        .count();
    (twice > 0).then(|| {
        Finding::warning(format!(
            "{}: {twice} of the hooks there stand in the hooks files, too, and run twice; take them \
             out of the settings",
            settings.path.display()
        ))
    })
}

/// Says when Copilot CLI loads no hooks of the project: with `-p` it does so only in a trusted
/// folder.
fn copilot_trust(settings: &Settings, project: &Path) -> Option<Finding> {
    const VARIABLE: &str = "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS";
    if std::env::var(VARIABLE).is_ok_and(|value| value == "true") {
        return None;
    }
    let config = user_directory(settings.layout)?.join("config.json");
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
fn registered(
    agent: Agent,
    scope: Scope,
    live: Live,
    findings: &mut Vec<Finding>,
) -> Option<Registered> {
    let Live { event, command, call, timeout, fails_closed, odd } = live;
    let Some(native) = agent.events().iter().find(|row| row.name == event) else {
        let text = format!("not an event of {}, and never called", agent.title());
        findings.push(Finding::problem(text).about(format!("`{event}`")));
        return None;
    };
    let mut differs = |what: String| {
        findings.push(Finding::of(native.is_deciding(), what).about(&event));
    };
    if !odd.is_empty() {
        let odd = odd.join(", ");
        differs(format!(
            "{odd} beside the command: hookexec may not be called there, or not be heard"
        ));
        return None;
    }
    let (call, wrapped) = match (call, unwrapped(agent, &command)) {
        (Some(call), _) => (call, false),
        (None, Some(call)) => (call, true),
        (None, None) => {
            differs(format!("`{command}` is not what `install` writes: it may not deny"));
            return None;
        }
    };
    if call.native != native {
        differs(format!("the command there is for `{}`", call.native.name));
        return None;
    }
    for config in call.configs.iter().filter(|config| !Path::new(config).exists()) {
        differs(format!("{config} does not exist: nothing passes there"));
    }
    if wrapped {
        let text = format!("changed by hand: `{command}`");
        findings.push(Finding::warning(text).about(&event));
    }
    let entry_denies = call.denies_without_answer || !denies_without_answer(native);
    if native.is_deciding() && !(fails_closed && entry_denies) {
        let (title, install) = (agent.title(), install(agent, scope));
        let text = format!(
            "{title} does not deny when hookexec is missing or killed: run `{install}` again"
        );
        findings.push(Finding::warning(text).about(&event));
    }
    Some(Registered { scope, call, wrapped, timeout })
}

/// Returns the call behind another program, such as `timeout 30`, if no shell syntax stands before
/// it that could change its exit code or output.
fn unwrapped(agent: Agent, command: &str) -> Option<Call> {
    let mut starts = command.match_indices(' ').map(|(blank, _)| blank + 1);
    let (start, call) =
        starts.find_map(|start| Some((start, Call::of(agent, &command[start..])?)))?;
    let wrapper = &command[..start];
    (!wrapper.contains(['|', '&', ';', '<', '>', '!', '\n', '(', '`'])).then_some(call)
}

/// Says whether the hooks of `event` would run, and when they did last.
fn event_finding(agent: Agent, event: Event, calls: &[Registered], project: &Path) -> Finding {
    let firing: Vec<&Registered> =
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
    plugin: &Plugin,
    asked: bool,
    project: &Path,
) -> Option<Vec<Finding>> {
    let scopes = Scope::value_variants().iter();
    let files: Vec<PluginFile> =
        scopes.filter_map(|scope| PluginFile::of(agent, *scope, project)).collect();
    let installed = files.iter().find(|file| {
        let text = store::text(&file.path);
        file.is_plugin(&text)
    });
    let mut findings = Vec::new();
    if let Some(file) = installed {
        findings.push(Finding::fine(format!("installed: {}", file.path.display())));
    }
    findings.push(match last_call(agent, "its plugin", project) {
        Some(finding) => finding,
        None if installed.is_some() => Finding::warning("its plugin never called hookexec yet"),
        None if asked && files.is_empty() => Finding::problem(format!(
            "its plugin never called hookexec: copy it from `{}` of hookexec's repository",
            plugin.source
        )),
        None if asked || files.iter().any(PluginFile::is_found) => {
            Finding::of(asked, format!("not installed: `hookexec install {agent}`"))
        }
        None => return None,
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
fn scope_of(calls: &[Registered]) -> Scope {
    let is_projects = !calls.is_empty() && calls.iter().all(|call| call.scope == Scope::Project);
    if is_projects { Scope::Project } else { Scope::User }
}

fn ago(time: SystemTime) -> String {
    format!("{} ago", spoken(time.elapsed().unwrap_or_default()))
}

/// Says when both the user's and the project's settings call hookexec: each hook would run twice.
fn twice(calls: &[Registered]) -> Option<Finding> {
    let in_scope = |scope| calls.iter().any(|call| call.scope == scope);
    (in_scope(Scope::User) && in_scope(Scope::Project)).then(|| {
        Finding::warning("installed for the user and for the project: every hook runs twice here")
    })
}

/// Says where time runs out: the agent's before hookexec's, or hookexec's before a hook's.
fn patience(agent: Agent, calls: &[Registered], check: &Check) -> Vec<Finding> {
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
