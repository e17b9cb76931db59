//! A hooks file and the scripts that its hooks execute, as one thing to approve.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::bases::Bases;
use super::command_words::Executed;
use super::scripts::command_of;
use super::settings::settings_of;
use crate::config::{Command, FileConfig, Hook, SourceFile};
use crate::event::Event;
use crate::files;

/// How many bytes the covered scripts of all hooks files may have together. They are read at every
/// event.
pub(crate) const MAX_SCRIPTS: u64 = 64 << 20;

/// How many scripts the hooks of one file may execute.
const MAX_COVERED: usize = 100;

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BundleFile {
    /// Its path from the root of the project; `hooks.yaml` itself has its file name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
}

/// What an approval covers of one hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoveredHook {
    /// The name of the hook.
    pub name: String,
    /// The event that it is for.
    pub event: String,
    /// The tools that it is for, at an event that is about a tool.
    pub matcher: Option<String>,
    /// What it runs; for a hook that calls a process, the process's command.
    pub command: Option<Command>,
    /// Other keys that say what it does, as text; empty when the file is not evaluated to be shown.
    pub settings: BTreeMap<&'static str, String>,
    /// The scripts that it executes.
    pub scripts: Vec<BundleFile>,
    /// Why scripts of it can't be approved.
    pub problems: Vec<ScriptProblem>,
    /// What it names or runs and the approval does not cover.
    pub uncovered: Vec<String>,
    /// The names of those of `scripts` that lie beside the hooks file although the hook runs elsewhere:
    /// the hook fails when one changes, and another file may be the one that runs.
    pub only_beside: BTreeSet<String>,
    /// The names that `scripts:` lists and that no command text names.
    pub listed: BTreeSet<String>,
    /// Where the hook would find a script, and no file is.
    pub(crate) absent: BTreeMap<String, PathBuf>,
}

/// Why a script can't be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptProblem {
    /// What is wrong.
    pub text: String,
    /// What a person can do about it.
    pub hint: &'static str,
    pub(crate) fault: Fault,
}

impl fmt::Display for ScriptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.text, self.hint)
    }
}

/// What is wrong with a script that can't be approved, as far as an earlier approval matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `scripts:` lists the file, and it is at none of the places with these names.
    Missing(Vec<String>),
    /// The file of this name is the symbolic link, or lies behind it.
    Link { name: String, path: PathBuf, link: PathBuf },
    /// An approval does not matter.
    Other,
}

/// A hooks file and the scripts that its hooks execute, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The hooks file.
    pub path: PathBuf,
    /// Where its hooks run.
    pub working_dir: PathBuf,
    /// The SHA-256 of the hooks file, in hexadecimal.
    pub digest: String,
    /// Its hooks in their order, disabled ones included; empty when the file was not evaluated.
    pub hooks: Vec<CoveredHook>,
    /// By name, the processes that no hook of the file calls: they may start on their own.
    pub processes: BTreeMap<String, CoveredHook>,
}

impl Bundle {
    /// Returns the hooks file alone. Nothing of its content is evaluated.
    pub(crate) fn of_file(path: &Path, text: &str, working_dir: &Path) -> Self {
        Self {
            path: path.to_owned(),
            working_dir: working_dir.to_owned(),
            digest: files::digest(text.as_bytes()),
            hooks: Vec::new(),
            processes: BTreeMap::new(),
        }
    }

    /// Returns the hooks file `source` with the scripts that the hooks of `config`, which was read
    /// from it, execute when they run in `working_dir`. With `look`, also the files that they name and that an approval does not cover. No more than `left` bytes of scripts are read; it is reduced by
    /// what was.
    pub(crate) fn read(
        source: &SourceFile,
        config: &FileConfig,
        working_dir: &Path,
        look: bool,
        left: &mut u64,
    ) -> Self {
        let bases = Bases::new(&source.path, working_dir);
        let mut digests = BTreeMap::new();
        let mut cover = |hook: &Hook| {
            let executed = bases.executed(hook, &config.processes, look);
            let mut covered = CoveredHook {
                name: hook.label(),
                event: hook.event.to_string(),
                matcher: hook.event.contract().tool_matched.then(|| hook.matcher.to_string()),
                command: command_of(hook, &config.processes),
                settings: if look { settings_of(hook, &config.processes) } else { BTreeMap::new() },
                ..CoveredHook::default()
            };
            covered.take(&bases, executed, &mut digests, left);
            covered
        };
        let hooks = config.hooks.iter().map(&mut cover).collect();
        let call = |name: &str| {
            let command = Command::Text(name.to_owned());
            Hook::new(Event::SessionStart, "process", command)
        };
        let processes = uncalled(config).map(|name| (name.to_owned(), cover(&call(name))));
        let processes = processes.collect();
        Self { hooks, processes, ..Self::of_file(&source.path, &source.text, working_dir) }
    }

    /// Returns all that an approval covers: the hooks, then the processes that none of them calls.
    pub fn covered(&self) -> impl Iterator<Item = &CoveredHook> {
        self.hooks.iter().chain(self.processes.values())
    }

    /// Returns the hooks file and all scripts, each once.
    pub fn files(&self) -> Vec<BundleFile> {
        let mut scripts: Vec<BundleFile> =
            self.covered().flat_map(|hook| hook.scripts.iter().cloned()).collect();
        scripts.sort();
        scripts.dedup();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = BundleFile { name, path: self.path.clone(), digest: self.digest.clone() };
        std::iter::once(own).chain(scripts).collect()
    }
}

/// Returns the processes that no hook of the same file calls.
fn uncalled(config: &FileConfig) -> impl Iterator<Item = &str> {
    let called: HashSet<&str> = config.hooks.iter().filter_map(Hook::process).collect();
    config.processes.keys().map(String::as_str).filter(move |name| !called.contains(name))
}

/// Why a script was not read.
struct Unread {
    text: String,
    hint: &'static str,
    /// The symbolic link that it is or lies behind.
    link: Option<PathBuf>,
}

impl CoveredHook {
    fn take(
        &mut self,
        bases: &Bases,
        executed: Executed,
        digests: &mut BTreeMap<PathBuf, Result<String, Unread>>,
        left: &mut u64,
    ) {
        let names = executed.scripts.keys().cloned();
        self.only_beside = names.filter(|name| !executed.run.contains(name)).collect();
        (self.listed, self.absent) = (executed.listed, executed.absent);
        for (name, path) in executed.scripts {
            let is_full = digests.len() >= MAX_COVERED;
            let digest = digests.entry(path.clone()).or_insert_with(|| {
                if is_full {
                    return Err(Unread {
                        text: format!("the file has more than {MAX_COVERED} scripts"),
                        hint: "use fewer scripts in one hooks file",
                        link: None,
                    });
                }
                if let Some(link) = bases.link_to(&path) {
                    return Err(Unread {
                        text: format!("`{}` is a symbolic link", link.display()),
                        hint: "put what it leads to in its place",
                        link: Some(link.to_owned()),
                    });
                }
                let digest: io::Result<String> = files::digest_of_file(&path, left);
                digest.map_err(|error| {
                    let (text, hint) = match error.kind() {
                        io::ErrorKind::FileTooLarge => (
                            format!(
                                "the scripts are larger than {} MiB together",
                                MAX_SCRIPTS >> 20
                            ),
                            "use smaller scripts",
                        ),
                        _ => (error.to_string(), "make it a file that you can read"),
                    };
                    Unread { text, hint, link: None }
                })
            });
            match digest {
                Ok(digest) => {
                    self.scripts.push(BundleFile { name, path, digest: digest.clone() });
                }
                Err(Unread { text, hint, link }) => {
                    let text = format!("can't approve `{name}`: {text}");
                    let fault = match link.clone() {
                        Some(link) => Fault::Link { name, path, link },
                        None => Fault::Other,
                    };
                    self.problems.push(ScriptProblem { text, hint, fault });
                }
            }
        }
        self.problems.extend(executed.problems);
        self.uncovered = executed.uncovered.into_iter().collect();
    }
}
