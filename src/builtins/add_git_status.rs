//! `add_git_status`: shows the model the state of the working tree.

use super::git::Git;
use super::{Prepared, Shipped, Surroundings, arguments, gives_context, text};
use crate::wire::Output;

pub(super) const ADD_GIT_STATUS: Shipped = Shipped {
    name: "add_git_status",
    about: "Shows the model `git status`: the branch and what changed",
    arguments: &[],
    details: "It is `git status --short --branch` in the agent's directory, cut at 4 KiB; nothing \
              without a repository or without git. Programs that the repository's own configuration \
              names (monitors, hooks, filters) are not run, and submodules are not entered.",
    example: "turn_start:\n  - { type: builtin, command: add_git_status }",
    suits: gives_context,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

/// The most that is shown, in bytes.
const MOST: usize = 4096;

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    arguments::none(args)?;
    let surroundings = surroundings.clone();
    Ok(Box::new(move |input| {
        let Some(git) = Git::open(&surroundings, &input.cwd)? else { return Ok(None) };
        let status = git.ask(&["status", "--short", "--branch", "--ignore-submodules=dirty"])?;
        Ok(Some(Output::context(format!("Git status:\n{}", text::cut(&status, MOST)))))
    }))
}
