//! `add_environment_info`: tells the model where it works.

use super::git::Git;
use super::{Prepared, Shipped, Surroundings, arguments, gives_context, text};
use crate::wire::Output;

pub(super) const ADD_ENVIRONMENT_INFO: Shipped = Shipped {
    name: "add_environment_info",
    about: "Tells the model its directory, whether it is a git repository, the system and the shell",
    arguments: &[],
    details: "Nothing when the input has no `cwd`.",
    example: "session_start:\n  - { type: builtin, command: add_environment_info }",
    suits: gives_context,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    arguments::none(args)?;
    let surroundings = surroundings.clone();
    Ok(Box::new(move |input| {
        if input.cwd.is_empty() {
            return Ok(None);
        }
        let repository = Git::open(&surroundings, &input.cwd)?.is_some();
        let mut lines = vec![
            format!("Working directory: {}", text::one_line(&input.cwd)),
            format!("Git repository: {}", if repository { "yes" } else { "no" }),
            format!("Operating system: {}", std::env::consts::OS),
            format!("Architecture: {}", std::env::consts::ARCH),
        ];
        if let Some(shell) = surroundings.var("SHELL") {
            lines.push(format!("Shell: {}", text::one_line(&shell.to_string_lossy())));
        }
        Ok(Some(Output::context(lines.join("\n"))))
    }))
}
