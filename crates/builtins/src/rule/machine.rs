//! The variables and directories of a call.

use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::mentions::without_substitutions;
use super::words::{UNKNOWN, versions};
use crate::builtins::Surroundings;
use crate::calls::Word;
use hookexec_files::paths::lexical;
use hookexec_files::platform::Platform;
use hookexec_files::text::name_length;

/// The values of variables, as far as the call and the environment tell.
pub(super) struct Variables<'v> {
    pub(super) surroundings: &'v Surroundings,
    pub(super) cwd: &'v Path,
    pub(super) platform: Platform,
    /// The variables that the call sets.
    set: Vec<(String, String)>,
    /// Whether wildcards may fit names that begin with a dot: `shopt -s dotglob`.
    pub(super) dots: bool,
}

impl<'v> Variables<'v> {
    pub(super) fn of(
        commands: &[Arguments<'_>],
        surroundings: &'v Surroundings,
        cwd: &'v Path,
        platform: Platform,
    ) -> Self {
        let mut set = Vec::new();
        let mut dots = false;
        for given in commands {
            let command = given.command;
            for word in command.assignments.iter().chain(&command.words) {
                dots |= word.text.contains("glob");
                if let Some((name, value)) = word.text.split_once('=')
                    && name_length(name) == name.len()
                    && !name.is_empty()
                {
                    let pair = (name.to_owned(), value.to_owned());
                    if !set.contains(&pair) {
                        set.push(pair);
                    }
                }
            }
        }
        Self { surroundings, cwd, platform, set, dots }
    }

    /// Returns the values that a variable may have.
    pub(super) fn values(&self, name: &str) -> Vec<String> {
        let set = self.set.iter().filter(|(known, value)| known == name && !value.contains('$'));
        let mut values: Vec<String> = set.map(|(_, value)| value.clone()).collect();
        values.extend(self.of_environment(name));
        values
    }

    fn of_environment(&self, name: &str) -> Option<String> {
        match name {
            // The variables of the agent's shell, which is elsewhere.
            "PWD" => self.cwd.to_str().filter(|cwd| !cwd.is_empty()).map(str::to_owned),
            "OLDPWD" => None,
            "HOME" if self.platform.has_drives => {
                self.surroundings.home()?.to_str().map(str::to_owned)
            }
            name => Some(self.surroundings.var(name)?.to_str()?.to_owned()),
        }
    }

    /// Returns a text with `~` and variables replaced, if each of them has one value that is known.
    pub(super) fn expanded(&self, text: &str) -> Option<String> {
        let text = &text.replace(['"', '\''], "");
        let text = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.surroundings.home()?.to_str()?)
            }
            Some(_) => return None,
            None => text.to_owned(),
        };
        let one = |name: &str| {
            let mut set =
                self.set.iter().filter(|(known, _)| known == name).map(|(_, value)| value);
            match (set.next(), set.next()) {
                (Some(value), None) => vec![self.plain(value)],
                (Some(_), Some(_)) => Vec::new(),
                (None, _) => self.of_environment(name).into_iter().collect(),
            }
        };
        // The last version has every variable replaced that can be.
        let whole = versions(&text, &one).pop()?;
        let is_known = !whole.contains([UNKNOWN, '$', '`']);
        if is_known { Some(whole) } else { None }
    }

    /// Returns the value of a variable that the call sets; a temporary directory has an unknown name.
    fn plain(&self, value: &str) -> String {
        if value.starts_with("$(mktemp") {
            return format!("{}/mktemp", self.surroundings.temp_dir().display());
        }
        let text = without_substitutions(value);
        self.expanded_home(&text).unwrap_or(text)
    }

    fn expanded_home(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~').or_else(|| text.strip_prefix("$HOME"))?;
        Some(format!("{}{rest}", self.surroundings.home()?.to_str()?))
    }
}

/// Returns the directory that each command runs in, if it is known: `cd` changes it.
pub(super) fn tracked(
    commands: &[Arguments<'_>],
    cwd: &Path,
    variables: &Variables<'_>,
) -> Vec<Option<PathBuf>> {
    let mut directory = Some(cwd.to_owned());
    let mut directories = Vec::new();
    for given in commands {
        directories.push(directory.clone());
        match given.program.as_deref() {
            Some("cd" | "pushd") => {
                directory = match given.operands.first() {
                    None => variables.surroundings.home().map(Path::to_owned),
                    Some(word) => went(word, directory.as_deref(), variables),
                };
            }
            Some("popd") => directory = None,
            _ => {}
        }
    }
    directories
}

fn went(word: &Word, from: Option<&Path>, variables: &Variables<'_>) -> Option<PathBuf> {
    let text = if word.is_known() { word.text.clone() } else { variables.expanded(&word.text)? };
    if text == "-" || text.contains(['*', '?', '[']) {
        return None;
    }
    if text.starts_with('/') {
        return Some(lexical(Path::new(&text)));
    }
    Some(lexical(&from?.join(text)))
}
