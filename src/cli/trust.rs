//! `hookexec trust`: which hooks files of projects may run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hookexec::Config;
use hookexec::config::{LoadOptions, ProjectFile};
use hookexec::trust::{Trust, TrustStore};
use serde::Serialize;

use super::error::{CommandError, warn};
use super::exit::Exit;
use super::output;
use super::plain;

/// Shows, approves or forgets the hooks files that a project brings along
///
/// A hooks file found inside a project runs only after you approved exactly its bytes, and those of
/// the scripts it names. Until then its hooks fail: events that fail closed are denied. A file named
/// with `--config` needs no approval.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec trust show && hookexec trust add")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Says of each hooks file of the project whether it is approved, and what changed since; exit
    /// code 1 when one is not
    #[command(after_help = "Example: hookexec trust show --format json")]
    Show(Target),
    /// Approves each hooks file of the project, and the scripts it names, as they are now
    #[command(after_help = "Example: hookexec trust add hooks.yaml")]
    Add(Target),
    /// Takes the approval back
    #[command(after_help = "Example: hookexec trust remove hooks.yaml")]
    Remove(Target),
    /// Lists every approval there is
    #[command(after_help = "Example: hookexec trust list --format json")]
    List {
        /// How to write the list
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}

/// Which files are meant.
#[derive(Debug, Default, clap::Args)]
struct Target {
    /// A hooks file of the project [default: all of them]
    file: Option<PathBuf>,

    /// The project [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// How to write the answer
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// What is said of one file.
#[derive(Serialize)]
struct Row {
    path: PathBuf,
    status: &'static str,
    digest: String,
    files: Vec<String>,
    /// What it calls that the approval does not cover.
    uncovered: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        match &self.action {
            None => show(&Target::default()),
            Some(Action::Show(target)) => show(target),
            Some(Action::Add(target)) => add(target),
            Some(Action::Remove(target)) => remove(target),
            Some(Action::List { format }) => list(*format),
        }
    }
}

fn show(target: &Target) -> Result<Exit, CommandError> {
    let store = store()?;
    let mut rows = Vec::new();
    for file in target.files()? {
        if let Trust::Unsafe(problem) = &file.trust {
            warn(&format!("the approvals don't count: {problem}; {}", problem.hint));
        }
        let diff = matches!(file.trust, Trust::Changed { .. }).then(|| store.diff(&file.bundle));
        rows.push(Row::of(file, diff));
    }
    let all = rows.iter().all(|row| row.status == "approved");
    match target.format {
        Format::Json => output::print_json(&rows)?,
        Format::Text => {
            for row in &rows {
                output::print(&row.text())?;
            }
            if !all {
                output::talk("review what is not approved, then run `hookexec trust add`\n");
            }
        }
    }
    Ok(if all { Exit::Success } else { Exit::Negative })
}

fn add(target: &Target) -> Result<Exit, CommandError> {
    let store = store()?;
    for file in target.files()? {
        store.add(&file.bundle).map_err(|error| not_written(&error))?;
        let mut row = Row::of(file, None);
        row.status = "approved";
        output::print(&row.text())?;
    }
    Ok(Exit::Success)
}

fn remove(target: &Target) -> Result<Exit, CommandError> {
    let store = store()?;
    let said = |path: &Path, removed: bool| {
        let what = if removed { "is no longer approved" } else { "was not approved" };
        output::print(&format!("{}: {what}\n", plain::line(&path.to_string_lossy())))
    };
    let files = match (target.files(), &target.file) {
        (Ok(files), _) => files,
        // A file that is gone or broken by now can be forgotten, too.
        (Err(_), Some(path)) => {
            let removed = store.remove(path).map_err(|error| not_written(&error))?;
            said(path, removed > 0)?;
            return Ok(Exit::Success);
        }
        (Err(error), None) => return Err(error),
    };
    for file in files {
        // What was approved here, and what is here now, wherever it was approved.
        let here = store.remove(&file.bundle.path).map_err(|error| not_written(&error))?;
        let same = store.remove_bundle(&file.bundle).map_err(|error| not_written(&error))?;
        said(&file.bundle.path, here > 0 || same)?;
        if store.status(&file.bundle) == Trust::Approved {
            return Err(CommandError::internal("it is still approved"));
        }
    }
    Ok(Exit::Success)
}

fn list(format: Format) -> Result<Exit, CommandError> {
    let approvals = store()?.approvals();
    match format {
        Format::Json => output::print_json(&approvals)?,
        Format::Text => {
            for approval in approvals {
                let digest = approval.digest.get(..12).unwrap_or(&approval.digest);
                output::print(&format!(
                    "{digest}  {}\n",
                    plain::line(&approval.path.to_string_lossy())
                ))?;
            }
        }
    }
    Ok(Exit::Success)
}

impl Target {
    /// Returns the hooks files of the project that are meant.
    fn files(&self) -> Result<Vec<ProjectFile>, CommandError> {
        let mut options = LoadOptions::default();
        let directory = match (&self.cwd, &self.file) {
            (Some(directory), _) => directory.clone(),
            (None, Some(file)) => working_dir_of(file),
            (None, None) => PathBuf::from("."),
        };
        let directory = directory.canonicalize().map_err(|error| {
            CommandError::usage(format!("can't look into {}: {error}", directory.display()))
        })?;
        options.working_dir = Some(directory.clone());
        let config = Config::load(&options).map_err(CommandError::config)?;
        let same =
            |path: &Path, wanted: &Path| path.canonicalize().ok() == wanted.canonicalize().ok();
        let wanted = |found: &ProjectFile| {
            self.file.as_ref().is_none_or(|file| same(&found.bundle.path, file))
        };
        let files: Vec<ProjectFile> = config.project_files.into_iter().filter(wanted).collect();
        if files.is_empty() {
            let what = match &self.file {
                Some(file) => format!("{} is no hooks file of a project", file.display()),
                None => {
                    format!("no hooks file of a project was found from {}", directory.display())
                }
            };
            return Err(CommandError::usage(what)
                .hint("a project's hooks stand in `hooks.yaml` or `.hookexec/hooks.yaml`"));
        }
        Ok(files)
    }
}

/// Returns where the hooks of `file` are taken to run: here, when here is in its project; else in the
/// directory that it is for.
fn working_dir_of(file: &Path) -> PathBuf {
    let own = file.parent().unwrap_or(Path::new("")).join(".");
    let Ok(own) = own.canonicalize() else { return own };
    let hidden = own.ancestors().take(2).find(|place| place.ends_with(".hookexec"));
    let project = hidden.and_then(Path::parent).unwrap_or(&own);
    match Path::new(".").canonicalize() {
        Ok(here) if here.starts_with(project) => here,
        _ => project.to_owned(),
    }
}

impl Row {
    fn of(file: ProjectFile, diff: Option<String>) -> Self {
        let status = match file.trust {
            Trust::Approved => "approved",
            Trust::Changed { .. } => "changed",
            _ => "not approved",
        };
        Self {
            status,
            digest: file.bundle.digest().to_owned(),
            uncovered: file.bundle.uncovered,
            files: file.bundle.files.into_iter().map(|part| part.name).collect(),
            path: file.bundle.path,
            diff,
        }
    }

    fn text(&self) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        let path = self.path.strip_prefix(&here).unwrap_or(&self.path);
        let path = plain::line(&path.to_string_lossy());
        let mut text = format!("{path}: {}\n", self.status);
        for script in self.files.iter().skip(1) {
            let _ = writeln!(text, "  with {}", plain::line(script));
        }
        if !self.uncovered.is_empty() {
            let names: Vec<String> = self.uncovered.iter().map(|name| plain::line(name)).collect();
            let names = names.join(", ");
            let _ = writeln!(text, "  not covered, nor what they read of the project: {names}");
        }
        text + self.diff.as_deref().unwrap_or_default()
    }
}

/// Says loudly that a hooks file was found and does not run, when it is not approved. What changed in it
/// `trust show` says: a guard has no time for it.
pub(crate) fn warn_of_unapproved(file: &ProjectFile) {
    if let Some(problem) = file.problem() {
        warn(&format!("{problem}: its hooks fail; {}", file.way_out()));
    }
}

fn store() -> Result<TrustStore, CommandError> {
    TrustStore::of_user().ok_or_else(|| {
        CommandError::usage("there is no home directory to keep approvals in").hint("set HOME")
    })
}

fn not_written(error: &std::io::Error) -> CommandError {
    CommandError::internal(format!("can't write the approval: {error}"))
}
