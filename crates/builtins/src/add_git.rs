//! Builtins that show the model a git repository: its state, what changed, the last commits.

use std::sync::Arc;

use super::git::Git;
use super::{Surroundings, Work, arguments};
use hookexec::Output;
use hookexec::registry::BuiltinError;
use hookexec_files::text;

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
