//! Whether an agent would call hookexec at all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use hookexec::config::Hook;
use hookexec::{Event, FailureMode};
use hookexec_agents::{Agent, FilePlace, HookSettings, NativeEvent, TrustedFolders, tools};
use hookexec_files::files;
use hookexec_files::platform::Platform;
use hookexec_project::Check;
use hookexec_project::policy::spoken;

use super::{Grade, Section, firings, programs, switches};
use crate::codex::{self, IN_CODEX};
use crate::matchers;
use crate::settings::call::CallOptions;
use crate::settings::edit::planned;
use crate::settings::entry::Entry;
use crate::settings::inspect::{AgentFile, inspect};
use crate::settings::{Scope, value_of};
use crate::waits::{kept_timeout, needed_timeout};

/// Returns what is found about the agents that the user `asked` about, or else about those that are used
/// here; and their files.
pub fn agents(asked: &[Agent], check: &Check, project: &Path) -> (Vec<Section>, Vec<AgentFile>) {
    let (mut sections, mut inspected) = (Vec::new(), Vec::new());
    let mut installable = Vec::new();
    for agent in Agent::all() {
        if agent.is_installable() {
            installable.push(agent.name());
        }
        let is_asked = asked.contains(&agent);
        if is_asked || asked.is_empty() {
            let files = inspect(agent, project);
            sections.extend(Visit::new(agent, &files, check, project).section(is_asked));
            inspected.extend(files);
        }
    }
    if sections.is_empty() {
        let mut section = Section::new("Agents");
        section.warning(format!(
            "no coding agent is found here; next: `hookexec install AGENT`, where AGENT is one of {}",
            installable.join(", ")
        ));
        sections.push(section);
    }
    (sections, inspected)
}

/// One agent, and what is found about it.
struct Visit<'v> {
    agent: Agent,
    files: &'v [AgentFile],
    check: &'v Check,
    project: &'v Path,
    section: Section,
    /// The programs that the settings name, and whose settings do.
    programs: BTreeMap<String, Scope>,
}

impl<'v> Visit<'v> {
    /// Begins with an agent, its files, and the hooks of the project.
    fn new(agent: Agent, files: &'v [AgentFile], check: &'v Check, project: &'v Path) -> Self {
        let section = Section::new(agent.title());
        Self { agent, files, check, project, section, programs: BTreeMap::new() }
    }

    /// Returns the findings; `None` about an agent that is not used here, if the user has not `asked`
    /// about it.
    fn section(mut self, asked: bool) -> Option<Section> {
        for file in self.files {
            self.file(file);
        }
        let mut installed: Vec<&AgentFile> = self.files.iter().collect();
        installed.retain(|file| file.is_installed());
        let has_plugin = self.agent.facts().plugin.is_some();
        if self.section.findings.is_empty() {
            let last = if has_plugin { self.last_seen(self.agent.events()) } else { None };
            let is_found = self.files.iter().any(AgentFile::is_found);
            if let Some((_, time, _)) = last {
                let ago = spoken(time.elapsed().unwrap_or_default());
                let gone = self.not_installed();
                self.section.problem(format!("its plugin called {ago} ago, and is gone: {gone}"));
            } else if asked || is_found {
                self.section.add(Grade::of(asked), self.not_installed());
            }
            return if self.section.findings.is_empty() { None } else { Some(self.section) };
        }
        switches::add(&mut self.section, self.files, self.project, Path::new("/"));
        if let Some(HookSettings { last_hook_wins: true, .. }) = self.agent.settings() {
            self.later_hooks();
        }
        programs::add_own(&mut self.section, self.agent, &self.programs);
        programs::add_agents(&mut self.section, self.agent, self.files, self.project);
        if installed.len() > 1 {
            let places = format!("installed in {} places", installed.len());
            self.section
                .warning(format!("{places}: every hook runs as often here; keep one of them"));
        }
        if !installed.is_empty() {
            self.hooks();
            self.tools();
            if Platform::HERE.has_drives {
                self.section.ok(
                    "of texts for cmd, and of those for PowerShell with more than plain words, rules see \
                     only the words",
                );
            }
        }
        if has_plugin || installed.iter().all(|file| file.is_package) && !installed.is_empty() {
            let caller = if has_plugin { "its plugin" } else { "its package" };
            let (grade, text) = self.seen(self.agent.events());
            self.section.about(caller, grade, text);
        } else {
            self.events();
        }
        Some(self.section)
    }

    /// Warns of hooks that never run under the agent, or whose answer it drops.
    fn hooks(&mut self) {
        for hook in self.check.configured() {
            for mut warning in matchers::warnings(hook, &[self.agent]) {
                let place = warning.location.take().unwrap_or_else(|| hook.location.clone());
                let title = format!("`{}` ({place})", hook.label());
                self.section.about(&title, Grade::Warning, warning.with_hint());
            }
        }
    }

    /// Warns of tools that were called and that no guard may know.
    fn tools(&mut self) {
        for name in firings::unknown_tools(self.agent).lines() {
            if !tools::is_listed(name) {
                self.section.warning(format!(
                    "`{name}` was called, a tool that hookexec does not know: no guard of files or of \
                     the web sees it by its kind; add its name to their matchers"
                ));
            }
        }
    }

    /// Says that hookexec is not installed, and which file `install` would write.
    fn not_installed(&self) -> String {
        match self.files.first() {
            Some(AgentFile { agent, path, .. }) => {
                format!("not installed: `hookexec install {agent}` writes to {}", path.display())
            }
            None => "not installed: `hookexec docs agents` says how".to_owned(),
        }
    }

    /// Looks at one file.
    fn file(&mut self, file: &'v AgentFile) {
        let (scope, path, ours) = (file.scope, file.path.display(), file.ours());
        let again = format!("run `{}` again", install(self.agent, scope));
        if let Err(problem) = &file.entries {
            self.section.problem(format!("{path}: {problem}"));
        }
        for name in file.namesakes() {
            self.section.problem(format!(
                "{path}: the entry `{name}` is not hookexec, and takes the place of the one that is"
            ));
        }
        if ours.is_empty() {
            return;
        }
        if file.is_package {
            self.section.ok(format!("installed as its own package: {path}"));
            self.programs.entry("hookexec".to_owned()).or_insert(scope);
        } else if file.agent.plugin_text().is_some() {
            match file.plugin_program() {
                Some(program) => {
                    self.section.ok(format!("installed: {path}"));
                    self.programs.entry(program).or_insert(scope);
                }
                None => self.section.problem(format!(
                    "{path}: the plugin is not as `install` writes it: it may not be loaded or not \
                     deny; {again}"
                )),
            }
        } else {
            let count = ours.len();
            self.section.ok(format!("installed for the {scope}: {path} ({count} events)"));
            self.entries(file);
            let kept = kept_timeout(&ours);
            for hook in self.check.configured() {
                if needed_timeout([hook]) > kept {
                    let title = format!("`{}` ({})", hook.label(), hook.location);
                    let text = format!("stopped before its `timeout` is over: {again}");
                    self.section.about(&title, Grade::Warning, text);
                }
            }
        }
        if self.agent == Agent::Codex {
            self.codex_approval(file);
        }
        if scope == Scope::Project
            && let Some(HookSettings { trusted_folders: Some(trusted), .. }) = self.agent.settings()
        {
            self.folder_trust(trusted);
        }
    }

    /// Warns of hooks that come after hookexec and may override it, under an agent where the last hook wins.
    /// It reads the hooks of a project first.
    fn later_hooks(&mut self) {
        let (mut ours, mut later) = (BTreeSet::new(), BTreeMap::new());
        for file in self.files.iter().rev() {
            for entry in file.entries.as_deref().unwrap_or_default() {
                if entry.is_ours {
                    ours.insert(&entry.event);
                    later.remove(&entry.event);
                } else if ours.contains(&entry.event) && self.grade(&entry.event) == Grade::Problem
                {
                    later.insert(&entry.event, file.path.display());
                }
            }
        }
        for (event, path) in later {
            let text = format!(
                "{path}: another hook comes after hookexec: if it allows, a denial of hookexec's is lost; \
                 move hookexec to the end"
            );
            self.section.about(event, Grade::Warning, text);
        }
    }

    /// Says whether Codex runs the hooks of a file: only Codex knows whether its approval still counts.
    fn codex_approval(&mut self, file: &AgentFile) {
        let install = install(Agent::Codex, file.scope);
        let mut advice = IN_CODEX.to_owned();
        if !file.is_package {
            advice = format!("run `{install} --approve`, or {IN_CODEX}");
        }
        match codex::problem_of(file, self.project) {
            Ok(None) => self.section.ok("approved in Codex"),
            Ok(Some(problem)) => self.section.problem(format!("{problem}: {advice}")),
            Err(error) => self
                .section
                .warning(format!("not known whether Codex runs its hooks ({error}): {advice}")),
        }
    }

    /// Says when the agent loads no hooks of the project, because its user does not trust the folder.
    fn folder_trust(&mut self, trusted: &TrustedFolders) {
        let TrustedFolders { list: (file, keys), variable, program, .. } = trusted;
        if std::env::var(variable).as_deref() == Ok("true") {
            return;
        }
        let directory = self.agent.place().and_then(FilePlace::user_directory);
        let settings = value_of(&directory.unwrap_or_default().join(file));
        let project = files::real(self.project);
        for key in keys {
            for folder in settings[key].as_array().into_iter().flatten() {
                // Folders in a trusted one are trusted as well.
                if let Some(folder) = folder.as_str()
                    && !folder.is_empty()
                    && project.starts_with(files::real(Path::new(folder)))
                {
                    return;
                }
            }
        }
        self.section.problem(format!(
            "`{program}` loads no hooks of this project: trust the folder there, or set {variable}=true"
        ));
    }

    /// Compares the entries of a file with those that `install` would write.
    fn entries(&mut self, file: &'v AgentFile) {
        let (ours, written) = (file.ours(), written_again(file, self.check.configured()));
        let mut others = BTreeSet::new();
        for entry in &written {
            if !ours.contains(&entry) {
                others.insert(entry.event.as_str());
            }
        }
        for entry in ours {
            if entry.call.is_none() || !written.contains(entry) {
                others.insert(&entry.event);
            }
            let Some(call) = &entry.call else { continue };
            for config in &call.options.configs {
                if !Path::new(config).exists() {
                    let text = format!("{config} does not exist: nothing passes there");
                    self.section.about(&entry.event, self.grade(&entry.event), text);
                }
            }
            self.programs.entry(call.options.program.clone()).or_insert(file.scope);
        }
        for event in others {
            let text = format!(
                "the entry is not as `install` writes it: it may not be called, not be waited for or \
                 not deny; remove it and run `{}` again",
                install(self.agent, file.scope)
            );
            self.section.about(event, self.grade(event), text);
        }
    }

    /// Returns how bad it is that the entry of an agent's event does nothing.
    fn grade(&self, event: &str) -> Grade {
        let native = self.agent.native_event(event);
        Grade::of(native.is_none_or(NativeEvent::is_deciding))
    }

    /// Says whether the hooks of each event would run, and when they did last.
    fn events(&mut self) {
        let mut events = BTreeSet::new();
        for hook in self.check.configured() {
            if hook.enabled {
                events.insert(hook.event);
            }
        }
        for event in events {
            let firing = self.firing(event);
            if !firing.is_empty() {
                let names: Vec<&str> = firing.iter().map(|native| native.name).collect();
                let (grade, text) = self.seen(&firing);
                self.section.about(&format!("{event} ({})", names.join(", ")), grade, text);
            } else if self.agent.firing(event).is_empty() {
                // The silence of a guard would let something through.
                let is_guard = event.contract().failure != FailureMode::Open;
                let title = self.agent.title();
                let text = format!("{title} has no such event, so its hooks never run there");
                self.section.about(event.name(), Grade::of(is_guard), text);
            }
        }
    }

    /// Returns the agent's events with an entry that have hooks of `event` run.
    fn firing(&self, event: Event) -> Vec<NativeEvent> {
        let mut firing = Vec::new();
        for entry in self.files.iter().flat_map(AgentFile::ours) {
            if let Some(call) = &entry.call
                && call.native.fires(self.agent).contains(&event)
                && !firing.contains(call.native)
            {
                firing.push(*call.native);
            }
        }
        firing
    }

    /// Says when the agent called last for one of `events`.
    fn seen(&self, events: &[NativeEvent]) -> (Grade, String) {
        let Some((is_here, time, directory)) = self.last_seen(events) else {
            let never = "never seen firing yet (only the calls that `install` wrote count)";
            return (Grade::Warning, never.to_owned());
        };
        let ago = spoken(time.elapsed().unwrap_or_default());
        for file in self.files {
            // The change may have turned the hooks off.
            if file.is_installed()
                && let Ok(metadata) = file.path.metadata()
                && let Ok(changed) = metadata.modified()
                && changed > time
            {
                let path = file.path.display();
                let text = format!("last seen {ago} ago, and not since {path} changed");
                return (Grade::Warning, text);
            }
        }
        if is_here {
            return (Grade::Ok, format!("last seen {ago} ago"));
        }
        (Grade::Warning, format!("never seen in this project; last in {directory}, {ago} ago"))
    }

    /// Returns whether the last call was in the project, when it was, and in which directory.
    fn last_seen(&self, events: &[NativeEvent]) -> Option<(bool, SystemTime, String)> {
        let project = files::real(self.project);
        let mut last = None;
        for native in events {
            if let Some((time, directory)) = firings::last(self.agent, native) {
                let is_here = files::real(Path::new(&directory)).starts_with(&project);
                last = last.max(Some((is_here, time, directory)));
            }
        }
        last
    }
}

/// Returns the entries of hookexec that the file would have after another `install`.
fn written_again<'h>(file: &AgentFile, hooks: impl Iterator<Item = &'h Hook>) -> Vec<Entry> {
    let ours = file.ours();
    let mut options = CallOptions::default();
    let mut events: Vec<Event> = hooks.map(|hook| hook.event).collect();
    for entry in ours.iter().rev() {
        // A hooks file that only the entries name may have hooks at further events.
        let Some(call) = &entry.call else { continue };
        options.clone_from(&call.options);
        events.extend(call.native.event);
    }
    let planned = planned(file.agent, &options, kept_timeout(&ours), &events);
    let text = file.text.as_deref().unwrap_or_default();
    let mut entries = match file.with(text, &planned) {
        Ok(text) => file.read_entries(&text).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    entries.retain(|entry| entry.is_ours);
    entries
}

/// Returns the command that writes the entries of `scope`.
pub(super) fn install(agent: Agent, scope: Scope) -> String {
    match scope {
        Scope::User => format!("hookexec install {agent}"),
        Scope::Project => format!("hookexec install {agent} --scope project"),
    }
}
