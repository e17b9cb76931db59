//! A configuration that follows its files.

use std::time::SystemTime;

use super::loading::{Loaded, load};
use super::options::LoadOptions;
use super::watched::Stamps;
use crate::check::check;
use hookexec::Registry;
use hookexec::config::Diagnostics;

/// Tells when the hooks files change, and reads them anew.
///
/// It blocks while it reads: call it outside of an async task, or by `spawn_blocking`.
#[derive(Debug)]
pub struct Watcher {
    options: LoadOptions,
    registry: Registry,
    stamps: Stamps,
    /// The mistakes that were told last.
    told: Option<Diagnostics>,
}

impl Watcher {
    /// Loads the files for the first time, and watches them from then on. `registry` is that of the
    /// executor: with it all mistakes are found.
    ///
    /// # Errors
    /// All problems of all files, when one of them is an error.
    pub fn start(options: LoadOptions, registry: Registry) -> Result<(Self, Loaded), Diagnostics> {
        let mut watcher = Self { options, registry, stamps: Stamps::default(), told: None };
        let loaded = watcher.load()?;
        Ok((watcher, loaded))
    }

    /// Returns the configuration of the files if something has changed since it was called last. A file
    /// that no person approved is among [`Config::failed`](hookexec::Config::failed).
    ///
    /// # Errors
    /// All problems of all files, when one of them is an error: once for each change. The executor that is
    /// in use can stay, with what it was loaded from.
    pub fn changed(&mut self) -> Result<Option<Loaded>, Diagnostics> {
        if !self.stamps.outdated() {
            return Ok(None);
        }
        match self.load() {
            Ok(loaded) => {
                self.told = None;
                Ok(Some(loaded))
            }
            Err(problems) if self.told.as_ref() == Some(&problems) => Ok(None),
            Err(problems) => {
                self.told = Some(problems.clone());
                Err(problems)
            }
        }
    }

    /// Reads all files. What changes meanwhile is read once more.
    fn load(&mut self) -> Result<Loaded, Diagnostics> {
        let since = SystemTime::now();
        let before = self.stamps.again(since);
        let problems = check(&self.options, self.registry.clone()).problems;
        let loaded = if problems.has_errors() { Err(problems) } else { load(&self.options) };
        self.stamps = match &loaded {
            Ok(loaded) => {
                Stamps::take(loaded.places(&self.options), before, since, loaded.expires())
            }
            Err(_) => before,
        };
        loaded
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn changes_are_told_and_so_are_all_mistakes() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("user/hooks.yaml");
        fs::create_dir(root.path().join("user")).unwrap();
        let write = |text: &str| fs::write(&file, text).unwrap();
        write("stop: [{ type: command, command: one }]");
        let options = LoadOptions {
            working_dir: Some(root.path().to_owned()),
            home: Some(root.path().to_owned()),
            user_dir: Some(root.path().join("user")),
            managed_dir: Some(root.path().join("managed")),
            trust_dir: Some(root.path().join("trust")),
            ..LoadOptions::default()
        };
        let (mut watcher, loaded) = Watcher::start(options, Registry::new()).unwrap();
        assert_eq!(loaded.config.hooks.len(), 1);
        // A file that was just written is read once more.
        while watcher.stamps.outdated() {
            watcher.changed().unwrap();
            sleep(Duration::from_millis(5));
        }
        assert!(watcher.changed().unwrap().is_none());

        write("stop: [{ type: comand, command: one }]\nstopp: []");
        let problems = watcher.changed().unwrap_err();
        assert_eq!(problems.iter().count(), 2, "{problems}");
        assert!(watcher.changed().unwrap().is_none(), "they are told once");
        write("stop: []");
        let loaded = watcher.changed().unwrap().unwrap();
        assert!(loaded.config.hooks.is_empty());
        fs::remove_file(&file).unwrap();
        let loaded = watcher.changed().unwrap().unwrap();
        assert!(loaded.config.files.is_empty());
    }
}
