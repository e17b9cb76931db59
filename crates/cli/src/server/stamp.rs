//! Whether files are still the ones that were read.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use hookexec::internal::Place;

use crate::system::Stamp;

/// How coarse the clock of a file system is: two changes so close may carry the same time.
const COARSE: Duration = Duration::from_millis(20);

/// How long a reading may take, so that no file is likely to change meanwhile.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Places in the file system and what was found there, also where that was nothing.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    places: Vec<(Place, Option<Stamp>)>,
    /// Until when a change might go unnoticed, because the newest was made while they were read.
    unsettled_until: Option<SystemTime>,
    /// When what was read counts no more.
    expires: Option<SystemTime>,
}

impl Stamps {
    /// Looks at `places`, whose content was read from `since` on.
    pub(super) fn take(places: Vec<Place>, since: SystemTime) -> Self {
        let stamp = |place: Place| {
            let stamp = stamp_of(&place);
            (place, stamp)
        };
        let places: Vec<_> = places.into_iter().map(stamp).collect();
        let newest = places.iter().filter_map(|(_, stamp)| stamp.as_ref()).map(Stamp::time).max();
        let unsettled_until = newest.map(|newest| newest + COARSE).filter(|until| *until > since);
        Self { places, unsettled_until, expires: None }
    }

    /// Returns the places.
    pub(super) fn places(&self) -> Vec<Place> {
        self.places.iter().map(|(place, _)| place.clone()).collect()
    }

    /// Takes what was found at the places `before` they were read: what has changed since may have been
    /// read as it was. New places are read once more if the reading, which began at `since`, took long.
    pub(super) fn noted_before(mut self, before: Self, since: SystemTime) -> Self {
        let mut known: BTreeMap<_, _> = before.places.into_iter().collect();
        let mut has_new = false;
        for (place, stamp) in &mut self.places {
            match known.remove(place) {
                Some(before) => *stamp = before,
                None => has_new = true,
            }
        }
        let at_once = since.elapsed().is_ok_and(|took| took <= AT_ONCE);
        if has_new && !at_once {
            self.unsettled_until = Some(SystemTime::UNIX_EPOCH);
        }
        self
    }

    /// Makes them outdated from a time on.
    pub(super) fn until(self, expires: Option<SystemTime>) -> Self {
        Self { expires, ..self }
    }

    /// Returns whether something may have changed since.
    pub(super) fn outdated(&self) -> bool {
        let is_over = |until: &SystemTime| SystemTime::now() >= *until;
        self.unsettled_until.iter().chain(&self.expires).any(is_over)
            || self.places.iter().any(|(place, stamp)| stamp_of(place) != *stamp)
    }
}

fn stamp_of(place: &Place) -> Option<Stamp> {
    Some(Stamp::new(place.path(), &place.metadata()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn settled(places: &[&Path]) -> Stamps {
        let places = || places.iter().map(|path| Place::at(path.to_path_buf())).collect();
        loop {
            let stamps = Stamps::take(places(), SystemTime::now());
            if stamps.unsettled_until.is_none() {
                return stamps;
            }
            std::thread::sleep(COARSE);
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

    #[test]
    fn what_was_just_written_is_read_once_more() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hooks.yaml");
        fs::write(&file, "a").unwrap();
        let stamps = Stamps::take(vec![Place::at(file)], SystemTime::now());
        // On a machine that is stopped in between, the time may be over already.
        if stamps.unsettled_until.is_some() {
            while !stamps.outdated() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        assert!(stamps.outdated() || stamps.unsettled_until.is_none());
    }
}
