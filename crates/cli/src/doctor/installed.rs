//! Whether an agent would call hookexec at all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hookexec::Event;
use hookexec::config::Command;
use hookexec::internal::{Check, files, spoken};
use hookexec_agents::{Agent, NativeEvent};
use serde_json::Value;

use super::{Grade, Section, codex, guards, programs, switches};
use crate::from::firings;
use crate::import;
use crate::install::timeout_for;
use crate::matchers;
use crate::settings::call::{Call, denies_without_answer};
use crate::settings::entry::Entry;
use crate::settings::inspect::AgentFile;
use crate::settings::package::package;
use crate::settings::{Scope, store, user_directory, value_of};

/// One agent, and what is found about it.
pub(super) struct Visit<'v> {
    pub(super) agent: Agent,
    pub(super) files: &'v [AgentFile],
    /// Whether the user asked about this agent.
    pub(super) asked: bool,
    pub(super) check: &'v Check,
    pub(super) project: &'v Path,
    pub(super) section: Section,
}

/// One entry that calls hookexec, under an event that the agent has.
struct Registered<'f> {
    file: &'f AgentFile,
    call: &'f Call,
}

impl<'v> Visit<'v> {
    /// Returns the findings; `None` about an agent that is not used here, if the user did not ask.
    pub(super) fn section(mut self) -> Option<Section> {
        let (agent, files) = (self.agent, self.files);
        let mut calls = Vec::new();
        for file in files {
            calls.extend(self.file(file));
        }
        let is_installed = files.iter().any(|file| !file.ours().is_empty());
        let package = package(files);
        if let Some(place) = &package {
            if is_installed {
                self.section.warning(format!(
                    "also installed as its own package: {place}: every hook runs twice"
                ));
            } else {
                self.section.ok(format!("installed as its own package: {place}"));
                if agent == Agent::Codex {
                    codex::approval_of_plugin(&mut self.section, self.project);
                }
            }
        }
        let seen = self.last_seen(agent.events().iter());
        let has_plugin = agent.plugin().is_some();
        if self.section.findings.is_empty() && (seen.is_none() || !has_plugin) {
            if !self.asked && !files.iter().any(AgentFile::is_found) {
                return None;
            }
            self.not_installed();
            return Some(self.section);
        }
        switches::add(&mut self.section, files, Path::new("/"));
        let direct = calls.iter().map(|call| (call.call.program.as_str(), call.file.scope));
        let by_name = package.as_ref().filter(|_| !is_installed);
        let by_name = by_name.map(|_| ("hookexec", Scope::Project));
        programs::add(&mut self.section, agent, direct.chain(by_name));
        let in_scope = |scope| calls.iter().any(|call| call.file.scope == scope);
        if in_scope(Scope::User) && in_scope(Scope::Project) {
            let text = "installed for the user and for the project: every hook runs twice here";
            self.section.warning(text);
        }
        if is_installed || package.is_some() {
            self.misfits();
        }
        if has_plugin || package.is_some() && !is_installed {
            let caller = if has_plugin { "its plugin" } else { "its package" };
            match seen {
                Some((true, ago)) => self.section.ok(format!("{caller} last called {ago}")),
                Some((false, ago)) => self.section.warning(format!(
                    "{caller} never called in this project; it last called in another, {ago}"
                )),
                None => self.section.warning(format!("{caller} never called hookexec yet")),
            }
            return Some(self.section);
        }
        let enabled = self.check.configured().filter(|hook| hook.enabled);
        let events: BTreeSet<Event> = enabled.map(|hook| hook.event).collect();
        for event in events {
            self.event(event, &calls);
        }
        for call in &calls {
            self.impatient(call);
        }
        Some(self.section)
    }

    /// Warns of hooks whose matcher fits no tool of the agent.
    fn misfits(&mut self) {
        for hook in self.check.configured() {
            let Some(misfit) = matchers::misfit(hook, &[self.agent]) else { continue };
            let text = format!("{}; {}", misfit.message, misfit.hint.unwrap_or_default());
            let title = format!("`{}` ({})", hook.label(), hook.location);
            self.section.about(&title, Grade::Warning, text);
        }
    }

    /// Says that hookexec is not installed, and which file `install` would write.
    fn not_installed(&mut self) {
        let agent = self.agent;
        let text = match (self.files.first(), agent.plugin()) {
            (Some(file), _) => {
                let path = file.path.display();
                format!("not installed: `hookexec install {agent}` writes to {path}")
            }
            (None, Some(plugin)) => format!(
                "its plugin never called hookexec: copy it from `{}` of hookexec's repository",
                plugin.source
            ),
            (None, None) => format!("not installed: `hookexec install {agent}`"),
        };
        self.section.add(Grade::of(self.asked), text);
    }

    /// Looks at one file, and returns the calls in it.
    fn file(&mut self, file: &'v AgentFile) -> Vec<Registered<'v>> {
        let (scope, path, ours) = (file.scope, file.path.display(), file.ours());
        if ours.is_empty() {
            if let Err(problem) = &file.entries {
                self.section.problem(format!("{path}: {problem}"));
            }
            return Vec::new();
        }
        if file.plugin().is_some() {
            self.section.ok(format!("installed: {path}"));
            return Vec::new();
        }
        let count = ours.len();
        self.section.ok(format!("installed for the {scope}: {path} ({count} events)"));
        match self.agent {
            Agent::Codex => codex::approval(&mut self.section, file, self.project),
            Agent::Copilot if scope == Scope::Project => self.copilot_trust(file),
            _ => {}
        }
        let commands = import::commands(file);
        let is_hook = |command: &&Command| {
            let mut hooks = self.check.configured().filter(|hook| hook.enabled);
            hooks.any(|hook| hook.command.as_ref() == Some(command))
        };
        let twice = commands.iter().filter(is_hook).count();
        if twice > 0 {
            let text = format!(
                "{path}: {twice} of the hooks there stand in the hooks files, too, and run twice; take \
                 them out of the settings"
            );
            self.section.warning(text);
        }
        ours.into_iter().filter_map(|entry| self.registered(file, entry)).collect()
    }

    /// Says when Copilot CLI loads no hooks of the project: with `-p` it does so only in a trusted
    /// folder.
    fn copilot_trust(&mut self, file: &AgentFile) {
        const VARIABLE: &str = "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS";
        let directory = file.agent.settings().and_then(user_directory);
        let config = value_of(&directory.unwrap_or_default().join("config.json"));
        let folders = config["trusted_folders"].as_array().into_iter().flatten();
        let (project, real) = (self.project, files::real(self.project));
        // Folders in a trusted one are trusted as well.
        let mut folders = folders.filter_map(Value::as_str);
        let is_trusted =
            folders.any(|folder| project.starts_with(folder) || real.starts_with(folder));
        if !is_trusted && std::env::var(VARIABLE).as_deref() != Ok("true") {
            let text = format!(
                "`copilot -p` loads no hooks of this project: start `copilot` here and trust the folder, \
                 or set {VARIABLE}=true"
            );
            self.section.problem(text);
        }
    }

    /// Returns what an entry calls, if it is a call of hookexec for its event; says how it differs from
    /// what `install` writes.
    fn registered(&mut self, file: &'v AgentFile, entry: &'v Entry) -> Option<Registered<'v>> {
        let (title, Entry { event, command, .. }) = (self.agent.title(), entry);
        let Some(native) = self.agent.native_event(event) else {
            let text = format!("not an event of {title}, and never called");
            self.section.about(&format!("`{event}`"), Grade::Problem, text);
            return None;
        };
        let grade = Grade::of(native.is_deciding());
        let Some(call) = &entry.call else {
            let text = format!("`{command}` is not what `install` writes: it may not deny");
            self.section.about(event, grade, text);
            return None;
        };
        if call.native != native {
            let text = format!("the command there is for `{}`", call.native.name);
            self.section.about(event, grade, text);
            return None;
        }
        let again = format!("run `{}` again", install(self.agent, file.scope));
        if !entry.differences.is_empty() {
            let differences = entry.differences.join(", ");
            let text = format!(
                "{differences} beside the command: it may not be called, not be heard or not deny; \
                 {again}"
            );
            self.section.about(event, grade, text);
        }
        if !call.denies_without_answer && denies_without_answer(native) {
            let text = format!("{title} does not deny when hookexec is missing or killed: {again}");
            self.section.about(event, grade, text);
        }
        for config in call.configs.iter().filter(|config| !Path::new(config).exists()) {
            self.section.about(
                event,
                grade,
                format!("{config} does not exist: nothing passes there"),
            );
        }
        let within = Duration::from_secs(call.within);
        if let Some(timeout) = entry.timeout.filter(|timeout| *timeout <= within.as_secs_f64()) {
            let text = format!(
                "{title} waits {timeout} s, hookexec takes up to {} s to answer, and no answer is \
                 permission",
                call.within
            );
            self.section.about(event, Grade::Problem, text);
        }
        Some(Registered { file, call })
    }

    /// Says whether the hooks of `event` would run, and when they did last.
    fn event(&mut self, event: Event, calls: &[Registered<'_>]) {
        let fires = |native: &NativeEvent| native.fires(self.agent).contains(&event);
        let mut firing: Vec<&NativeEvent> = calls.iter().map(|call| call.call.native).collect();
        firing.retain(|native| fires(native));
        if firing.is_empty() {
            let text = if self.agent.events().iter().any(fires) {
                // The project's settings if only these call hookexec.
                let users = calls.iter().find(|call| call.file.scope == Scope::User);
                let file = users.or(calls.first()).map(|call| call.file);
                let scope = file.map_or(Scope::User, |file| file.scope);
                format!("not registered: run `{}` again", install(self.agent, scope))
            } else {
                format!("{} has no such event, so its hooks never run there", self.agent.title())
            };
            self.section.about(event.name(), Grade::of(guards(event)), text);
            return;
        }
        let seen = self.last_seen(firing.iter().copied());
        let mut names: Vec<&str> = firing.iter().map(|native| native.name).collect();
        names.dedup();
        let names = names.join(", ");
        let (grade, text) = match seen {
            Some((true, ago)) => {
                return self.section.ok(format!("{event}: {names}, last seen {ago}"));
            }
            Some((false, ago)) => {
                (Grade::Warning, format!("never seen in this project; last in another, {ago}"))
            }
            None => (Grade::Warning, "never seen firing yet".to_owned()),
        };
        self.section.about(&format!("{event} ({names})"), grade, text);
    }

    /// Returns whether the agent worked in the project when it called last for one of `events`, and how
    /// long ago that was.
    fn last_seen<'n>(
        &self,
        events: impl Iterator<Item = &'n NativeEvent>,
    ) -> Option<(bool, String)> {
        let directory = firings(self.agent)?;
        let seen = events.filter_map(|native| {
            let note = directory.join(native.name);
            let time = note.metadata().ok()?.modified().ok()?;
            let text = store::text(&note);
            Some((is_in(Path::new(text.trim_end_matches('\n')), self.project), time))
        });
        let (is_here, time): (bool, SystemTime) = seen.max()?;
        Some((is_here, format!("{} ago", spoken(time.elapsed().unwrap_or_default()))))
    }

    /// Says which hooks may take longer than hookexec has for an answer.
    fn impatient(&mut self, Registered { file, call, .. }: &Registered<'_>) {
        let within = Duration::from_secs(call.within);
        let fires = call.native.fires(self.agent);
        for hook in self.check.configured() {
            // A hook without a `timeout` has the time that the agent leaves.
            let states_more = hook.enabled && hook.states_timeout() && hook.timeout > within;
            if !states_more || !fires.contains(&hook.event) {
                continue;
            }
            let remedy = match timeout_for(hook.timeout) {
                Some(timeout) => {
                    format!("`{} --timeout {timeout}`", install(self.agent, file.scope))
                }
                None => "no agent can be made to wait that long; lower its `timeout`".to_owned(),
            };
            let (name, source, takes) = (hook.label(), &hook.location, hook.timeout.as_secs());
            let text = format!(
                "`{name}` ({source}) may take {takes} s and is stopped after {} s: {remedy}",
                call.within
            );
            self.section.about(call.native.name, Grade::Warning, text);
        }
    }
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
