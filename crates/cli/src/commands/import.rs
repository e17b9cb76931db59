//! `hookexec init --from`: hooks written for another engine, as a hooks.yaml.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec_setup::import::{ImportError, Imported, Source};
use hookexec_setup::settings::store;

use crate::commands::init::refuse_existing;
use crate::console::output;
use crate::console::report::counted;
use crate::error::{CommandError, OrCommandError as _, unreadable, unwritable};

/// Options of `init --from`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "From another engine")]
pub(crate) struct ImportArgs {
    /// Writes the hooks of another engine as a hooks.yaml: FILE is its file, such as
    /// claude-code:.claude/settings.json
    ///
    /// Scripts go on reading what they read before, where hookexec speaks their dialect; the head of
    /// the file says so. What can't be imported is an error that names its line, and nothing is
    /// written. ENGINE is claude-code, codex, gemini, docker-agent or picoclaw
    #[arg(long, value_name = "ENGINE:FILE", conflicts_with_all = ["names", "remove"])]
    pub(super) from: Option<Source>,

    /// Where to write them, instead of stdout; existing files are not overwritten
    #[arg(long, value_name = "FILE", requires = "from", conflicts_with = "user")]
    pub(super) output: Option<PathBuf>,

    /// Which agent of a docker-agent file
    #[arg(long, value_name = "NAME", requires = "from")]
    agent: Option<String>,

    /// Leaves out what can't be imported, and says so in a comment
    #[arg(long, requires = "from")]
    partial: bool,
}

impl ImportArgs {
    /// Writes the hooks of another engine, if one is named, and returns whether one is. Without
    /// `--output` they go to the directory of the `users` hooks files, or else to stdout.
    pub(crate) fn execute(&self, users: Option<&Path>) -> Result<bool, CommandError> {
        let Some(source) = &self.from else { return Ok(false) };
        let imported = self.read(source)?;
        if imported.own_entries > 0 {
            let skipped = counted(imported.own_entries, "hook");
            output::talk(&format!("skipped {skipped} of hookexec itself\n"));
        }
        if imported.problems.has_errors() && !self.partial {
            return Err(CommandError::from(imported.problems)
                .hint("`--partial` imports the rest, and says in a comment what is left out"));
        }
        if !imported.problems.is_empty() {
            output::talk(&format!("left out, or doubtful:\n{}\n", imported.problems));
        }
        let written = source.head(&imported.problems) + "\n" + &imported.yaml;
        let config = Config::from_yaml(&written, "hooks.yaml")?;
        if config.hooks.len() != imported.hooks {
            let lost = counted(imported.hooks.abs_diff(config.hooks.len()), "hook");
            return Err(CommandError::internal(format!("the import would lose {lost}"))
                .hint("write them by hand, and report this"));
        }
        let path = match (&self.output, users) {
            (Some(path), _) => path.clone(),
            (None, Some(users)) => users.join(format!("hooks.d/{}.yaml", source.engine)),
            (None, None) => {
                output::print_data(&written)?;
                return Ok(true);
            }
        };
        refuse_existing(&path)?;
        store::write(&path, None, &written).or_usage(unwritable(&path))?;
        let (path, file) = (path.display(), source.file.display());
        let mut next = format!("Look for problems with `hookexec check --config {path}`.");
        if users.is_none() {
            let _ = write!(next, " `hookexec trust add {path}` approves a file of a project.");
        }
        output::talk(&format!(
            "wrote {path}\n\n{next}\nThen remove the imported hooks from {file}, or they run twice.\n"
        ));
        Ok(true)
    }

    /// Reads the hooks of a file.
    fn read(&self, source: &Source) -> Result<Imported, CommandError> {
        let file = &source.file;
        let Some(text) = store::read(file).or_usage(unreadable(file))? else {
            return Err(CommandError::usage(unreadable(file) + ": it does not exist"));
        };
        match source.read(&text, self.agent.as_deref()) {
            Ok(imported) => Ok(imported),
            Err(ImportError::Hooks(problems)) => Err(CommandError::from(problems)),
            Err(error) => Err(CommandError::usage(error.to_string())),
        }
    }
}
