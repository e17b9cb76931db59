//! Adds hooks to a hooks file and takes them out, in place.

use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use hookexec::Config;
use hookexec_files::directories::state_directory;
use hookexec_files::hooks_file::MAX_SIZE;
use hookexec_files::yaml::edit::{self, EditError};
use hookexec_files::{files, suggest};
use hookexec_setup::settings::store;

use super::recipes::Recipe;
use crate::console::report::push_diff;
use crate::error::{CommandError, OrCommandError as _, unreadable, unwritable};

/// A change to the hooks of these names.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    Add(&'a [String]),
    Remove(&'a [String]),
}

/// Changes the hooks file at `path`, which messages call `shown` and the option `place` chose, and returns
/// what was done. It changes all or nothing, and nothing of a file that can't be loaded.
pub(super) fn apply(
    path: &Path,
    shown: &str,
    change: Change<'_>,
    place: &str,
) -> Result<String, CommandError> {
    let _lock = lock()?;
    let old = store::read(path).or_usage(unreadable(path))?;
    let (mark, old_text) = match old.as_deref() {
        Some(text) => text.strip_prefix('\u{feff}').map_or(("", text), |text| ("\u{feff}", text)),
        None => ("", ""),
    };
    let (mut said, mut text) = (String::new(), old_text.to_owned());
    match change {
        Change::Add(names) => {
            for name in names {
                let recipe = Recipe::named(name)?;
                if has_only_comments(&text) {
                    text += &recipe.text;
                } else if let Some(new) = added(shown, &text, &recipe, place)? {
                    text = new;
                } else {
                    let _ = writeln!(said, "`{name}` is in {shown} already");
                }
            }
        }
        Change::Remove(_) if old.is_none() => {
            return Err(CommandError::usage(format!("{shown} does not exist")));
        }
        Change::Remove(names) => {
            for name in names {
                text = removed(shown, &text, name)?;
            }
        }
    }
    if text == old_text {
        return Ok(said + "nothing was changed\n");
    }
    Config::from_yaml(&text, shown)?;
    let new = format!("{mark}{text}");
    if new.len() as u64 > MAX_SIZE {
        let message = format!("{shown} was not changed: it would be larger than 1 MiB");
        return Err(CommandError::usage(message).hint("put the hooks into a file of their own"));
    }
    store::write(path, old.as_deref(), &new).or_usage(unwritable(path))?;
    let _ = writeln!(said, "{} {shown}:", if old.is_some() { "changed" } else { "wrote" });
    push_diff(&mut said, "  ", &old_text.replace('\r', ""), &text.replace('\r', ""));
    Ok(said)
}

/// Waits until no other process changes a hooks file or its cases.
pub(crate) fn lock() -> Result<Option<File>, CommandError> {
    locked().or_usage("can't wait for other calls of hookexec")
}

fn locked() -> std::io::Result<Option<File>> {
    let Some(state) = state_directory() else { return Ok(None) };
    let directory = state.join("hookexec");
    files::private_directory(&directory)?;
    let lock = files::open_lock(&directory.join("init.lock"))?;
    lock.lock()?;
    Ok(Some(lock))
}

fn has_only_comments(text: &str) -> bool {
    text.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#'))
}

/// Returns the text with the recipe; `None` if it has all of it.
fn added(
    shown: &str,
    text: &str,
    recipe: &Recipe,
    place: &str,
) -> Result<Option<String>, CommandError> {
    let known = Config::from_yaml(text, shown)?;
    let new = Config::from_yaml(&recipe.text, recipe.name)?;
    if has_lines(text, &recipe.text) {
        return Ok(None);
    }
    for hook in &new.hooks {
        if let Some(name) = &hook.name
            && known.hooks.iter().any(|other| other.name == hook.name)
        {
            let recipe = recipe.name;
            let message = format!("{shown} has another hook `{name}`, which `{recipe}` brings");
            let hint = format!("take it out first: `hookexec init{place} --remove {name}`");
            return Err(CommandError::usage(message).hint(hint));
        }
    }
    let lines = format!("add these lines to the file by hand:\n{}", recipe.text);
    match edit::add(text, &recipe.text) {
        Ok(new) => Ok(Some(new)),
        Err(error) => Err(refused(shown, &error).hint(lines)),
    }
}

/// Returns whether a text has each line of a recipe, but for comments and keys that open a block.
fn has_lines(text: &str, recipe: &str) -> bool {
    for line in recipe.lines().map(str::trim) {
        let is_content = !line.is_empty() && !line.starts_with('#') && !line.ends_with(':');
        if is_content && !text.lines().any(|known| known.trim() == line) {
            return false;
        }
    }
    true
}

fn removed(shown: &str, text: &str, name: &str) -> Result<String, CommandError> {
    let mut text = text.to_owned();
    let mut is_found = false;
    loop {
        let config = Config::from_yaml(&text, shown)?;
        let found = config.hooks.iter().find(|hook| hook.name.as_deref() == Some(name));
        let Some(hook) = found else {
            if is_found {
                return Ok(text);
            }
            let names = config.hooks.iter().filter_map(|hook| hook.name.as_deref());
            let hint = suggest::hint_or_list(name, names, "it has:");
            return Err(CommandError::usage(format!("{shown} has no hook `{name}`")).hint(hint));
        };
        is_found = true;
        text = edit::remove(&text, hook.location.range().start).map_err(|error| {
            refused(shown, &error).hint(format!("take it out by hand: {}", hook.location))
        })?;
    }
}

fn refused(shown: &str, error: &EditError) -> CommandError {
    CommandError::usage(format!("{shown} was not changed: {error}"))
}
