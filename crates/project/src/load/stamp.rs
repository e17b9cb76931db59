//! Whether files are still the ones that were read.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use self::system::Stamp;
use super::watched::{Place, Watch};

#[cfg_attr(unix, path = "stamp/unix.rs")]
#[cfg_attr(windows, path = "stamp/windows.rs")]
mod system;

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
