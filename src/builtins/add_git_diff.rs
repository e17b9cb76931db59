//! `add_git_diff`: shows the model what is not committed yet.

use super::git::Git;
use super::{Argument, Prepared, Shipped, Surroundings, arguments, gives_context, text};
use crate::wire::Output;

pub(super) const ADD_GIT_DIFF: Shipped = Shipped {
    name: "add_git_diff",
    about: "Shows the model what changed since the last commit",
    arguments: &[Argument {
        usage: "full",
        optional: true,
        about: "The changes themselves; without it, only how much changed in each file.",
    }],
    details: "It is `git diff` against the last commit (against the index where there is none), \
              staged changes included, cut at 4 KiB; nothing without a repository, without git or \
              without a change. External diff programs, text converters and the repository's own \
              filters are not run, and submodules are not entered.",
    example: "turn_start:\n  - { type: builtin, command: add_git_diff, args: [full] }",
    suits: gives_context,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

/// The most that is shown, in bytes.
const MOST: usize = 4096;

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    let (form, title) = match arguments::at_most_one(args)? {
        None => ("--stat", "Uncommitted changes"),
        Some("full") => ("--patch", "Uncommitted changes in full"),
        Some(other) => return Err(format!("the argument can only be `full`, found `{other}`")),
    };
    let surroundings = surroundings.clone();
    Ok(Box::new(move |input| {
        let Some(git) = Git::open(&surroundings, &input.cwd)? else { return Ok(None) };
        let mut command =
            vec!["diff", form, "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];
        if git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok() {
            command.push("HEAD");
        }
        command.push("--");
        let diff = git.ask(&command)?;
        if diff.is_empty() {
            return Ok(None);
        }
        Ok(Some(Output::context(format!("{title}:\n{}", text::cut(&diff, MOST)))))
    }))
}
