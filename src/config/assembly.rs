//! Texts of hooks files in, a [`Config`] or its problems out.
//!
//! Each file is read on its own. One that is broken becomes one failure of its layer, and the
//! others count as ever. Only a file that a person or the program named refuses the whole
//! configuration.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::check;
use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::failed::FailedFile;
use super::layer::Layer;
use super::model::{Config, FileConfig, Hook, Limits};
use super::reader::Reader;
use super::source::{Location, SourceFile};
use super::yaml;

/// How many bytes the files of one layer may have together. Those of a project are read before it
/// is known whether a person approved them, at every event.
const MAX_BYTES: usize = 4 << 20;
const MAX_PROJECT_BYTES: usize = 1 << 20;
/// How many files a layer may have.
const MAX_FILES: usize = 1_000;
/// The same for a project: each of its files is looked up among the approvals.
const MAX_PROJECT_FILES: usize = 32;
/// How many processes a layer may have: each keeps three pipes open, and hooks of other layers need
/// descriptors, too.
const MAX_PROCESSES: usize = 32;
/// How many hooks of a project run at once, at most: half of what may run at all, so that the hooks
/// of other layers never wait.
const MAX_PROJECT_PARALLEL: usize = 32;

impl Config {
    /// How many hooks of one event run at once when no file says it.
    pub const DEFAULT_MAX_PARALLEL: usize = 64;

    /// Reads a configuration from `text`; `path` is what messages call it.
    ///
    /// # Errors
    /// All problems of the text, when one of them is an error.
    pub fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let mut assembly = Assembly::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = Arc::new(SourceFile::new(path.as_ref(), text));
        if assembly.admit(&file) {
            assembly.evaluate(file, |_| ());
        }
        assembly.finish()
    }
}

/// What one file configures.
#[derive(Debug)]
pub(crate) struct Part {
    file: Arc<SourceFile>,
    config: FileConfig,
    broken_processes: HashSet<String>,
}

/// What the files of one layer have used up so far.
#[derive(Debug, Default)]
struct Used {
    files: usize,
    bytes: usize,
    processes: usize,
    /// Whether one of its files was over a bound: the files after it are not read.
    is_full: bool,
}

/// A configuration that is put together from files.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    /// What is sound; broken hooks are left out.
    pub(crate) config: Config,
    /// Errors and warnings of all files.
    pub(crate) problems: Diagnostics,
    /// The hooks that are left out, as far as they could be read.
    pub(crate) broken_hooks: Vec<Hook>,
    parts: Vec<Part>,
    used: HashMap<Layer, Used>,
    /// Whether a file that was named is broken.
    is_refused: bool,
    /// Whether broken files are kept as far as they can be read.
    only_show: bool,
}

impl Assembly {
    /// Returns an empty one.
    pub(crate) fn new(only_show: bool, named_may_fail: bool) -> Self {
        let config = Config { named_may_fail, ..Config::default() };
        Self { config, only_show, ..Self::default() }
    }

    /// Counts one more file of a layer, and returns whether it may be read.
    pub(crate) fn may_read(&mut self, layer: Layer, path: &Path) -> bool {
        let used = self.used.entry(layer).or_default();
        used.files += 1;
        let most = if layer == Layer::Project { MAX_PROJECT_FILES } else { MAX_FILES };
        if used.files > most && !used.is_full {
            used.is_full = true;
            let problem = format!("this layer has more than {most} hooks files");
            self.fail(layer, path, [too_much(layer, path, problem)]);
            return false;
        }
        !used.is_full
    }

    /// Adds the file's bytes to those of its layer, and returns whether they are within its bound.
    pub(crate) fn admit(&mut self, file: &SourceFile) -> bool {
        self.config.files.push(file.path.clone());
        let used = self.used.entry(file.layer).or_default();
        used.bytes = used.bytes.saturating_add(file.text.len());
        let most = if file.layer == Layer::Project { MAX_PROJECT_BYTES } else { MAX_BYTES };
        if used.bytes <= most {
            return true;
        }
        used.is_full = true;
        let problem =
            format!("the hooks files of this layer are larger than {} MiB together", most >> 20);
        self.fail(file.layer, &file.path, [too_much(file.layer, &file.path, problem)]);
        false
    }

    /// Reads the content of a file, and lets `inspect` change what it configures.
    pub(crate) fn evaluate(
        &mut self,
        file: Arc<SourceFile>,
        inspect: impl FnOnce(&mut FileConfig),
    ) {
        let root = match yaml::parse(&file.text) {
            Ok(root) => root,
            Err(error) => return self.fail(file.layer, &file.path, [error.at(&file)]),
        };
        let mut document = Document::new(Reader::new(Arc::clone(&file)));
        document.read(&root);
        let broken_processes = document.broken_processes.into_iter().collect();
        self.broken_hooks.append(&mut document.reader.broken_hooks);
        let mut problems = document.reader.into_problems();
        let mut config = document.config;
        let used = self.used.entry(file.layer).or_default();
        used.processes += config.processes.len();
        if used.processes > MAX_PROCESSES {
            let problem = format!("this layer has more than {MAX_PROCESSES} processes");
            let problem = Diagnostic::error(problem).hint("let several hooks call one process");
            problems.push(problem.at(Location::of_file_in(file.layer, &file.path)));
        }
        inspect(&mut config);
        let is_broken = problems.has_errors();
        if is_broken {
            self.fail(file.layer, &file.path, problems);
        } else {
            self.problems.extend(problems);
        }
        if !is_broken || self.only_show {
            self.parts.push(Part { file, config, broken_processes });
        }
    }

    /// Reports what keeps a file of `layer` from being loaded. A file that was named ends the
    /// loading, unless it may fail; any other is a failure of its layer at every event.
    pub(crate) fn fail(
        &mut self,
        layer: Layer,
        path: &Path,
        problems: impl IntoIterator<Item = Diagnostic>,
    ) {
        let problems: Vec<Diagnostic> = problems.into_iter().collect();
        if layer.may_fail(self.config.named_may_fail) {
            let mut places = problems.iter().filter_map(|it| it.location.clone());
            let place = places.find(|place| place.file().layer == layer);
            let place = place.unwrap_or_else(|| Location::of_file_in(layer, path));
            self.config.failed.push(FailedFile::unloadable(place, &problems));
        } else {
            self.is_refused |= problems.iter().any(|it| it.severity == Severity::Error);
        }
        self.problems.extend(problems);
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

    /// Puts the parts together, in the order of the files. What a layer says goes before what the
    /// layers below it say.
    fn join(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        self.claim_processes(&mut parts);
        let limits = limits_of(&parts);
        let mut audit = Vec::new();
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
            audit.extend(config.audit.into_iter().map(|log| (rank, log)));
            self.config.processes.extend(config.processes);
            if rank < Layer::Project.rank() {
                let most =
                    self.config.max_parallel.into_iter().chain(config.limits.max_parallel).max();
                self.config.max_parallel = most;
            }
        }
        // If two logs share a file, the one of the higher layer counts.
        audit.sort_by_key(|(rank, _)| *rank);
        self.config.audit.extend(audit.into_iter().map(|(_, log)| log));
        // The limits of the hooks bound them. All together run as many as the layer with most
        // allows.
        let most = self.config.max_parallel;
        self.config.max_parallel = most.filter(|most| *most > Config::DEFAULT_MAX_PARALLEL);
    }

    /// Leaves out each file that configures a process which a layer above it, or a file before it,
    /// configures already, and each file whose hooks call a process of another layer: calls of one
    /// layer must not keep a process from answering another's.
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
            let of_others = |hook: &&Hook| {
                let owner = hook.process().and_then(|name| owners.get(name));
                owner.is_some_and(|(owner, _)| *owner != rank)
            };
            let problems: Vec<Diagnostic> = part
                .config
                .hooks
                .iter()
                .filter(of_others)
                .map(|hook| {
                    let message = "this hook calls a process of another layer";
                    let hint = "configure a process of its own, under another name, in the same \
                                file as the hook";
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
            let Limits { max_parallel, deadline, http_hosts } = &part.config.limits;
            so_far.max_parallel = so_far.max_parallel.iter().chain(max_parallel).min().copied();
            so_far.deadline = so_far.deadline.iter().chain(deadline).min().copied();
            let common = so_far.http_hosts.iter().chain(http_hosts).cloned();
            so_far.http_hosts = common.reduce(|above, below| &above & &below);
        }
        if rank == Layer::Project.rank() {
            let most = so_far.max_parallel.unwrap_or(MAX_PROJECT_PARALLEL);
            so_far.max_parallel = Some(most.min(MAX_PROJECT_PARALLEL));
        }
        limits.push(Arc::new(so_far.clone()));
    }
    limits
}

/// Returns the problem of a layer that is too large. It names the first file that was not read, and
/// does not hold that file's text.
fn too_much(layer: Layer, path: &Path, problem: String) -> Diagnostic {
    let problem = Diagnostic::error(problem).hint("remove hooks files that are not used");
    problem.at(Location::of_file_in(layer, path))
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
            "x.yaml:2: a hook needs a `type`\n\
             x.yaml:3: `timeout` is zero\n\
             x.yaml:3: unknown key `tiemout` in a hook\n\
             x.yaml:4: unknown key `pre_tool_us`"
        );
    }
}
