//! Builtins that tell the model where it works: the date, its directory, the system, the user.

use std::fs;
use std::sync::Arc;

use super::git::Git;
use super::{Surroundings, Work, arguments};
use hookexec::registry::BuiltinError;
use hookexec::{Input, Output};
use hookexec_files::plain;
use hookexec_files::platform::system;

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
