//! Adds hooks to a hooks file and takes them out, in place: recipes, and single rules of the user's starter.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use hookexec::Config;
use hookexec::config::{ConfigBuilder, Hook, InLayer as _, Layer, SourceFile};
use hookexec_files::directories::state_directory;
use hookexec_files::hooks_file::MAX_SIZE;
use hookexec_files::{files, suggest};
use hookexec_setup::edit::{self, EditError};
use hookexec_setup::settings::store;

use crate::console::report::push_diff;
use crate::error::{CommandError, OrCommandError as _, unreadable, unwritable};

/// Adds recipes to the hooks file of `layer` at `path`, which messages call `shown`, and removes the hooks
/// that `remove` names. Returns what was done, and whether the file changed. It changes all or nothing, and
/// nothing of a file that can't be loaded.
pub(super) fn apply(
    path: &Path,
    shown: &str,
    add: &[String],
    remove: &[String],
    layer: Layer,
) -> Result<(String, bool), CommandError> {
    let _lock = lock().or_usage(NOT_LOCKED)?;
    let old = store::read(path).or_usage(unreadable(path))?;
    if old.is_none() && add.is_empty() {
        return Err(CommandError::usage(format!("{shown} does not exist")));
    }
    let old_text = old.as_deref().unwrap_or_default();
    let (mark, old_text) = match old_text.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", old_text),
    };
    let (mut said, mut text) = (String::new(), old_text.to_owned());
    let recipes = recipes();
    for name in add {
        let recipe = recipes.get(&**name).map_or("", String::as_str);
        if has_only_comments(&text) {
            text += recipe;
        } else if let Some(new) = added(shown, &text, (name, recipe), layer)? {
            text = new;
        } else {
            let _ = writeln!(said, "`{name}` is in {shown} already");
        }
    }
    if !remove.is_empty() {
        text = removed(shown, &text, remove)?;
    }
    if text == old_text {
        return Ok((said + "nothing was changed\n", false));
    }
    check(&text, shown, layer)?;
    let new = format!("{mark}{text}");
    if new.len() as u64 > MAX_SIZE {
        let message = format!("{shown} was not changed: it would be larger than 1 MiB");
        return Err(CommandError::usage(message).hint("put the hooks into a file of their own"));
    }
    store::write(path, old.as_deref(), &new).or_usage(unwritable(path))?;
    let _ = writeln!(said, "{} {shown}:", if old.is_some() { "changed" } else { "wrote" });
    push_diff(&mut said, "  ", &old_text.replace('\r', ""), &text.replace('\r', ""));
    Ok((said, true))
}

pub(crate) const NOT_LOCKED: &str = "can't wait for other calls of hookexec";

/// Waits until no other process changes a hooks file or its cases.
pub(crate) fn lock() -> std::io::Result<Option<File>> {
    let Some(state) = state_directory() else { return Ok(None) };
    let directory = state.join("hookexec");
    files::private_directory(&directory)?;
    let lock = files::open_lock(&directory.join("init.lock"))?;
    lock.lock()?;
    Ok(Some(lock))
}

/// Checks that the text can be loaded in its layer: a project's file may say less than others.
fn check(text: &str, shown: &str, layer: Layer) -> Result<(), CommandError> {
    let mut builder = ConfigBuilder::new();
    if let Some(part) = builder.read(&Arc::new(SourceFile::new(shown, text).in_layer(layer))) {
        builder.add(part);
    }
    let (_, problems, _) = builder.draft();
    if !problems.has_errors() {
        return Ok(());
    }
    let hint = format!("{shown} was not changed; `init --user` adds to your own hooks file");
    Err(CommandError::from(problems).hint(hint))
}

fn has_only_comments(text: &str) -> bool {
    text.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#'))
}

/// Returns the text with the recipe; `None` if it has all of it.
fn added(
    shown: &str,
    text: &str,
    (recipe, addition): (&str, &str),
    layer: Layer,
) -> Result<Option<String>, CommandError> {
    let known = Config::from_yaml(text, shown)?;
    let new = Config::from_yaml(addition, recipe)?;
    if has_lines(text, addition) {
        return Ok(None);
    }
    for hook in &new.hooks {
        if let Some(name) = &hook.name
            && known.hooks.iter().any(|other| other.name == hook.name)
        {
            let message = format!("{shown} has another hook `{name}`, which `{recipe}` brings");
            let place = if layer == Layer::User { " --user" } else { "" };
            let hint = format!(
                "keep that one, or take it out first: `hookexec init{place} --remove {name}`"
            );
            return Err(CommandError::usage(message).hint(hint));
        }
    }
    let lines = format!("add these lines to the file by hand:\n{addition}");
    match edit::add(text, addition) {
        Ok(new) => Ok(Some(new)),
        Err(error) => Err(refused(shown, &error).hint(lines)),
    }
}

/// Returns whether a text has each line of a recipe, but for comments and keys that open a block.
fn has_lines(text: &str, recipe: &str) -> bool {
    for line in recipe.lines() {
        let line = line.trim();
        let is_content = !line.is_empty() && !line.starts_with('#') && !line.ends_with(':');
        if is_content && !text.lines().any(|known| known.trim() == line) {
            return false;
        }
    }
    true
}

/// Returns the text without the hooks that the names stand for.
fn removed(shown: &str, text: &str, names: &[String]) -> Result<String, CommandError> {
    let config = Config::from_yaml(text, shown)?;
    let mut hooks = Vec::new();
    for name in names {
        let meant = hook_names(&config, name)?;
        if !config.hooks.iter().any(|hook| has_name(hook, &meant)) {
            let mut known = Vec::new();
            for hook in &config.hooks {
                known.extend(hook.name.as_deref());
            }
            let hint = if known.is_empty() {
                "its hooks have no names: take it out by hand".to_owned()
            } else {
                suggest::hint_or_list(name, known, "it has:")
            };
            return Err(CommandError::usage(format!("{shown} has no hook `{name}`")).hint(hint));
        }
        hooks.extend(meant);
    }
    let mut text = text.to_owned();
    loop {
        let config = Config::from_yaml(&text, shown)?;
        let Some(hook) = config.hooks.iter().find(|hook| has_name(hook, &hooks)) else {
            return Ok(text);
        };
        text = edit::remove(&text, hook.location.range().start).map_err(|error| {
            refused(shown, &error).hint(format!("take it out by hand: {}", hook.location))
        })?;
    }
}

/// Returns the names of the hooks that `name` stands for: those of the recipe, unless only a hook of
/// the user's own has this name.
fn hook_names(config: &Config, name: &str) -> Result<Vec<String>, CommandError> {
    let own = vec![name.to_owned()];
    let Some(recipe) = recipes().remove(name) else { return Ok(own) };
    let recipe = Config::from_yaml(&recipe, name)?;
    let is_own = config.hooks.iter().any(|hook| has_name(hook, &own));
    if is_own && !recipe.hooks.iter().any(|hook| has_name(hook, &own)) {
        return Ok(own);
    }
    Ok(recipe.hooks.into_iter().filter_map(|hook| hook.name).collect())
}

fn has_name(hook: &Hook, names: &[String]) -> bool {
    hook.name.as_ref().is_some_and(|name| names.contains(name))
}

fn refused(shown: &str, error: &EditError) -> CommandError {
    CommandError::usage(format!("{shown} was not changed: {error}"))
}

macro_rules! recipes {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../../../../../examples/recipes/", $name, ".yaml")))),+]
    };
}

const RECIPES: [(&str, &str); 16] = recipes! {
    "approve" "budget" "commit-message" "databases" "everyday" "force-push" "format" "keep-secrets"
    "log" "main-branch" "mcp-allow-list" "notify" "read-only" "subagents" "team" "tests-before-stop"
};

/// Returns all recipes by name, and the rules of the starter whose names no recipe has.
pub(crate) fn recipes() -> BTreeMap<&'static str, String> {
    let mut all = BTreeMap::new();
    // A comment stands above each rule.
    for part in include_str!("../../starter/user.yaml").split("\n        # ").skip(1) {
        let Some((comment, rule)) = part.split_once('\n') else { continue };
        let mut lines = rule.lines();
        if let Some(name) = lines.find_map(|line| line.trim_start().strip_prefix("name: ")) {
            let rule = rule.trim_end();
            let text = format!("# {comment}\nhooks:\n  pre_tool_use:\n    - hooks:\n{rule}\n");
            all.insert(name, text);
        }
    }
    for (name, text) in RECIPES {
        all.insert(name, text.to_owned());
    }
    all
}
