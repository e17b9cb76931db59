//! Where a change would make a difference to what was loaded.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::directory::FILE;
use super::loading::Loaded;
#[cfg(test)]
use super::loading::load;
use super::options::{LoadOptions, hooks_directories};
use crate::layout::link_to;
use crate::policy::Policy;
use hookexec_files::directories::{DROP_INS, PROJECT_DIRECTORY};

/// A place that was looked at: a file, a directory whose entries count, or nothing yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub(super) path: PathBuf,
    pub(super) watch: Watch,
}

/// The part of a place that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watch {
    /// The target, where links are followed.
    Target,
    /// The place of a project's hooks, which are not read through links.
    Plain,
    /// The owner and the rights of a directory alone: files come and go in it.
    Rights,
}

impl Place {
    /// Returns the place at `path`, where links are followed.
    pub fn at(path: PathBuf) -> Self {
        Self { path, watch: Watch::Target }
    }

    /// Returns what is there now. A link that leads nowhere, or that is not followed, is there itself. Takes
    /// microseconds, whatever a project puts there.
    ///
    /// # Errors
    /// When nothing is there, or it can't be looked at.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        if self.watch == Watch::Plain
            && let Some(link) = link_to(&self.path)
        {
            return fs::symlink_metadata(link);
        }
        fs::metadata(&self.path).or_else(|_| fs::symlink_metadata(&self.path))
    }
}

impl Loaded {
    /// Returns when it must be loaded anew, whether a place has changed or not: when a policy ends.
    pub fn expires(&self) -> Option<SystemTime> {
        let now = SystemTime::now();
        let ends = self.policies.iter().filter_map(Policy::expires_at);
        ends.filter(|end| *end > now).min()
    }

    /// Returns every place that [`load`](super::load) looked at. For programs that keep a configuration
    /// and want to know when to load it anew.
    pub fn places(&self, options: &LoadOptions) -> Vec<Place> {
        let mut places = Vec::new();
        for file in &options.files {
            places.push(Place::at(file.clone()));
        }
        let mut of_project = Vec::new();
        let mut directories = vec![options.managed_directory()];
        if !options.isolated {
            directories.extend(options.user_directories());
            let mut search = options.surroundings();
            if !search.has_end {
                // A `.git` made above would change what is loaded.
                search.project.append(&mut search.above);
            }
            for project in &search.project {
                let (git, own) = (project.join(".git"), project.join(PROJECT_DIRECTORY));
                // The directory of drop-ins changes when one comes or goes.
                let drop_ins = own.join(DROP_INS);
                for path in [project.join(FILE), own.join(FILE), drop_ins, git, own] {
                    places.push(Place { path, watch: Watch::Plain });
                }
            }
            of_project = hooks_directories(&search.project);
            let others = options.directories_of_higher_layers();
            of_project.retain(|directory| !others.contains(directory));
            // An approval given or taken back, and where the paths lead that it is for.
            if let Some(store) = options.trust_store() {
                places.push(Place::at(store.directory().to_owned()));
            }
            for file in &self.project_files {
                for path in &file.places {
                    places.push(Place::at(path.clone()));
                }
            }
        }
        for path in &self.config.files {
            let is_plain = of_project.iter().any(|own| path.parent() == Some(own));
            let watch = if is_plain { Watch::Plain } else { Watch::Target };
            places.push(Place { path: path.clone(), watch });
        }
        // Another user who may write above a file can replace it.
        let mut above = BTreeSet::new();
        for place in &places {
            for directory in place.path.ancestors().skip(1) {
                above.insert(directory.to_owned());
            }
        }
        for directory in directories {
            for directory in directory.ancestors() {
                above.insert(directory.to_owned());
            }
            places.push(Place::at(directory.join(FILE)));
            places.push(Place::at(directory.join(DROP_INS)));
        }
        for directory in above {
            places.push(Place { path: directory, watch: Watch::Rights });
        }
        for policy in &self.policies {
            places.push(Place::at(policy.store.state_file()));
            for file in &policy.files {
                places.push(Place::at(file.clone()));
            }
        }
        places.sort();
        places.dedup();
        places
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

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
            only_show: true,
            ..LoadOptions::default()
        };
        fs::write(at("named.yaml"), "{}").unwrap();
        // What the commands of a file name counts once it is approved.
        let store = options.trust_store().unwrap();
        for file in &load(&options).unwrap().project_files {
            store.add(file).unwrap();
        }
        options.only_show = false;

        let has = |places: &[Place], path: &str| places.iter().any(|place| place.path == at(path));
        let places = load(&options).unwrap().places(&options);
        for place in [
            "managed/hooks.yaml",
            "managed/hooks.d",
            "home/.config/hookexec/hooks.yaml",
            "home/.config/hookexec/hooks.d",
            "project/hooks.yaml",
            "project/.git",
            "project/sub/.git",
            "project/sub/stop.sh",
            "project/.hookexec/hooks.yaml",
            "project/.hookexec/hooks.d",
            "project/sub/hooks.yaml",
            "project/sub/.hookexec/hooks.d",
            "project/sub/.hookexec/hooks.d/a.yaml",
            "trust",
            "named.yaml",
        ] {
            assert!(has(&places, place), "{place}: {places:#?}");
        }
        assert!(!has(&places, "hooks.yaml"), "above the repository: {places:#?}");

        options.isolated = true;
        let mut places = load(&options).unwrap().places(&options);
        places.retain(|place| place.watch != Watch::Rights);
        let named = ["managed/hooks.d", "managed/hooks.yaml", "named.yaml"];
        assert_eq!(places, named.map(|path| Place::at(at(path))));
    }

    #[test]
    fn links_to_the_users_files_are_followed_where_an_agent_works_beside_them() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let file = root.join("user/hooks.d/a.yaml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{}").unwrap();
        let options = LoadOptions {
            working_dir: file.parent().map(Path::to_owned),
            home: Some(root.join("home")),
            user_dir: Some(root.join("user")),
            managed_dir: Some(root.join("managed")),
            trust_dir: Some(root.join("trust")),
            ..LoadOptions::default()
        };
        let places = load(&options).unwrap().places(&options);
        let places: Vec<_> = places.into_iter().filter(|place| place.path == file).collect();
        assert_eq!(places, [Place::at(file)]);
    }
}
