//! A hooks file and the scripts it names, as one thing to approve.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::config::{Command, Config, Hook, Process, SourceFile};
use crate::handlers::command::expand;

/// The largest script that can be approved, in bytes.
const MAX_SCRIPT: u64 = 64 << 20;

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundleFile {
    /// Its path from the directory of the hooks file; `hooks.yaml` itself has its file name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A hooks file and the scripts that it names, as they are now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bundle {
    /// The hooks file.
    pub path: PathBuf,
    /// The hooks file and its scripts, by name.
    pub files: Vec<BundleFile>,
}

impl Bundle {
    /// Returns the hooks file `source` with every script of the project that `config`, which was
    /// read from it, names.
    ///
    /// A script is a word of a command that leads to a regular file below the project or beside the
    /// hooks file. What a script itself loads is not followed.
    ///
    /// # Errors
    /// When a script can't be read.
    pub fn read(source: &SourceFile, config: &Config, project: &Path) -> io::Result<Self> {
        let path = &source.path;
        let directory = directory_of(path);
        let mut files = BTreeMap::new();
        for script in scripts(&config.hooks, config.processes.values(), &directory, project) {
            files.insert(name_of(&script, &directory, project), read(&script)?);
        }
        let own = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut all = vec![BundleFile { name: own, bytes: source.text.clone().into() }];
        all.extend(files.into_iter().map(|(name, bytes)| BundleFile { name, bytes }));
        Ok(Self { path: path.clone(), files: all })
    }

    /// Returns the digest that an approval is for, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(b"hookexec bundle 1\n");
        for file in &self.files {
            // The name's length first: no two lists of files may run into one.
            hasher.update(format!("{} {}\n", file.name.len(), file.name));
            hasher.update(Sha256::digest(&file.bytes));
        }
        hexadecimal(&hasher.finalize())
    }
}

/// Returns `bytes` in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(named)?;
    file.take(MAX_SCRIPT + 1).read_to_end(&mut bytes).map_err(named)?;
    if bytes.len() as u64 > MAX_SCRIPT {
        return Err(named(io::Error::other("a script of more than 64 MiB can't be approved")));
    }
    Ok(bytes)
}

/// Returns the files of the project that hooks and processes name, which are configured in
/// `directory`.
pub(crate) fn scripts<'c>(
    hooks: impl IntoIterator<Item = &'c Hook>,
    processes: impl IntoIterator<Item = &'c Process>,
    directory: &Path,
    project: &Path,
) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let roots: Vec<PathBuf> =
        [directory, project].into_iter().filter_map(|root| root.canonicalize().ok()).collect();
    let variables: expand::Variables = std::env::vars_os().collect();
    let mut consider = |word: &str, working_dir: Option<&String>| {
        // `CLAUDE_PROJECT_DIR` is set for hooks with a dialect, and harmless elsewhere.
        let word = [
            ("HOOKEXEC_CONFIG_DIR", directory),
            ("HOOKEXEC_PROJECT_DIR", project),
            ("CLAUDE_PROJECT_DIR", project),
        ]
        .iter()
        .fold(word.to_owned(), |word, (name, path)| {
            let path = path.to_string_lossy();
            word.replace(&format!("${{{name}}}"), &path).replace(&format!("${name}"), &path)
        });
        let from = working_dir.and_then(|dir| expand::path(dir, &variables));
        let from = from.map_or_else(|| project.to_owned(), |dir| project.join(dir));
        for base in [from.as_path(), project, directory] {
            let Ok(path) = base.join(&word).canonicalize() else { continue };
            if path.is_file()
                && roots.iter().any(|root| path.starts_with(root))
                && !found.contains(&path)
            {
                found.push(path);
            }
        }
    };
    for hook in hooks {
        let named = match &hook.command {
            Some(Command::Text(text)) if hook.kind == "command" => words(text).collect(),
            Some(Command::Argv(argv)) => argv.clone(),
            _ => Vec::new(),
        };
        for word in named.iter().chain(&hook.args).chain(&hook.shell) {
            consider(word, hook.working_dir.as_ref());
        }
    }
    for process in processes {
        for word in &process.command {
            consider(word, process.working_dir.as_ref());
        }
    }
    found.sort();
    found
}

/// Returns the words of a shell text, roughly: enough to find the files that it names. A file that
/// is written to (`>> tools.log`) is none of them: it changes with each run.
fn words(text: &str) -> impl Iterator<Item = String> {
    let read = text.split('>').enumerate().map(|(index, part)| {
        let part = if index == 0 { part } else { part.trim_start() };
        let target = part.find(|letter: char| letter.is_whitespace() || ";|&()<".contains(letter));
        match (index, target) {
            (0, _) => part,
            (_, Some(end)) => &part[end..],
            (_, None) => "",
        }
    });
    read.collect::<Vec<_>>()
        .join(" ")
        .split(|letter: char| letter.is_whitespace() || ";|&()<>`=".contains(letter))
        .map(|word| word.replace(['"', '\'', '\\'], ""))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns a script's name: its path from the hooks file, so that it does not depend on where the
/// project lies.
pub(crate) fn name_of(script: &Path, directory: &Path, project: &Path) -> String {
    let from = |root: &Path| {
        let root = root.canonicalize().ok()?;
        script.strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned())
    };
    from(directory)
        .or_else(|| from(project).map(|path| format!("project:{path}")))
        .unwrap_or_else(|| script.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn files_that_are_written_to_are_not_named() {
        let named = |text: &str| words(text).collect::<Vec<_>>();
        assert_eq!(named("sh ./a.sh >> out.log; ./b.sh"), ["sh", "./a.sh", "./b.sh"]);
        assert_eq!(named("'./a b.sh' 2>err.log <in.txt"), ["./a", "b.sh", "2", "in.txt"]);
        assert_eq!(named("echo x >log"), ["echo", "x"]);
    }
}
