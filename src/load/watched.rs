//! Where a change would make a difference to what was loaded.

use std::path::PathBuf;

use super::directory::FILE;
use super::layers::LoadOptions;
use super::loading::Loaded;
use super::search::{managed_directory, user_directory, watched_search};
use crate::directories::{DROP_INS, PROJECT_DIRECTORY};

impl Loaded {
    /// Returns every place that [`Loaded::load`] looked at: files, directories whose
    /// entries count, and places where there is nothing yet. For programs that keep a configuration
    /// and want to know when to load it anew.
    pub fn places(&self, options: &LoadOptions) -> Vec<PathBuf> {
        let mut directories = vec![managed_directory(options)];
        let mut places = self.config.files.clone();
        places.extend(options.files.iter().cloned());
        if !options.isolated {
            directories.extend(user_directory(options));
            for directory in watched_search(options) {
                places.push(directory.join(FILE));
                directories.push(directory.join(PROJECT_DIRECTORY));
            }
            // An approval given or taken back, and the scripts that one was given for.
            places.extend(options.trust_store().map(|store| store.directory().to_owned()));
            for file in &self.project_files {
                places.extend(file.bundle.files().into_iter().map(|file| file.path));
                // A script that is restored, or that appears where a hook looks first.
                let absent = file.bundle.covered().flat_map(|hook| hook.absent.values());
                places.extend(absent.cloned());
            }
        }
        places.extend(directories.iter().flat_map(|directory| {
            // The directory of drop-ins changes when one comes or goes; those there are files above.
            [directory.join(FILE), directory.join(DROP_INS)]
        }));
        places.sort();
        places.dedup();
        places
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn whatever_is_or_could_be_read_is_among_the_places() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        write("project/.git/HEAD", "");
        write("project/hooks.yaml", "stop: [{ type: command, command: ./stop.sh }]");
        write("project/stop.sh", "");
        write("project/sub/.hookexec/hooks.d/a.yaml", "{}");
        let mut options = LoadOptions {
            working_dir: Some(at("project/sub")),
            home: Some(at("home")),
            managed_dir: Some(at("managed")),
            trust_dir: Some(at("trust")),
            files: vec![at("named.yaml")],
            // The scripts of a file count once it is approved, or only shown.
            only_show: true,
            ..LoadOptions::default()
        };
        fs::write(at("named.yaml"), "{}").unwrap();

        let places = Loaded::load(&options).unwrap().places(&options);
        for place in [
            "managed/hooks.yaml",
            "managed/hooks.d",
            "home/.config/hookexec/hooks.yaml",
            "home/.config/hookexec/hooks.d",
            "project/hooks.yaml",
            "project/stop.sh",
            "project/.hookexec/hooks.yaml",
            "project/.hookexec/hooks.d",
            "project/sub/hooks.yaml",
            "project/sub/.hookexec/hooks.d",
            "project/sub/.hookexec/hooks.d/a.yaml",
            "trust",
            "named.yaml",
        ] {
            assert!(places.contains(&at(place)), "{place}: {places:#?}");
        }
        assert!(!places.contains(&at("hooks.yaml")), "above the repository: {places:#?}");

        options.isolated = true;
        let places = Loaded::load(&options).unwrap().places(&options);
        assert_eq!(places, ["managed/hooks.d", "managed/hooks.yaml", "named.yaml"].map(at));
    }
}
