//! `hookexec trust`: which hooks files of projects may run.

mod text;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use hookexec::config::{Diagnostics, Severity};
use hookexec_files::directories::project_of;
use hookexec_files::files;
use hookexec_files::platform::system::canonical;
use hookexec_project::trust::{Blocked, Review, Status, TrustStore};
use hookexec_project::{LoadOptions, Loaded};
use hookexec_setup::program::KeepError;

use crate::config::{ConfigArgs, Purpose};
use crate::console::consent::ConsentArgs;
use crate::console::output::{self, PlainFormat};
use crate::error::{CommandError, OrCommandError as _, warn};
use crate::{Exit, plain, registry};

/// Shows, approves or forgets the hooks files that a project brings along
///
/// A hooks file found inside a project runs only after a person approved it, together with every
/// file of the project that its commands name. Until then it fails: events that fail closed are
/// denied. A file named with `--config` needs no approval.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: hookexec trust show && hookexec trust add")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Shows for each hooks file of the project whether it is approved, what changed since, and
    /// what an approval covers; exit code 1 when one is not approved
    #[command(after_help = "Example: hookexec trust show --format json")]
    Show(Target),
    /// Approves each hooks file of the project, and the files that its commands name, as they are now;
    /// asks at the terminal
    #[command(after_help = "Example: hookexec trust add hooks.yaml")]
    Add {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        consent: ConsentArgs,
    },
    /// Takes the approval back; asks at the terminal
    #[command(after_help = "Example: hookexec trust remove hooks.yaml")]
    Remove {
        #[command(flatten)]
        target: Target,
        #[command(flatten)]
        consent: ConsentArgs,
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
    format: PlainFormat,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        match &self.action {
            None => show(&Target::default()),
            Some(Action::Show(target)) => show(target),
            Some(Action::Add { target, consent }) => add(target, *consent),
            Some(Action::Remove { target, consent }) => remove(target, *consent),
        }
    }
}

fn show(target: &Target) -> Result<Exit, CommandError> {
    let (rows, _) = target.project(&store()?)?;
    for row in &rows {
        if let Some(file) = &row.file
            && let Some(Blocked::Unsafe(problem)) = &file.blocked
        {
            let hint = problem.hint.as_deref().unwrap_or_default();
            warn(&format!("the approvals don't count: {}; {hint}", problem.message));
        }
    }
    target.format.show(&rows, || rows.iter().map(text::whole).collect())?;
    if target.format == PlainFormat::Text {
        output::talk(&text::remedies(&rows));
    }
    let is_approved = rows.iter().all(|row| row.status == Status::Approved);
    Ok(if is_approved { Exit::SUCCESS } else { Exit::NEGATIVE })
}

fn add(target: &Target, consent: ConsentArgs) -> Result<Exit, CommandError> {
    consent.check()?;
    let store = store()?;
    let (rows, options) = target.project(&store)?;
    let errors = errors(&rows, &options);
    if errors.has_errors() {
        return Err(CommandError::from(errors));
    }
    let mut done = Exit::SUCCESS;
    for mut row in rows {
        let path = text::path(&row);
        let shown = text::whole(&row) + &text::limits(std::slice::from_ref(&row));
        let Some(mut file) = row.file.take() else {
            output::talk(&(text::title(&row) + &text::way_back(&row)));
            done = Exit::NEGATIVE;
            continue;
        };
        if row.status == Status::Approved {
            // From now on a change or deletion at this path is noticed.
            store.judge(&mut file, true);
            target.format.show(&row, || format!("{path}: already approved\n"))?;
            continue;
        }
        if let Some(problem) = row.problems.first() {
            let text = format!("{path}: {}", problem.message);
            return Err(CommandError::data(text).hint(problem.hint.clone().unwrap_or_default()));
        }
        let is_whole = row.gone.is_empty() && row.missing.is_empty();
        let without = if is_whole { "" } else { " without the files that are gone or missing" };
        if !consent.ask(&format!("{shown}Approve this file{without}?"))? {
            output::talk(&format!("{path} was not approved\n"));
            done = Exit::NEGATIVE;
            continue;
        }
        store.add(&file).or_internal(NOT_WRITTEN)?;
        let (now, _) = target.project(&store)?;
        if now.iter().any(|now| now.path == file.path && now.status != Status::Approved) {
            warn(&format!(
                "{path} changed in the meantime and waits again: run `hookexec trust add`"
            ));
            done = Exit::NEGATIVE;
            continue;
        }
        if !is_whole {
            warn(&format!("{path} is approved{without}; its hooks may fail"));
        }
        file.blocked = None;
        let row = Review::of(file, &store);
        // The question showed the rest.
        target
            .format
            .show(&row, || if consent.yes { text::whole(&row) } else { text::title(&row) })?;
    }
    Ok(done)
}

fn remove(target: &Target, consent: ConsentArgs) -> Result<Exit, CommandError> {
    consent.check()?;
    let store = store()?;
    let rows = match (target.project(&store), &target.file) {
        (Ok((rows, _)), _) => rows,
        // A file that was never there can be forgotten, too.
        (Err(_), Some(path)) => vec![Review::of_gone(path.clone())],
        (Err(error), None) => return Err(error),
    };
    for Review { path, digest, .. } in rows {
        let shown = plain::line(&path.to_string_lossy());
        if !store.has_approved(&path, digest.as_deref()) {
            output::print(&format!("{shown}: was not approved\n"))?;
            continue;
        }
        if !consent.ask(&format!(
            "Take the approval of {shown} back, here, where it was moved to, and in every clone with the \
             same bytes?"
        ))? {
            output::talk("nothing was changed\n");
            return Ok(Exit::NEGATIVE);
        }
        // What was approved here, and what is here now, wherever it was approved.
        store.remove(&path, digest.as_deref()).or_internal(NOT_WRITTEN)?;
        output::print(&format!(
            "{shown}: not approved any longer, here and in every clone with the same bytes\n"
        ))?;
    }
    Ok(Exit::SUCCESS)
}

/// Returns why files can't be loaded.
fn errors(rows: &[Review], options: &LoadOptions) -> Diagnostics {
    let mut errors = Diagnostics::default();
    for problem in hookexec_project::check(options, registry::all()).problems {
        let Some(place) = &problem.location else { continue };
        let is_ours = rows.iter().any(|row| row.path == place.path());
        if is_ours && problem.severity == Severity::Error {
            errors.push(problem);
        }
    }
    errors
}

impl Target {
    /// Returns the hooks files of the project that are meant, and what they were found by.
    fn project(&self, store: &TrustStore) -> Result<(Vec<Review>, LoadOptions), CommandError> {
        let mut args = ConfigArgs::default();
        args.cwd = self.cwd.clone().or_else(|| self.file.as_deref().map(working_dir_of));
        let options = args.options(Purpose::Show)?;
        let Loaded { config, project_files, .. } = hookexec_project::load(&options)?;
        let mut rows = Vec::new();
        for file in project_files {
            if self.is_meant(&file.path) {
                rows.push(Review::of(file, store));
            }
        }
        for failed in &config.failed {
            let path = failed.location.path();
            let is_gone = self.is_meant(path) && path.symlink_metadata().is_err();
            if is_gone && store.has_approved(path, None) {
                rows.push(Review::of_gone(path.to_owned()));
            }
        }
        if rows.is_empty() {
            let mut failed = config.failed.iter();
            if let Some(failed) = failed.find(|failed| self.is_meant(failed.location.path())) {
                let message = format!("{}: {}", failed.location, failed.cause);
                return Err(CommandError::usage(message).hint(&*failed.remedy));
            }
            let what = if let Some(file) = &self.file {
                format!("{} is not a hooks file of a project", file.display())
            } else {
                format!("no hooks file of a project was found from {}", args.project()?.display())
            };
            return Err(CommandError::usage(what)
                .hint("a project's hooks are in `hooks.yaml` or `.hookexec/hooks.yaml`"));
        }
        Ok((rows, options))
    }

    fn is_meant(&self, path: &Path) -> bool {
        let Some(file) = &self.file else { return true };
        std::path::absolute(file).is_ok_and(|file| files::real(&file) == files::real(path))
    }
}

/// Returns where the hooks of `file` are taken to run: here, when here is in its project; else in
/// the directory that it is for.
fn working_dir_of(file: &Path) -> PathBuf {
    let own = file.parent().unwrap_or(Path::new("")).join(".");
    let Ok(own) = canonical(&own) else { return own };
    let project = project_of(&own);
    match canonical(".") {
        Ok(here) if here.starts_with(project) => here,
        _ => project.to_owned(),
    }
}

fn store() -> Result<TrustStore, CommandError> {
    Ok(TrustStore::of_user().ok_or(KeepError::NoHome)?)
}

const NOT_WRITTEN: &str = "can't write the approval";
