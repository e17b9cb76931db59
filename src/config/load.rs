//! Files and texts in, a [`Config`] or its problems out.
//!
//! Each file is loaded on its own. A file that can't be loaded becomes one failure of its layer, and
//! the others count as ever. Only a file that a person or the program named ends the loading.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::acceptance::{Acceptance, ProjectFile};
use super::check;
use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::file;
use super::layers::{Layer, LoadOptions};
use super::model::{Config, FailedFile, Hook, Limits, OnError};
use super::node::{Node, Value};
use super::reader::Reader;
use super::source::{Location, SourceFile};
use super::yaml;
use crate::event::Event;
use crate::trust::Trust;

/// How many bytes the files of one layer may have together. Those of a project are read before it is
/// known whether a person approved them, at every event.
const MAX_BYTES: usize = 4 << 20;
const MAX_PROJECT_BYTES: usize = 1 << 20;
/// How many files a layer may have.
const MAX_FILES: usize = 1_000;
/// How many hooks of a project run at once, at most: half of what may run at all, so that the hooks of
/// others never wait for them.
const MAX_PROJECT_PARALLEL: usize = 32;

impl Config {
    /// How many hooks of one event run at once when no file says it.
    pub const DEFAULT_MAX_PARALLEL: usize = 64;

    /// Reads a configuration from `text`; `path` is what messages call it.
    ///
    /// # Errors
    /// All problems of the text, when one of them is an error.
    pub fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let mut loading = Loading::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        loading.text(SourceFile::new(path.as_ref(), text));
        loading.finish()
    }

    /// Reads a configuration from one file.
    ///
    /// # Errors
    /// All problems of the file, when one of them is an error.
    pub fn load_file(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        Self::load_files([path])
    }

    /// Reads a configuration from files that add up, in their order.
    ///
    /// # Errors
    /// All problems of all files, when one of them is an error.
    pub fn load_files<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, Diagnostics> {
        let mut loading = Loading::default();
        for path in paths {
            loading.file(Layer::Program, path.as_ref());
        }
        loading.finish()
    }
}

/// What one file configures.
#[derive(Debug)]
struct Part {
    file: Arc<SourceFile>,
    config: Config,
    broken_processes: HashSet<String>,
}

/// What the files of one layer have used up so far.
#[derive(Debug, Default)]
struct Used {
    files: usize,
    bytes: usize,
    /// Whether one of its files was over a bound: the files after it are not read.
    is_full: bool,
}

/// A configuration that is being loaded: what could be read so far, and what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    /// What is sound; broken hooks are left out.
    pub(crate) config: Config,
    /// Errors and warnings of all files.
    pub(crate) problems: Diagnostics,
    /// The hooks that are left out, as far as they could be read.
    pub(crate) broken_hooks: Vec<Hook>,
    pub(super) acceptance: Acceptance,
    parts: Vec<Part>,
    used: BTreeMap<Layer, Used>,
    /// Whether a file that was named is broken, or another argument of the caller.
    is_refused: bool,
    /// Whether broken files are kept as far as they can be read.
    only_show: bool,
    agent: Option<String>,
    agent_found: bool,
}

impl Loading {
    /// Returns a beginning that follows what `options` say of agents and of trust.
    pub(super) fn with_options(options: &LoadOptions) -> Self {
        let acceptance = Acceptance::new(options);
        let (agent, only_show) = (options.agent.clone(), options.only_show);
        Self { acceptance, only_show, agent, ..Self::default() }
    }

    /// Puts the files together, and checks what only the whole configuration shows.
    pub(crate) fn complete(mut self) -> Self {
        self.join();
        check::whole(&mut self.config, &mut self.problems);
        self.problems.sort(&self.config.files);
        self
    }

    /// Returns the configuration, unless a file that was named is broken.
    pub(crate) fn finish(self) -> Result<Config, Diagnostics> {
        let Self { mut config, problems, is_refused, .. } = self.complete();
        if is_refused {
            return Err(problems);
        }
        let warnings = problems.into_iter().filter(|it| it.severity == Severity::Warning);
        config.warnings.extend(warnings);
        Ok(config)
    }

    /// Reads one file. All files of all layers pass here: this is the place that decides whether
    /// one is used at all.
    pub(super) fn file(&mut self, layer: Layer, path: &Path) {
        if let Some(warning) = self.acceptance.excludes(layer, path) {
            self.leave_out(warning);
            return;
        }
        let used = self.used.entry(layer).or_default();
        used.files += 1;
        if used.is_full {
            return;
        }
        if used.files > MAX_FILES {
            used.is_full = true;
            let problem = format!("this layer has more than {MAX_FILES} hooks files");
            self.fail(layer, path, [too_much(layer, path, problem)]);
            return;
        }
        let origin = match layer {
            Layer::CommandLine | Layer::Program => file::Origin::Named,
            Layer::Managed | Layer::User | Layer::Project => file::Origin::Found,
        };
        let allowed = self.acceptance.check_permissions(layer, path);
        match allowed.and_then(|()| file::read(path, origin)) {
            Ok(text) => self.text(SourceFile::new(path, text).in_layer(layer)),
            Err(problem) => {
                self.config.files.push(path.to_owned());
                self.fail(layer, path, [problem]);
            }
        }
    }

    /// Reports a file that is not read.
    pub(super) fn leave_out(&mut self, problem: Diagnostic) {
        self.config.left_out.push(problem.clone());
        self.problems.push(problem);
    }

    /// Reports what keeps a file of `layer` from being loaded. A file that was named ends the loading;
    /// any other is a failure of its layer at every event.
    pub(super) fn fail(
        &mut self,
        layer: Layer,
        path: &Path,
        problems: impl IntoIterator<Item = Diagnostic>,
    ) {
        let problems: Vec<Diagnostic> = problems.into_iter().collect();
        if matches!(layer, Layer::Program | Layer::CommandLine) {
            self.is_refused |= problems.iter().any(|it| it.severity == Severity::Error);
        } else {
            let mut places = problems.iter().filter_map(|it| it.location.clone());
            let place = places.find(|place| place.file().layer == layer);
            let place = place.unwrap_or_else(|| whole_file(layer, path));
            self.config.failed.push(FailedFile::unloadable(place, &problems));
        }
        self.problems.extend(problems);
    }

    /// Reports an argument of the caller that can't be followed.
    fn refuse(&mut self, problem: Diagnostic) {
        self.is_refused = true;
        self.problems.push(problem);
    }

    /// Reports the files that were approved and are gone. That is no failure: another branch may have
    /// none.
    pub(super) fn report_gone(&mut self, directories: &[std::path::PathBuf]) {
        if !self.acceptance.allows(Layer::Project) {
            return;
        }
        let store = self.acceptance.store.as_ref();
        for path in store.map(|store| store.gone(directories)).unwrap_or_default() {
            let cause = "this approved file is gone; its hooks don't run";
            let remedy = format!(
                "restore it, or run `hookexec trust remove {}` in a terminal",
                path.display()
            );
            let warning = Diagnostic::warning(cause).hint(remedy.clone());
            self.problems.push(warning.at(file::whole_file(&path)));
            self.config.failed.push(FailedFile {
                location: whole_file(Layer::Project, &path),
                events: None,
                on_error: Some(OnError::Warn),
                cause: cause.into(),
                remedy: remedy.into(),
            });
        }
    }

    /// Reports a choice of agent that no file could use.
    pub(super) fn check_agent(&mut self) {
        if let Some(agent) = &self.agent
            && !self.agent_found
        {
            let message = format!("agent `{agent}` was asked for, and no file has `agents:`");
            let hint = "name the docker-agent file too: `--config agent.yaml`";
            self.refuse(Diagnostic::error(message).hint(hint));
        }
    }

    fn text(&mut self, file: SourceFile) {
        let file = Arc::new(file);
        self.config.files.push(file.path.clone());
        if let Some(problem) = self.over_budget(&file) {
            self.fail(file.layer, &file.path, [problem]);
            return;
        }
        let mut project_file = self.acceptance.project_file(&file);
        if let Some(project_file) = &project_file
            && project_file.trust != Trust::Approved
        {
            self.withhold(&file, project_file);
        }
        let evaluate = project_file.as_ref().is_none_or(|it| self.acceptance.may_evaluate(it));
        if evaluate {
            self.evaluate(file, project_file.as_mut());
        }
        self.config.project_files.extend(project_file);
    }

    /// Returns the problem if the files of the layer are too large together with this one.
    fn over_budget(&mut self, file: &SourceFile) -> Option<Diagnostic> {
        let used = self.used.entry(file.layer).or_default();
        used.bytes = used.bytes.saturating_add(file.text.len());
        let most = if file.layer == Layer::Project { MAX_PROJECT_BYTES } else { MAX_BYTES };
        if used.bytes <= most {
            return None;
        }
        used.is_full = true;
        let problem =
            format!("the hooks files of this layer are larger than {} MiB together", most >> 20);
        Some(too_much(file.layer, &file.path, problem))
    }

    /// Keeps a project's file that no person approved from being evaluated. A file that was approved
    /// before fails at every event, and so does one whose approval can't be looked up. Of any other
    /// file only the YAML is parsed, for the events that it names.
    fn withhold(&mut self, file: &Arc<SourceFile>, project_file: &ProjectFile) {
        let events = match project_file.trust {
            Trust::Changed | Trust::Unsafe(_) => None,
            _ => match yaml::parse(&file.text) {
                Ok(root) => events_of(&root),
                Err(error) => {
                    if !self.only_show {
                        self.fail(file.layer, &file.path, [syntax_error(file, error)]);
                    }
                    return;
                }
            },
        };
        let problem = project_file.problem().unwrap_or_default();
        self.config.failed.push(FailedFile {
            location: whole_file(file.layer, &file.path),
            events,
            on_error: None,
            cause: format!("{problem}. A person must approve it.").into(),
            remedy: project_file.remedy().into(),
        });
    }

    /// Reads the content of a file.
    fn evaluate(&mut self, file: Arc<SourceFile>, project_file: Option<&mut ProjectFile>) {
        let root = match yaml::parse(&file.text) {
            Ok(root) => root,
            Err(error) => {
                self.fail(file.layer, &file.path, [syntax_error(&file, error)]);
                return;
            }
        };
        let mut document = Document::new(Reader::new(Arc::clone(&file)), self.agent.as_deref());
        document.read(&root);
        self.agent_found |= document.has_agents;
        let broken_processes = document.broken_processes.into_iter().collect();
        self.broken_hooks.append(&mut document.reader.broken_hooks);
        let problems = document.reader.into_problems();
        let mut config = document.config;
        self.acceptance.restrict(config.layers.take());
        let is_broken = problems.has_errors();
        if let Some(project_file) = project_file {
            self.acceptance.refuse(project_file, &file, &mut config);
        }
        if is_broken {
            self.fail(file.layer, &file.path, problems);
        } else {
            self.problems.extend(problems);
        }
        if !is_broken || self.only_show {
            self.parts.push(Part { file, config, broken_processes });
        }
    }

    /// Puts the parts together, in the order of the files. What a layer says goes before what the
    /// layers below it say.
    fn join(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        self.claim_processes(&mut parts);
        let limits = limits_of(&parts);
        for part in parts {
            let rank = part.file.layer.rank();
            let Part { config, broken_processes, .. } = part;
            // That a broken process does not exist would be one mistake told twice.
            let is_broken =
                |hook: &Hook| hook.process().is_some_and(|name| broken_processes.contains(name));
            let hooks = config.hooks.into_iter().filter(|hook| !is_broken(hook));
            self.config.hooks.extend(hooks.map(|mut hook| {
                hook.limits = Arc::clone(&limits[rank]);
                hook
            }));
            self.config.audit.extend(config.audit);
            self.config.processes.extend(config.processes);
            if rank < Layer::Project.rank() {
                let most = self.config.max_parallel.into_iter().chain(config.max_parallel).max();
                self.config.max_parallel = most;
            }
        }
        // The limits of the hooks bound them. All together run as many as the layer with most allows.
        let most = self.config.max_parallel;
        self.config.max_parallel = most.filter(|most| *most > Config::DEFAULT_MAX_PARALLEL);
    }

    /// Leaves out each file that configures a process which a layer above it, or a file before it,
    /// configures already, and each file whose hooks call a process of a layer below.
    fn claim_processes(&mut self, parts: &mut Vec<Part>) {
        let mut owners: BTreeMap<String, (usize, Location)> = BTreeMap::new();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|index| parts[*index].file.layer.rank());
        let mut failed = HashSet::new();
        for index in &order {
            let part = &parts[*index];
            let mut problems = Vec::new();
            for (name, process) in &part.config.processes {
                if let Some((_, first)) = owners.get(name) {
                    let message = format!("the process `{name}` is configured twice");
                    let hint = format!("the first is at {first}; give this one another name");
                    let problem = Diagnostic::error(message).hint(hint);
                    problems.push(problem.at(process.location.clone()));
                }
            }
            if problems.is_empty() {
                let rank = part.file.layer.rank();
                owners.extend(
                    part.config
                        .processes
                        .iter()
                        .map(|(name, process)| (name.clone(), (rank, process.location.clone()))),
                );
            } else {
                failed.insert(*index);
                let file = Arc::clone(&part.file);
                self.fail(file.layer, &file.path, problems);
            }
        }
        for index in order {
            let part = &parts[index];
            let rank = part.file.layer.rank();
            let below = |hook: &&Hook| {
                let owner = hook.process().and_then(|name| owners.get(name));
                owner.is_some_and(|(owner, _)| *owner > rank)
            };
            let problems: Vec<Diagnostic> = part
                .config
                .hooks
                .iter()
                .filter(below)
                .map(|hook| {
                    let message = "this hook calls a process of a layer below its own";
                    let hint = "configure the process in the same file as the hook";
                    Diagnostic::error(message).hint(hint).at(hook.location.clone())
                })
                .collect();
            if !problems.is_empty() && failed.insert(index) {
                let file = Arc::clone(&part.file);
                self.fail(file.layer, &file.path, problems);
            }
        }
        let mut index = 0;
        parts.retain(|_| {
            index += 1;
            !failed.contains(&(index - 1))
        });
    }
}

/// Returns the limits of each rank of layers: the smallest of what its files and those of the ranks
/// above say.
fn limits_of(parts: &[Part]) -> Vec<Arc<Limits>> {
    let mut limits = Vec::new();
    let mut so_far = Limits::default();
    for rank in 0..=Layer::Project.rank() {
        for part in parts.iter().filter(|part| part.file.layer.rank() == rank) {
            let Config { max_parallel, deadline, .. } = &part.config;
            so_far.max_parallel = so_far.max_parallel.iter().chain(max_parallel).min().copied();
            so_far.deadline = so_far.deadline.iter().chain(deadline).min().copied();
        }
        if rank == Layer::Project.rank() {
            let most = so_far.max_parallel.unwrap_or(MAX_PROJECT_PARALLEL);
            so_far.max_parallel = Some(most.min(MAX_PROJECT_PARALLEL));
        }
        limits.push(Arc::new(so_far.clone()));
    }
    limits
}

/// Returns the events for which a file has hooks; `None` when only evaluating it would tell.
fn events_of(root: &Node<'_>) -> Option<Vec<Event>> {
    let mut events = Vec::new();
    for (key, value) in root.as_map()? {
        match key.as_text()? {
            "$schema" | "defaults" | "audit" => {}
            "hooks" => {
                for (key, value) in value.as_map()? {
                    add_event(key, value, &mut events)?;
                }
            }
            _ => add_event(key, value, &mut events)?,
        }
    }
    Some(events)
}

fn add_event(key: &Node<'_>, value: &Node<'_>, events: &mut Vec<Event>) -> Option<()> {
    let event = Event::from_name(key.as_text()?)?;
    let is_empty = matches!(&value.value, Value::List(items) if items.is_empty());
    if !is_empty && !events.contains(&event) {
        events.push(event);
    }
    Some(())
}

/// Returns the problem of a layer that is too large. It names the first file that was not read, and
/// does not hold that file's text.
fn too_much(layer: Layer, path: &Path, problem: String) -> Diagnostic {
    let problem = Diagnostic::error(problem).hint("remove hooks files that are not used");
    problem.at(whole_file(layer, path))
}

fn syntax_error(file: &Arc<SourceFile>, error: yaml::SyntaxError) -> Diagnostic {
    let mut problem = Diagnostic::error(error.message);
    problem.hint = error.hint;
    problem.at(Location::new(Arc::clone(file), error.range))
}

/// Returns the place of a file as a whole, in its layer.
fn whole_file(layer: Layer, path: &Path) -> Location {
    Location::new(Arc::new(SourceFile::new(path, "").in_layer(layer)), 0..0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Event;
    use crate::config::{Command, OnError};

    #[test]
    fn a_normal_file_is_read() {
        let text = r#"
defaults: { timeout: 10, on_error: block }
processes:
  weather: { command: [python3, ./weather.py], provides: [get_weather] }
hooks:
  pre_tool_use:
    - matcher: "shell|edit_file"
      hooks:
        - { type: command, command: ./check.sh, timeout: 500ms }
        - { type: command, command: [python3, check.py], mutates: true }
        - { type: process, command: weather }
  session_start:
    - { type: command, command: ./setup.sh, env: { PORT: 8080, MODE: 0777 } }
  stop: { type: builtin, command: log, args: [20, "x"], enabled: false }
"#;
        let config = Config::from_yaml(text, "hooks.yaml").unwrap();
        let commands: Vec<String> = config.hooks.iter().map(super::super::Hook::label).collect();
        assert_eq!(commands, ["./check.sh", "python3 check.py", "weather", "./setup.sh", "log"]);
        assert_eq!(config.hooks[0].timeout, Duration::from_millis(500));
        assert_eq!(config.hooks[1].timeout, Duration::from_secs(10));
        assert!(config.hooks[0].matcher.matches("edit_file"));
        assert!(!config.hooks[0].matcher.matches("read_file"));
        assert_eq!(config.hooks[0].on_error, Some(OnError::Block));
        assert_eq!(config.hooks[3].on_error, Some(OnError::Warn));
        assert_eq!(config.hooks[3].event, Event::SessionStart);
        assert_eq!(config.hooks[3].env["MODE"], "0777");
        assert_eq!(config.hooks[4].args, ["20", "x"]);
        assert_eq!(config.hooks[4].command, Some(Command::Text("log".into())));
        assert!(!config.hooks[4].enabled);
        assert_eq!(config.hooks[0].location.to_string(), "hooks.yaml:9");
        assert_eq!(config.processes["weather"].provides, ["get_weather"]);
    }

    #[test]
    fn all_problems_of_a_text_are_found_at_once_in_the_order_of_the_text() {
        let text = "stop:\n- type: command\n- { type: command, command: a, timeout: 0, tiemout: 3 }\npre_tool_us: []\n";
        let problems = Config::from_yaml(text, "x.yaml").unwrap_err();
        assert_eq!(
            problems.to_string(),
            "x.yaml:2: a hook needs a `command`\n\
             x.yaml:3: `timeout` is zero\n\
             x.yaml:3: unknown key `tiemout` in a hook\n\
             x.yaml:4: unknown key `pre_tool_us`"
        );
    }
}
