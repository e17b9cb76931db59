//! Where a change would make a difference to what was loaded, and whether something has changed there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use self::system::Stamp;
use super::layers::FILE;
use super::loading::Loaded;
use super::options::{LoadOptions, hooks_directories};
use crate::layout::link_to;
use crate::policy::Policy;
use hookexec_files::directories::{DROP_INS, PROJECT_DIRECTORY};

#[cfg_attr(unix, path = "stamp/unix.rs")]
#[cfg_attr(windows, path = "stamp/windows.rs")]
mod system;

/// A place that was looked at: a file, a directory whose entries count, or nothing yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    path: PathBuf,
    watch: Watch,
}

/// The part of a place that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Watch {
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
    fn metadata(&self) -> io::Result<Metadata> {
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

/// Places in the file system and what was found there, also where that was nothing.
#[derive(Debug, Default)]
pub struct Stamps {
    places: BTreeMap<Place, PlaceStamp>,
    /// From when on they count no more.
    end: Option<SystemTime>,
}

impl Stamps {
    /// Looks at `places`, whose content is read from `since` on and counts until `expires`. For a place
    /// that `before` has, that counts: what has changed since may have been read as it was.
    pub fn take(
        places: Vec<Place>,
        mut before: Self,
        since: SystemTime,
        expires: Option<SystemTime>,
    ) -> Self {
        let (mut stamps, mut newest, mut has_new) = (BTreeMap::new(), None, false);
        for place in places {
            let known = before.places.remove(&place);
            has_new |= known.is_none();
            let stamp = known.unwrap_or_else(|| stamp_of(&place));
            if let Ok(found) = &stamp {
                newest = newest.max(Some(found.time()));
            }
            stamps.insert(place, stamp);
        }
        // Another change of the newest place might go unnoticed: the clock of a file system is coarse, and
        // two changes so close may carry the same time.
        let coarse = Duration::from_millis(20);
        let settled = match newest {
            Some(newest) if newest + coarse > since => Some(newest + coarse),
            _ => None,
        };
        // How long a reading may take, so that no file is likely to change meanwhile.
        let at_once = matches!(since.elapsed(), Ok(took) if took <= Duration::from_millis(50));
        // A new place may have changed while the others were read.
        let slow = if has_new && !at_once { Some(SystemTime::UNIX_EPOCH) } else { None };
        let end = [settled, slow, expires].into_iter().flatten().min();
        Self { places: stamps, end }
    }

    /// Looks at the same places again, at the time `since`.
    #[must_use]
    pub fn again(&self, since: SystemTime) -> Self {
        Self::take(self.places.keys().cloned().collect(), Self::default(), since, None)
    }

    /// Returns whether something may have changed since. Takes microseconds for each place.
    pub fn outdated(&self) -> bool {
        if let Some(end) = self.end
            && SystemTime::now() >= end
        {
            return true;
        }
        self.places.iter().any(|(place, stamp)| stamp_of(place) != *stamp)
    }
}

/// The state of a place. One that can't be looked at is another state than one where nothing is.
type PlaceStamp = Result<Stamp, ErrorKind>;

fn stamp_of(place: &Place) -> PlaceStamp {
    match place.metadata() {
        Ok(found) if place.watch == Watch::Rights => Ok(Stamp::without_content(&found)),
        Ok(found) => Ok(Stamp::with_content(&place.path, &found)),
        Err(error) => Err(error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::load::load;

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

    fn settled(places: &[&Path]) -> Stamps {
        let places = || places.iter().map(|path| Place::at(path.to_path_buf())).collect();
        loop {
            let stamps = Stamps::take(places(), Stamps::default(), SystemTime::now(), None);
            if stamps.end.is_none() {
                return stamps;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn every_change_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hooks.yaml");
        let other = directory.path().join("other.yaml");
        let stamps = settled(&[&file]);
        assert!(!stamps.outdated());
        fs::write(&file, "a").unwrap();
        assert!(stamps.outdated(), "it appeared");

        let stamps = settled(&[&file]);
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "b").unwrap();
        fs::File::open(&file).unwrap().set_modified(before).unwrap();
        assert!(stamps.outdated(), "as long as before, and its time set back");

        let stamps = settled(&[&file]);
        fs::write(&other, "b").unwrap();
        assert!(!stamps.outdated(), "another file");
        fs::rename(&other, &file).unwrap();
        assert!(stamps.outdated(), "replaced");

        let stamps = settled(&[&file, directory.path()]);
        fs::write(&other, "b").unwrap();
        assert!(stamps.outdated(), "new in the directory");

        let stamps = settled(&[&file]);
        fs::remove_file(&file).unwrap();
        assert!(stamps.outdated(), "it is gone");
    }

    #[cfg(unix)]
    #[test]
    fn a_broken_place_and_changed_rights_are_seen() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hooks.yaml");
        let stamps = settled(&[&file]);
        symlink("gone", &file).unwrap();
        assert!(stamps.outdated(), "a link that leads nowhere");

        let own = directory.path().join(".hookexec");
        let stamps = settled(&[&own.join("hooks.yaml")]);
        fs::write(&own, "").unwrap();
        assert!(stamps.outdated(), "a file in the place of a directory");

        let place = Place { path: directory.path().to_path_buf(), watch: Watch::Rights };
        let since = SystemTime::now();
        let stamps = Stamps::take(vec![place], Stamps::default(), since, None);
        fs::write(directory.path().join("new"), "").unwrap();
        assert!(!stamps.outdated(), "a new file where only rights count");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(stamps.outdated(), "changed rights");
    }

    #[test]
    fn what_was_just_written_is_read_once_more() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hooks.yaml");
        fs::write(&file, "a").unwrap();
        let places = vec![Place::at(file)];
        let stamps = Stamps::take(places, Stamps::default(), SystemTime::now(), None);
        // On a machine that is stopped in between, the time may be over already.
        if stamps.end.is_some() {
            while !stamps.outdated() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        assert!(stamps.outdated() || stamps.end.is_none());
    }
}
