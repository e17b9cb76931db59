//! Texts of hooks files in, a [`Config`] or its problems out.
//!
//! Each file is read on its own. One that is broken becomes one failure of its layer, and the
//! others count as ever. Only a file that a person or the program named refuses the whole
//! configuration.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookexec_files::diagnostic::{Diagnostic, Diagnostics};
use hookexec_files::hooks_file::read_named;
use hookexec_files::reader::Reader;
use hookexec_files::source::{Location, SourceFile};
use hookexec_files::yaml;

use super::check;
use super::document::{Document, is_event};
use super::failed::{FailedFile, Untrusted};
use super::layer::{InLayer as _, Layer, file_of_layer};
use super::model::{Config, Hook, Limits, Process};
use super::settings::{AuditSettings, PolicySettings};

impl Config {
    /// How many hooks of one event run at once when no file says it.
    pub const DEFAULT_MAX_PARALLEL: usize = 64;

    /// Reads a configuration from `text`; `path` is what messages call it.
    ///
    /// # Errors
    /// All problems of the text, when one of them is an error.
    pub fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut builder = ConfigBuilder::new();
        builder.add_source(SourceFile::new(path.as_ref(), text));
        builder.build()
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
        let mut builder = ConfigBuilder::new();
        for path in paths {
            builder.add_file(path.as_ref());
        }
        builder.build()
    }
}

/// The settings of one hooks file, as far as they are sound.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct FileConfig {
    /// The file as a whole.
    pub location: Location,
    /// Its hooks.
    pub hooks: Vec<Hook>,
    /// Its processes by name.
    pub processes: BTreeMap<String, Process>,
    pub(super) limits: Limits,
    /// Its log of decisions.
    pub audit: Option<AuditSettings>,
    /// The layers that an administrator's file allows below itself.
    pub layers: Option<Vec<Layer>>,
    /// The policy that it names.
    pub policy: Option<PolicySettings>,
    /// Whether the file has errors.
    pub(super) is_broken: bool,
}

impl FileConfig {
    /// Lets nothing of the file run, and says why.
    pub fn refuse(&mut self, failure: &FailedFile) {
        let must = failure.person_must.unwrap_or_default();
        let cause: Arc<str> = format!("{}; a person must {must} it", failure.cause).into();
        for hook in &mut self.hooks {
            hook.untrusted = Some(Untrusted::new(Arc::clone(&cause), Arc::clone(&failure.remedy)));
        }
        for process in self.processes.values_mut() {
            process.untrusted = true;
        }
        self.limits = Limits::default();
        self.audit = None;
    }

    fn rank(&self) -> usize {
        self.location.file().layer().rank()
    }
}

/// Puts a configuration together from hooks files of several layers.
///
/// Each file is read on its own, in the order of the calls. A file that a person or the program named
/// refuses the whole configuration if it is broken. Any other file becomes a failure of its layer, and
/// the others count.
#[derive(Debug, Default)]
pub struct ConfigBuilder {
    config: Config,
    problems: Diagnostics,
    broken_hooks: Vec<Hook>,
    parts: Vec<FileConfig>,
    /// Whether a file that was named is broken.
    is_refused: bool,
    keeps_broken: bool,
}

impl ConfigBuilder {
    /// Returns a builder of an empty configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps broken files as far as they can be read, to show them.
    #[must_use]
    pub fn keep_broken(mut self, keeps: bool) -> Self {
        self.keeps_broken = keeps;
        self
    }

    /// Lets a file that a person named fail like one that was found, while the others count.
    #[must_use]
    pub fn named_may_fail(mut self, may_fail: bool) -> Self {
        self.config.named_may_fail = may_fail;
        self
    }

    /// Adds the hooks file at `path`, which the program names.
    pub fn add_file(&mut self, path: &Path) {
        match read_named(path) {
            Ok(text) => self.add_source(SourceFile::new(path, text)),
            Err(problem) => {
                self.note_file(path);
                self.fail(Layer::Program, path, [problem]);
            }
        }
    }

    fn add_source(&mut self, file: SourceFile) {
        self.note_file(&file.path);
        if let Some(part) = self.read(&Arc::new(file)) {
            self.add(part);
        }
    }

    /// Records that the file at `path` was looked at, for [`Config::files`].
    pub fn note_file(&mut self, path: impl Into<PathBuf>) {
        self.config.files.push(path.into());
    }

    /// Reads the content of a file, and reports its problems; `None` if it is not valid YAML.
    pub fn read(&mut self, file: &Arc<SourceFile>) -> Option<FileConfig> {
        let root = match yaml::parse(file, is_event) {
            Ok(root) => root,
            Err(problem) => {
                self.fail(file.layer(), &file.path, [problem]);
                return None;
            }
        };
        let mut document = Document::new(Reader::new(Arc::clone(file)));
        document.read(&root);
        let Document { reader, mut config, broken_hooks, .. } = document;
        self.broken_hooks.extend(broken_hooks);
        let problems = reader.problems;
        config.is_broken = problems.has_errors();
        if config.is_broken {
            self.fail(file.layer(), &file.path, problems);
        } else {
            self.problems.extend(problems);
        }
        Some(config)
    }

    /// Adds what was read from a file, unless it is broken.
    pub fn add(&mut self, part: FileConfig) {
        if !part.is_broken || self.keeps_broken {
            self.parts.push(part);
        }
    }

    /// Adds the problem of a file that is not read although its author may count on it.
    pub fn leave_out(&mut self, problem: Diagnostic) {
        self.config.left_out.push(problem.clone());
        self.problems.push(problem);
    }

    /// Adds a file that fails at every event, and reports it.
    pub fn add_failed(&mut self, file: FailedFile) {
        self.problems.push(file.problem());
        self.config.failed.push(file);
    }

    /// Reports what keeps a file of `layer` from being loaded. A file that was named ends the
    /// loading, unless it may fail; any other is a failure of its layer at every event.
    pub fn fail(
        &mut self,
        layer: Layer,
        path: &Path,
        problems: impl IntoIterator<Item = Diagnostic>,
    ) {
        let problems: Vec<Diagnostic> = problems.into_iter().collect();
        if layer.may_fail(self.config.named_may_fail) {
            let mut places = problems.iter().filter_map(|problem| problem.location.clone());
            let place = places.find(|place| place.file().layer() == layer);
            let place = place.unwrap_or_else(|| file_of_layer(layer, path));
            self.config.failed.push(FailedFile::unloadable(place, &problems));
        } else {
            self.is_refused |= problems.iter().any(Diagnostic::is_error);
        }
        self.problems.extend(problems);
    }

    /// Returns a configuration that may have errors, for programs that show what is wrong: its sound hooks,
    /// the errors and warnings of all files, and the hooks that are left out, as far as they could be read.
    pub fn draft(mut self) -> (Config, Diagnostics, Vec<Hook>) {
        self.join();
        (self.config, self.problems, self.broken_hooks)
    }

    /// Returns the configuration.
    ///
    /// # Errors
    /// All problems of all files, when a file that was named is broken.
    pub fn build(mut self) -> Result<Config, Diagnostics> {
        self.join();
        let Self { mut config, problems, is_refused, .. } = self;
        if is_refused {
            return Err(problems);
        }
        let warnings = problems.into_iter().filter(|problem| !problem.is_error());
        config.warnings.extend(warnings);
        Ok(config)
    }

    /// Adds a policy whose hooks are among those of other files.
    pub fn add_policy(&mut self, policy: PolicySettings) {
        self.config.policies.push(policy);
    }

    fn join(&mut self) {
        self.check_processes();
        self.join_parts();
        check::whole(&mut self.config, &mut self.problems);
        self.problems.sort(&self.config.files);
    }

    /// Leaves out each file that configures a process which a layer above it, or a file before it,
    /// configures already, and each file whose hooks call a process of another layer: calls of one
    /// layer must not keep a process from answering another's.
    fn check_processes(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        let mut owners: HashMap<String, Location> = HashMap::new();
        let mut by_rank: Vec<&FileConfig> = parts.iter().collect();
        by_rank.sort_by_key(|part| part.rank());
        for part in by_rank {
            for (name, process) in &part.processes {
                owners.entry(name.clone()).or_insert_with(|| process.location.clone());
            }
        }
        parts.retain(|part| {
            let problems = process_problems(part, &owners);
            let keeps = problems.is_empty();
            if !keeps {
                self.fail(part.location.file().layer(), part.location.path(), problems);
            }
            keeps
        });
        self.parts = parts;
    }

    /// Puts the parts together, in the order of the files. The limits of a layer bound the layers
    /// below it, and all together run as many hooks as the layer with most allows.
    fn join_parts(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        let mut limits = Vec::new();
        let mut most_parallel = None;
        let mut so_far = Limits::default();
        for layer in Layer::RANKED {
            for part in &mut parts {
                if part.rank() != layer.rank() {
                    continue;
                }
                so_far.tighten(&part.limits);
                if layer != Layer::Project {
                    most_parallel = most_parallel.max(part.limits.max_parallel);
                }
                // If two logs share a file, the one of the higher layer counts.
                self.config.audit.extend(part.audit.take());
            }
            if layer == Layer::Project {
                // Half of what may run at all, so that the hooks of other layers never wait.
                so_far.max_parallel = smaller(so_far.max_parallel, Some(32));
            }
            limits.push(Arc::new(so_far.clone()));
        }
        self.config.max_parallel =
            most_parallel.filter(|most| *most > Config::DEFAULT_MAX_PARALLEL);
        for mut part in parts {
            for mut hook in std::mem::take(&mut part.hooks) {
                hook.limits = Arc::clone(&limits[part.rank()]);
                self.config.hooks.push(hook);
            }
            self.config.processes.append(&mut part.processes);
        }
    }
}

impl Limits {
    /// Takes over from `other` what is stricter.
    fn tighten(&mut self, other: &Self) {
        self.max_parallel = smaller(self.max_parallel, other.max_parallel);
        self.deadline = smaller(self.deadline, other.deadline);
        let hosts = self.http_hosts.iter().chain(&other.http_hosts).cloned();
        self.http_hosts = hosts.reduce(|above, below| &above & &below);
    }
}

fn smaller<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns an error for each process of a file that has another owner, and for each hook whose process
/// belongs to another layer.
fn process_problems(part: &FileConfig, owners: &HashMap<String, Location>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (name, process) in &part.processes {
        if let Some(first) = owners.get(name)
            && *first != process.location
        {
            let message = format!("the process `{name}` is configured twice");
            let hint = format!("the first is at {first}; give this one another name");
            problems.push(Diagnostic::error(message).hint(hint).at(process.location.clone()));
        }
    }
    for hook in &part.hooks {
        if let Some(name) = hook.process()
            && let Some(owner) = owners.get(name)
            && owner.file().layer().rank() != part.rank()
        {
            let message = "this hook calls a process of another layer";
            let hint = "configure a process of its own, under another name, in the same file as \
                        the hook";
            problems.push(Diagnostic::error(message).hint(hint).at(hook.location.clone()));
        }
    }
    problems
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
        let commands: Vec<String> = config.hooks.iter().map(Hook::label).collect();
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
        let text = "stop:\n- command: b\n- { type: command, command: a, timeout: 0, tiemout: 3 }\npre_tool_us: []\n";
        let problems = Config::from_yaml(text, "x.yaml").unwrap_err();
        assert_eq!(
            problems.to_string(),
            "x.yaml:2:3: a hook needs a `type`; add `type:` with `rule`, `command`, `builtin`, \
             `process`, `http`, `mcp` or `model`\n\
             x.yaml:3:41: `timeout` is not a valid duration: `0`; write seconds (`5`, `0.5`) or a \
             number with a unit: `500ms`, `30s`, `2m`, `1h`\n\
             x.yaml:3:44: unknown key `tiemout` in a hook; did you mean `timeout`?\n\
             x.yaml:4:1: unknown key `pre_tool_us`; did you mean `pre_tool_use`?"
        );
    }
}
