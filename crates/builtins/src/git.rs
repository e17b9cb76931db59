//! Asking git about a repository that may be hostile.
//!
//! A repository's own configuration can name programs that git runs on the most harmless command:
//! a file system monitor, hooks, pagers, external diffs, text converters, content filters,
//! signature checkers, transports. Everything here keeps each of them from running. It can also say
//! that its files lie somewhere else (`core.worktree`): that is not believed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::names::{GIT_SETTINGS, GIT_VARIABLES};
use hookexec::registry::BuiltinError;
use hookexec_calls::Surroundings;
use hookexec_files::bounded::{Beginning, read_beginning};
use hookexec_files::files;
use hookexec_files::platform::system::canonical;

/// How long git may take; a builtin that waits longer delays the agent for no good.
const PATIENCE: Duration = Duration::from_secs(10);

/// A repository, by a directory inside it.
pub(super) struct Git {
    program: PathBuf,
    directory: PathBuf,
    env: Vec<(OsString, OsString)>,
    settings: Vec<(String, String)>,
}

impl Git {
    /// Returns the repository that `directory` is in; `None` without a repository, a directory or
    /// git.
    ///
    /// # Errors
    /// When git says anything but "not a git repository".
    pub(super) fn open(
        surroundings: &Surroundings,
        directory: &str,
    ) -> Result<Option<Self>, BuiltinError> {
        if !Path::new(directory).is_absolute() {
            return Ok(None);
        }
        let Ok(directory) = canonical(directory) else { return Ok(None) };
        let Some(work_tree) = directory.ancestors().find(|place| place.join(".git").exists())
        else {
            return Ok(None);
        };
        let Some(program) = find_program(surroundings, "git") else { return Ok(None) };
        let mut env = vec![("GIT_WORK_TREE".into(), work_tree.into())];
        for (name, value) in surroundings.env() {
            // GIT_DIR and its like would lead elsewhere, and some name programs.
            if !name.as_encoded_bytes().starts_with(b"GIT_") {
                env.push((name.clone(), value.clone()));
            }
        }
        for (name, value) in pairs(GIT_VARIABLES) {
            env.push((name.into(), value.into()));
        }
        let settings = pairs(GIT_SETTINGS);
        let mut git = Self { program, directory, env, settings };
        match git.run(&["rev-parse", "--is-inside-work-tree"])? {
            Ok(text) if text.trim() == "true" => {}
            Ok(_) => return Ok(None),
            Err(error) if error.contains("not a git repository") => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        git.switch_filters_off()?;
        Ok(Some(git))
    }

    /// Returns what git prints, without trailing blanks; cut at 256 KiB.
    pub(super) fn ask(&self, args: &[&str]) -> Result<String, BuiltinError> {
        Ok(hookexec_files::plain::plain(self.run(args)??.trim_end()))
    }

    /// Makes the content filters that the repository itself configures do nothing. `git status`
    /// and `git diff` would run them on files whose time stamps changed.
    fn switch_filters_off(&mut self) -> Result<(), BuiltinError> {
        let listed = self.run(&[
            "config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\.",
        ])?;
        // Nothing configured is exit code 1.
        let Ok(listed) = listed else { return Ok(()) };
        let mut drivers = BTreeSet::new();
        let mut fields = listed.split('\0');
        while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
            let theirs = !matches!(scope, "system" | "global" | "command");
            if theirs && let Some((driver, _)) = key.rsplit_once('.') {
                drivers.insert(driver.to_owned());
            }
        }
        for driver in drivers {
            for (setting, value) in
                [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")]
            {
                self.settings.push((format!("{driver}.{setting}"), value.to_owned()));
            }
        }
        Ok(())
    }

    fn run(&self, args: &[&str]) -> Result<Answer, BuiltinError> {
        let mut env = self.env.clone();
        // As variables and not as `-c key=value`: a filter's name may contain a `=`.
        env.push(("GIT_CONFIG_COUNT".into(), self.settings.len().to_string().into()));
        for (index, (key, value)) in self.settings.iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{index}").into(), key.into()));
            env.push((format!("GIT_CONFIG_VALUE_{index}").into(), value.into()));
        }
        let reader = duct::cmd(&self.program, [&["--no-pager"], args].concat())
            .dir(&self.directory)
            .full_env(env)
            .stdin_null()
            .stderr_capture()
            .unchecked()
            .reader()
            .map_err(|error| format!("{} can't be started: {error}", self.program.display()))?;
        read(&reader, args)
    }
}

/// Splits `NAME=value`.
fn pairs(rows: &[&str]) -> Vec<(String, String)> {
    let pairs = rows.iter().filter_map(|row| row.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The output of git; if it exited with an error, the first line of what it said.
type Answer = Result<String, String>;

/// Reads until git ends, time is up or enough is read; in the latter two cases it is killed.
fn read(reader: &duct::ReaderHandle, args: &[&str]) -> Result<Answer, BuiltinError> {
    let (done, watched) = mpsc::channel::<()>();
    let (output, in_time) = std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let in_time = watched.recv_timeout(PATIENCE) != Err(mpsc::RecvTimeoutError::Timeout);
            if !in_time {
                // Fails only when it ended just now.
                let _ = reader.kill();
            }
            in_time
        });
        let result = read_beginning(reader, 256 * 1024);
        drop(done);
        (result, watch.join().unwrap_or(true))
    });
    if !in_time {
        return Err(
            format!("git {} took longer than {} s", args.join(" "), PATIENCE.as_secs()).into()
        );
    }
    let Beginning { bytes, is_cut } = output?;
    // A character may have been cut in two.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if is_cut {
        reader.kill()?;
        return Ok(Ok(text));
    }
    match reader.try_wait()? {
        Some(ended) if ended.status.success() => Ok(Ok(text)),
        Some(ended) => {
            let error = String::from_utf8_lossy(&ended.stderr);
            Ok(Err(error.lines().next().unwrap_or("git failed").to_owned()))
        }
        None => Err("git closed its output and went on".into()),
    }
}

/// Returns the absolute path of a program: a name alone would be looked up in a relative `PATH`
/// entry, and be slower to start.
fn find_program(surroundings: &Surroundings, name: &str) -> Option<PathBuf> {
    files::programs(name.as_ref(), surroundings.var("PATH")?).find(|path| files::is_program(path))
}
