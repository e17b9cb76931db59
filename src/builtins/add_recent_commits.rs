//! `add_recent_commits`: shows the model what was committed last.

use super::git::Git;
use super::{Argument, Prepared, Shipped, Surroundings, arguments, gives_context, text};
use crate::wire::Output;

pub(super) const ADD_RECENT_COMMITS: Shipped = Shipped {
    name: "add_recent_commits",
    about: "Shows the model the last commits, a line each",
    arguments: &[Argument {
        usage: "N",
        optional: true,
        about: "How many commits; 10 when left out.",
    }],
    details: "Nothing without a repository, without git or without a commit.",
    example: "session_start:\n  - { type: builtin, command: add_recent_commits, args: [\"20\"] }",
    suits: gives_context,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

const DEFAULT: u32 = 10;
/// The most that is shown, in bytes.
const MOST: usize = 16 * 1024;

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    let count: u32 = arguments::at_most_one(args)?
        .map_or(Ok(DEFAULT), |count| arguments::positive("N", count))?;
    let surroundings = surroundings.clone();
    Ok(Box::new(move |input| {
        let Some(git) = Git::open(&surroundings, &input.cwd)? else { return Ok(None) };
        if git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_err() {
            return Ok(None);
        }
        let count = format!("--max-count={count}");
        let log = git.ask(&["log", "--oneline", "--no-decorate", "--no-show-signature", &count])?;
        Ok(Some(Output::context(format!("Recent commits:\n{}", text::cut(&log, MOST)))))
    }))
}
