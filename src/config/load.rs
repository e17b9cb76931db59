//! Files and texts in, a [`Config`] or its problems out.

use std::collections::HashSet;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::acceptance::Acceptance;
use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::file;
use super::layers::{Layer, LoadOptions};
use super::model::{Config, Hook};
use super::reader::Reader;
use super::source::{Location, SourceFile};
use super::{check, yaml};

/// How many bytes all files may have together. They are read before it is known which of them may be
/// heeded, and a machine out of memory asks no guard.
const MAX_BYTES: usize = 4 << 20;
/// About how many states the patterns of all files may have together: some 100 MiB.
const MAX_STATES: usize = 4_000_000;

impl Config {
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

/// A configuration on its way in: what could be read so far, and what is wrong.
///
/// Whoever builds an executor from it all the same finds what else is wrong.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    /// What is sound; broken hooks are left out.
    pub(crate) config: Config,
    /// Errors and warnings.
    pub(crate) problems: Diagnostics,
    /// The hooks that are left out, as far as they could be read.
    pub(crate) broken_hooks: Vec<Hook>,
    pub(super) acceptance: Acceptance,
    /// How many bytes of text were read so far.
    bytes: usize,
    /// About how many states the patterns of all files have so far.
    states: usize,
    /// What projects' files say of the whole event, in order.
    project_limits: Vec<(PathBuf, Option<usize>, Option<Duration>)>,
    agent: Option<String>,
    agent_found: bool,
    broken_processes: HashSet<String>,
}

impl Loading {
    /// Returns a beginning that heeds what `options` say of agents and of trust.
    pub(super) fn of(options: &LoadOptions) -> Self {
        let acceptance = Acceptance::new(options);
        Self { acceptance, agent: options.agent.clone(), ..Self::default() }
    }

    /// Checks what only the whole configuration shows, and brings the problems into order.
    pub(crate) fn complete(mut self) -> Self {
        // That a broken process does not exist would be one mistake told twice.
        let broken = std::mem::take(&mut self.broken_processes);
        let calls_broken = |hook: &Hook| hook.process().is_some_and(|name| broken.contains(name));
        self.config.hooks.retain(|hook| !calls_broken(hook));
        self.limit_by_projects();
        check::whole(&mut self.config, &mut self.problems);
        self.problems.sort(&self.config.files);
        self
    }

    /// Returns the configuration when nothing in it is wrong.
    pub(crate) fn finish(self) -> Result<Config, Diagnostics> {
        let Self { mut config, problems, .. } = self.complete();
        if problems.has_errors() {
            return Err(problems);
        }
        config.warnings.extend(problems);
        Ok(config)
    }

    /// Reads one file. All files of all layers pass here: this is the place that decides whether
    /// one is used at all.
    pub(super) fn file(&mut self, layer: Layer, path: &Path) {
        if let Err(problem) = self.acceptance.admit(layer, path) {
            self.leave_out(problem);
            return;
        }
        let origin = match layer {
            Layer::CommandLine | Layer::Program => file::Origin::Named,
            Layer::Managed | Layer::User | Layer::Project => file::Origin::Found,
        };
        match file::read(path, origin) {
            Ok(text) => self.text(SourceFile::new(path, text).in_layer(layer)),
            Err(problem) => {
                self.config.files.push(path.to_owned());
                self.problems.push(problem);
            }
        }
    }

    /// Reports a file that is not read.
    pub(super) fn leave_out(&mut self, problem: Diagnostic) {
        if problem.severity == Severity::Warning {
            self.config.left_out.push(problem.clone());
        }
        self.problems.push(problem);
    }

    /// Reports a choice of agent that no file could use.
    pub(super) fn check_agent(&mut self) {
        if let Some(agent) = &self.agent
            && !self.agent_found
        {
            let message = format!("agent `{agent}` was asked for, and no file has `agents:`");
            let hint = "name the docker-agent file too: `--config agent.yaml`";
            self.problems.push(Diagnostic::error(message).hint(hint));
        }
    }

    fn text(&mut self, file: SourceFile) {
        self.config.files.push(file.path.clone());
        self.bytes = self.bytes.saturating_add(file.text.len());
        if self.bytes > MAX_BYTES {
            let problem = Diagnostic::error("the hooks files are larger than 4 MiB together");
            self.problems.push(problem.at(file::whole_file(&file.path)));
            return;
        }
        let file = Arc::new(file);
        match yaml::parse(&file.text) {
            Ok(root) => {
                let reader = Reader::new(Arc::clone(&file));
                let mut document = Document::new(reader, self.agent.as_deref());
                document.read(&root);
                self.agent_found |= document.has_agents;
                self.broken_processes.extend(document.broken_processes);
                self.broken_hooks.append(&mut document.reader.broken_hooks);
                self.problems.extend(document.reader.into_problems());
                let mut part = document.config;
                self.states = self.states.saturating_add(states(&part));
                if self.states > MAX_STATES {
                    let problem = Diagnostic::error("the patterns are too large together");
                    let hint = "one pattern `a|b` takes the place of two";
                    self.problems.push(problem.hint(hint).at(file::whole_file(&file.path)));
                    return;
                }
                self.acceptance.restrict(part.layers.take());
                if let Err(problem) = self.acceptance.judge(&file, &mut part) {
                    self.problems.push(problem);
                }
                if file.layer == Layer::Project {
                    self.keep_limits(&file.path, &mut part);
                }
                self.add(part);
            }
            Err(error) => {
                let mut problem = Diagnostic::error(error.message);
                problem.hint = error.hint;
                self.problems.push(problem.at(Location::new(file, error.range)));
            }
        }
    }

    /// Takes a project's limits out of `part` until it is known whose hooks they would be for.
    fn keep_limits(&mut self, path: &Path, part: &mut Config) {
        let (max_parallel, deadline) = (part.max_parallel.take(), part.deadline.take());
        if max_parallel.is_some() || deadline.is_some() {
            self.project_limits.push((path.to_owned(), max_parallel, deadline));
        }
    }

    /// Lets a project's limits count where all hooks are a project's: a guard or a redaction of
    /// somebody else's that is cut off would be open, or deny everything.
    fn limit_by_projects(&mut self) {
        let alone = self.config.hooks.iter().all(|hook| hook.layer() == Layer::Project);
        for (path, max_parallel, deadline) in std::mem::take(&mut self.project_limits) {
            if alone {
                self.config.max_parallel = self.config.max_parallel.or(max_parallel);
                self.config.deadline = self.config.deadline.or(deadline);
            } else {
                let message = "the limits of a project do not count beside the hooks of others";
                let hint = "say `max_parallel` and `deadline` in a file of the user's";
                let problem = Diagnostic::warning(message).hint(hint);
                self.problems.push(problem.at(file::whole_file(&path)));
            }
        }
    }

    /// Adds what a file configures to what the files before it did.
    fn add(&mut self, part: Config) {
        self.config.hooks.extend(part.hooks);
        self.config.project_files.extend(part.project_files);
        self.config.audit.extend(part.audit);
        // The first file that says it wins; of a project's, see `limit_by_projects`.
        self.config.max_parallel = self.config.max_parallel.or(part.max_parallel);
        self.config.deadline = self.config.deadline.or(part.deadline);
        for (name, process) in part.processes {
            match self.config.processes.entry(name) {
                Entry::Vacant(vacant) => {
                    vacant.insert(process);
                }
                Entry::Occupied(first) => {
                    let message = format!("process `{}` is there twice", first.key());
                    let hint = format!(
                        "the first is at {}; give this one another name",
                        first.get().location
                    );
                    self.problems.push(Diagnostic::error(message).hint(hint).at(process.location));
                }
            }
        }
    }
}

/// Returns about how many states the patterns of `part` have.
fn states(part: &Config) -> usize {
    let mut states = 0;
    let mut before: Option<&Hook> = None;
    for hook in &part.hooks {
        // The hooks of one entry share its matcher.
        if before.is_none_or(|before| before.matcher != hook.matcher) {
            states += hook.matcher.states();
        }
        states += hook.when.as_ref().map_or(0, |condition| condition.states());
        before = Some(hook);
    }
    states
}

#[cfg(test)]
mod tests {
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
