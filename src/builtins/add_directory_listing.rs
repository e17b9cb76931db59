//! `add_directory_listing`: shows the model what is in its directory.

use std::fs;
use std::io;

use super::{Prepared, Shipped, Surroundings, arguments, gives_context, text};
use crate::wire::Output;

pub(super) const ADD_DIRECTORY_LISTING: Shipped = Shipped {
    name: "add_directory_listing",
    about: "Shows the model the entries of its directory",
    arguments: &[],
    details: "The top level of `cwd` in alphabetical order, directories with a `/`, without entries \
              that begin with a dot; 100 at most, then how many more there are.",
    example: "session_start:\n  - { type: builtin, command: add_directory_listing }",
    suits: gives_context,
    inline: false,
    rewrites: false,
    on_failure: |_| None,
    prepare,
};

/// The most entries that are shown.
const MOST: usize = 100;

fn prepare(_: &Surroundings, args: &[String]) -> Result<Prepared, String> {
    arguments::none(args)?;
    Ok(Box::new(|input| {
        if input.cwd.is_empty() {
            return Ok(None);
        }
        let names = entries(&input.cwd).map_err(|error| format!("{}: {error}", input.cwd))?;
        if names.is_empty() {
            return Ok(None);
        }
        let mut lines = vec!["Entries of the working directory:".to_owned()];
        lines.extend(names.iter().take(MOST).cloned());
        if names.len() > MOST {
            lines.push(format!("... and {} more", names.len() - MOST));
        }
        Ok(Some(Output::context(lines.join("\n"))))
    }))
}

fn entries(directory: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        // A link to a directory is one here; what it leads to is not looked at.
        let slash = if entry.path().is_dir() { "/" } else { "" };
        names.push(text::one_line(&name) + slash);
    }
    names.sort_unstable();
    Ok(names)
}
