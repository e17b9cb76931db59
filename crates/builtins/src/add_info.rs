//! Builtins that tell the model where it works: the date, its directory, the system, the user, and the state
//! of the git repository, what changed in it, and its last commits.

use std::fs;
use std::sync::Arc;

use super::git::Git;
use super::{Surroundings, Work, arguments};
use hookexec::registry::BuiltinError;
use hookexec::{Input, Output};
use hookexec_files::platform::system;
use hookexec_files::{plain, text};

/// The most entries of a directory that are shown.
const MOST: usize = 100;

type Tell = fn(&Surroundings, &Input) -> Result<Option<String>, BuiltinError>;

pub(super) fn told(
    surroundings: &Surroundings,
    args: &[String],
    tell: Tell,
) -> Result<Work, BuiltinError> {
    arguments::none(args)?;
    let surroundings = surroundings.clone();
    Ok(Arc::new(move |input| Ok(tell(&surroundings, input)?.map(Output::context))))
}

pub(super) fn date(surroundings: &Surroundings) -> String {
    format!("Today's date: {}", surroundings.now().strftime("%A, %Y-%m-%d"))
}

pub(super) fn listing(_: &Surroundings, input: &Input) -> Result<Option<String>, BuiltinError> {
    if input.cwd.is_empty() {
        return Ok(None);
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(&input.cwd).map_err(|error| format!("{}: {error}", input.cwd))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            // A link to a directory is one here; its target is not listed.
            let slash = if entry.path().is_dir() { "/" } else { "" };
            names.push(plain::line(&name) + slash);
        }
    }
    if names.is_empty() {
        return Ok(None);
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    if more > 0 {
        names.push(format!("... and {more} more"));
    }
    Ok(Some(format!("Entries of the working directory:\n{}", names.join("\n"))))
}

pub(super) fn environment(
    surroundings: &Surroundings,
    input: &Input,
) -> Result<Option<String>, BuiltinError> {
    if input.cwd.is_empty() {
        return Ok(None);
    }
    let repository = Git::open(surroundings, &input.cwd)?.is_some();
    let mut lines = vec![
        format!("Working directory: {}", plain::line(&input.cwd)),
        format!("Git repository: {}", if repository { "yes" } else { "no" }),
        format!("Operating system: {}", std::env::consts::OS),
        format!("Architecture: {}", std::env::consts::ARCH),
    ];
    if let Some(shell) = surroundings.var("SHELL") {
        lines.push(format!("Shell: {}", plain::line(&shell.to_string_lossy())));
    }
    Ok(Some(lines.join("\n")))
}

pub(super) fn user(surroundings: &Surroundings) -> String {
    format!("User: {}\nHost: {}", user_name(surroundings), plain::line(&system::host_name()))
}

fn user_name(surroundings: &Surroundings) -> String {
    for variable in ["USER", "LOGNAME", "USERNAME"] {
        if let Some(name) = surroundings.var(variable) {
            return plain::line(&name.to_string_lossy());
        }
    }
    system::user_id()
}

const HAS_COMMIT: [&str; 4] = ["rev-parse", "--verify", "--quiet", "HEAD"];

pub(super) fn status(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    arguments::none(args)?;
    Ok(shown(surroundings, "Git status", 4 << 10, |git| {
        git.ask(&["status", "--short", "--branch", "--ignore-submodules=dirty"])
    }))
}

pub(super) fn diff(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let (form, title) = match arguments::at_most_one(args)? {
        None => ("--stat", "Uncommitted changes"),
        Some("full") => ("--patch", "Uncommitted changes in full"),
        Some(other) => {
            return Err(format!("the argument can only be `full`, found `{other}`").into());
        }
    };
    Ok(shown(surroundings, title, 4 << 10, move |git| {
        let mut command =
            vec!["diff", form, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];
        if git.ask(&HAS_COMMIT).is_ok() {
            command.push("HEAD");
        }
        command.push("--");
        git.ask(&command)
    }))
}

pub(super) fn commits(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let count = arguments::at_most_one(args)?.unwrap_or("10");
    let option = format!("--max-count={}", arguments::at_least(1_u32, "N", count)?);
    Ok(shown(surroundings, "Recent commits", 16 << 10, move |git| {
        if git.ask(&HAS_COMMIT).is_err() {
            return Ok(String::new());
        }
        git.ask(&["log", "--oneline", "--no-decorate", "--no-show-signature", &option])
    }))
}

/// Returns a builtin that shows the answer of `ask` under `title`, at most `most` bytes of it.
fn shown(
    surroundings: &Surroundings,
    title: &'static str,
    most: usize,
    ask: impl Fn(&Git) -> Result<String, BuiltinError> + Send + Sync + 'static,
) -> Work {
    let surroundings = surroundings.clone();
    Arc::new(move |input| {
        let Some(git) = Git::open(&surroundings, &input.cwd)? else { return Ok(None) };
        let text = ask(&git)?;
        if text.is_empty() {
            return Ok(None);
        }
        Ok(Some(Output::context(format!("{title}:\n{}", text::cut(&text, most)))))
    })
}
