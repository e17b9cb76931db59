//! `hookexec import`: hooks written for another engine, as a hooks.yaml.

mod claude_code;
mod yaml;

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use hookexec::Config;
use hookexec::config::{Diagnostics, Severity, SourceFile};

use super::error::CommandError;
use super::exit::Exit;
use super::output;

/// Writes the hooks of another engine as a hooks.yaml
///
/// The hooks say `dialect: claude-code`: their scripts read what they read before, and run under
/// every coding agent. What can't be imported is an error that names its line, and nothing is
/// written.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Args {
    /// Whose hooks they are
    #[arg(value_enum, value_name = "ENGINE")]
    engine: Engine,

    /// The settings they stand in, such as .claude/settings.json
    file: PathBuf,

    /// Where to write them, instead of stdout; nothing is written over
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Leaves out what can't be imported, and says so in a comment
    #[arg(long)]
    partial: bool,
}

const EXAMPLE: &str = "\
Examples:
  hookexec import claude-code .claude/settings.json                        shows what it comes to
  hookexec import claude-code ~/.claude/settings.json --output hooks.yaml  writes it";

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Engine {
    /// Claude Code: the `hooks` of a settings.json, or a plugin's hooks.json
    ClaudeCode,
}

impl Args {
    pub(crate) fn execute(&self) -> Result<Exit, CommandError> {
        let Engine::ClaudeCode = self.engine;
        let text = std::fs::read_to_string(&self.file).map_err(|error| {
            CommandError::usage(format!("can't read {}: {error}", self.file.display()))
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let source = SourceFile::new(&self.file, text);
        let import = claude_code::read(source)
            .map_err(|error| CommandError::data(format!("{}: {error}", self.file.display())))?;
        if import.problems.has_errors() && !self.partial {
            return Err(CommandError::config(import.problems)
                .hint("`--partial` imports the rest, and says in a comment what is left out"));
        }
        output::talk(&as_warnings(&import.problems).render(true));
        let written = yaml::write(&self.file, &import);
        // What is written here must load here.
        Config::from_yaml(&written, "hooks.yaml").map_err(|problems| {
            CommandError::internal(format!("the result does not load: {problems}"))
        })?;
        match &self.output {
            None => output::print_data(&written)?,
            Some(path) => {
                create(path, &written)?;
                output::talk(&next_steps(path, &self.file));
            }
        }
        Ok(Exit::Success)
    }
}

/// Returns the problems as what they are where the rest is imported.
fn as_warnings(problems: &Diagnostics) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    warnings.extend(problems.iter().cloned().map(|mut problem| {
        problem.severity = Severity::Warning;
        problem
    }));
    warnings
}

fn next_steps(written: &Path, source: &Path) -> String {
    format!(
        "wrote {file}\n\n\
         next:\n  \
         hookexec check --config {file}     look for problems\n  \
         hookexec trust add {file}          let its hooks run, when it belongs to a project\n  \
         hookexec install claude-code ...   put hookexec into the agents\n\n\
         Take the hooks out of {source} then, or they run twice in Claude Code.\n",
        file = written.display(),
        source = source.display(),
    )
}

fn create(path: &Path, text: &str) -> Result<(), CommandError> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| {
            let file = path.display();
            if error.kind() == ErrorKind::AlreadyExists {
                let hint = "give `--output` another name, or move that file away";
                return CommandError::usage(format!("can't write {file}: there is one already"))
                    .hint(hint);
            }
            CommandError::usage(format!("can't write {file}: {error}"))
        })
}
