//! Files and texts in, a [`Config`] or its problems out.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::model::Config;
use super::reader::Reader;
use super::source::{Location, SourceFile};
use super::yaml;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

impl Config {
    /// Reads a configuration from `text`; `path` is what messages call it.
    ///
    /// # Errors
    /// All problems of the text, when one of them is an error.
    pub fn from_yaml(text: &str, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let mut loading = Loading::default();
        loading.text(text, path.as_ref());
        loading.finish()
    }

    /// Reads a configuration from one file.
    ///
    /// # Errors
    /// All problems of the file, when one of them is an error.
    pub fn load_file(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let mut loading = Loading::default();
        loading.file(path.as_ref());
        loading.finish()
    }
}

/// A configuration on its way in: what could be read so far, and what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Loading {
    /// What is sound; broken hooks are left out.
    pub(crate) config: Config,
    /// Errors and warnings, in the order of the files.
    pub(crate) problems: Diagnostics,
}

impl Loading {
    /// Returns the configuration when nothing in it is wrong.
    pub(crate) fn finish(mut self) -> Result<Config, Diagnostics> {
        if self.problems.has_errors() {
            return Err(self.problems);
        }
        self.config.warnings.extend(self.problems);
        Ok(self.config)
    }

    fn file(&mut self, path: &Path) {
        let mut bytes = Vec::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
        if let Err(error) = read {
            let message = format!("can't read {}: {error}", path.display());
            self.problems.push(Diagnostic::error(message));
            return;
        }
        if bytes.len() as u64 > MAX_FILE {
            let message = format!("{} is larger than 1 MiB", path.display());
            self.problems.push(Diagnostic::error(message));
            return;
        }
        if let Ok(text) = String::from_utf8(bytes) {
            self.text(&text, path);
        } else {
            let message = format!("{} is not UTF-8", path.display());
            self.problems.push(Diagnostic::error(message));
        }
    }

    fn text(&mut self, text: &str, path: &Path) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.config.files.push(path.to_owned());
        let file = Arc::new(SourceFile::new(path, text));
        match yaml::parse(&file.text) {
            Ok(root) => {
                let mut reader = Reader::new(Arc::clone(&file));
                reader.document(&root, &mut self.config);
                self.problems.extend(reader.into_problems());
            }
            Err(error) => {
                let mut problem = Diagnostic::error(error.message);
                problem.hint = error.hint.map(str::to_owned);
                self.problems.push(problem.at(Location::new(file, error.range)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Event;
    use crate::config::{Command, OnError};

    #[test]
    fn a_normal_file_is_read() {
        let text = r#"
defaults: { timeout: 10, on_error: block }
processes:
  weather: { command: [python3, ./weather.py], provides: [get_weather] }
hooks:
  pre_tool_use:
    - matcher: "shell|edit_file"
      hooks:
        - { type: command, command: ./check.sh, timeout: 500ms }
        - { type: command, command: [python3, check.py], mutates: true }
        - { type: process, command: weather }
  session_start:
    - { type: command, command: ./setup.sh, env: { PORT: 8080, MODE: 0777 } }
  stop: { type: builtin, command: log, args: [20, "x"], enabled: false }
"#;
        let config = Config::from_yaml(text, "hooks.yaml").unwrap();
        let commands: Vec<String> = config.hooks.iter().map(super::super::Hook::label).collect();
        assert_eq!(commands, ["./check.sh", "python3 check.py", "weather", "./setup.sh", "log"]);
        assert_eq!(config.hooks[0].timeout, Duration::from_millis(500));
        assert_eq!(config.hooks[1].timeout, Duration::from_secs(10));
        assert!(config.hooks[0].matcher.matches("edit_file"));
        assert!(!config.hooks[0].matcher.matches("read_file"));
        assert_eq!(config.hooks[0].on_error, Some(OnError::Block));
        assert_eq!(config.hooks[3].on_error, Some(OnError::Warn));
        assert_eq!(config.hooks[3].event, Event::SessionStart);
        assert_eq!(config.hooks[3].env["MODE"], "0777");
        assert_eq!(config.hooks[4].args, ["20", "x"]);
        assert_eq!(config.hooks[4].command, Some(Command::Text("log".into())));
        assert!(!config.hooks[4].enabled);
        assert_eq!(config.hooks[0].location.to_string(), "hooks.yaml:9");
        assert_eq!(config.processes["weather"].provides, ["get_weather"]);
    }

    #[test]
    fn all_problems_of_a_text_are_found_at_once() {
        let text = "stop:\n- type: command\n- { type: command, command: a, timeout: 0, tiemout: 3 }\npre_tool_us: []\n";
        let problems = Config::from_yaml(text, "x.yaml").unwrap_err();
        assert_eq!(
            problems.to_string(),
            "x.yaml:2: a hook needs a `command`\n\
             x.yaml:3: unknown key `tiemout` in a hook\n\
             x.yaml:3: `timeout` leaves no time: `0`\n\
             x.yaml:4: unknown key `pre_tool_us`"
        );
    }
}
