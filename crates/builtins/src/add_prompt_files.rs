//! `add_prompt_files`: gives the model the instructions that lie in files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{BuiltinError, Surroundings, Work, arguments};
use hookexec::Output;
use hookexec_files::bounded::read_beginning;
use hookexec_files::platform::system::canonical;
use hookexec_files::{files, plain, text};

/// The most that is read of one file, in bytes.
const MOST: usize = 64 * 1024;

pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let (options, names) = arguments::options(args, &["depth"])?;
    let depth: u32 = options.number("depth", 1)?.unwrap_or_default();
    if names.is_empty() {
        return Err("it needs at least one file name".into());
    }
    let names: Vec<PathBuf> = names.into_iter().map(file_name).collect::<Result<_, _>>()?;
    let home = surroundings.home().map(Path::to_owned);
    Ok(Arc::new(move |input| {
        let cwd = Path::new(&input.cwd);
        let mut sections = Vec::new();
        for directory in places(cwd, home.as_deref()) {
            // What the user links in the home directory is the user's own choice.
            let own = home.as_deref() == Some(directory);
            for name in &names {
                let Some(content) = read(directory, name, own)? else { continue };
                let path = plain::line(&directory.join(name).to_string_lossy());
                sections.push(format!("Instructions from {path}:\n\n{content}"));
            }
        }
        let nested = nested(cwd, depth, &names);
        if !nested.is_empty() {
            sections.push(format!(
                "More instructions, to be read before working in their directories:\n{}",
                nested.join("\n")
            ));
        }
        Ok(if sections.is_empty() { None } else { Some(Output::context(sections.join("\n\n"))) })
    }))
}

fn file_name(name: &str) -> Result<PathBuf, BuiltinError> {
    let path = Path::new(name);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain {
        return Err(
            format!("`{name}` is not a file name; it must be relative and without `..`").into()
        );
    }
    Ok(path.to_owned())
}

/// Returns the directories where the files may lie, the nearest last, none twice.
fn places<'a>(cwd: &'a Path, home: Option<&'a Path>) -> Vec<&'a Path> {
    let mut directories: Vec<&Path> = Vec::new();
    if cwd.is_absolute() {
        directories.extend(cwd.ancestors());
        directories.reverse();
    }
    if let Some(home) = home
        && !directories.contains(&home)
    {
        directories.insert(0, home);
    }
    directories
}

/// Returns a file's text; `None` when there is none or a link leads out.
fn read(directory: &Path, name: &Path, own: bool) -> std::io::Result<Option<String>> {
    let Ok(real) = canonical(directory.join(name)) else { return Ok(None) };
    if !real.is_file() {
        return Ok(None);
    }
    if !own && !real.starts_with(bounds(directory)) {
        return Ok(None);
    }
    let content = read_beginning(fs::File::open(&real)?, MOST + 4)?.bytes;
    let content = String::from_utf8_lossy(&content);
    let content = plain::plain(content.trim_end());
    Ok(match content.len() {
        0 => None,
        1..=MOST => Some(content),
        _ => Some(format!("{}\n... (cut at {MOST} bytes)", text::head(&content, MOST))),
    })
}

/// Returns the repository that `directory` is in, or itself, links resolved.
fn bounds(directory: &Path) -> PathBuf {
    let directory = files::real(directory);
    let repository = directory.ancestors().find(|ancestor| ancestor.join(".git").exists());
    repository.unwrap_or(&directory).to_owned()
}

/// Returns the files of these names below `cwd`, relative to it.
fn nested(cwd: &Path, depth: u32, names: &[PathBuf]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut level = vec![cwd.to_owned()];
    let mut searched = 0;
    for _ in 0..depth {
        let mut below = Vec::new();
        for directory in level {
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let skipped = name.starts_with('.') || matches!(&*name, "node_modules" | "target");
                // Links are not followed: they may lead in circles.
                if !skipped && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    below.push(entry.path());
                }
            }
        }
        below.sort_unstable();
        searched += below.len();
        for directory in &below {
            for name in names {
                let path = directory.join(name);
                // No more files are listed, and no more directories searched for them.
                if found.len() < 50 && path.is_file() {
                    let shown = path.strip_prefix(cwd).unwrap_or(&path);
                    found.insert(plain::line(&shown.to_string_lossy()));
                }
            }
        }
        if searched > 5000 {
            break;
        }
        level = below;
    }
    found.into_iter().collect()
}
