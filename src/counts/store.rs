//! The files of sessions. Each has mode 0600 and appears whole, by a rename; one lock is held while a
//! file is read and replaced.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, BufReader};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::session::Session;
use super::{CountError, MAX_COUNTED};
use crate::files::{open_unlinked, private_directory, replace_private, try_lock};
use crate::platform::system;

const ENDING: &str = "json";

/// Reads the counts of `session`, changes them and writes them back.
pub(super) fn change<T>(
    directory: &Path,
    session: &str,
    change: impl FnOnce(&mut Session) -> Result<T, CountError>,
) -> Result<T, CountError> {
    let path = directory.join(session).with_extension(ENDING);
    let lock = directory.join("lock");
    at(directory, check_directory(directory))?;
    // The lock ends when the file is closed, also when the process is killed.
    let _held = at(&lock, hold(&lock, Duration::from_secs(5)))?;
    let before = at(&path, read(&path))?;
    let mut after = before.clone().unwrap_or_default();
    let result = change(&mut after)?;
    if before.as_ref() != Some(&after) {
        if before.is_none() {
            at(directory, remove_oldest(directory))?;
        }
        let bytes = at(&path, serde_json::to_vec(&after))?;
        at(&path, replace_private(&path, &bytes))?;
    }
    Ok(result)
}

/// Returns a copy of the counts of `session`. A file is replaced whole, so that nothing needs to be
/// locked.
pub(super) fn look(directory: &Path, session: &str) -> Result<Session, CountError> {
    let path = directory.join(session).with_extension(ENDING);
    let found = at(&path, read(&path))?;
    Ok(found.unwrap_or_default())
}

/// Names the file in the error of work on it.
fn at<T, E: Into<io::Error>>(path: &Path, result: Result<T, E>) -> Result<T, CountError> {
    result.map_err(|cause| CountError::File { path: path.to_owned(), cause: cause.into() })
}

/// Makes the directory, and checks that no other user can enter it.
fn check_directory(directory: &Path) -> io::Result<()> {
    private_directory(directory)?;
    if system::is_private_directory(directory)? {
        return Ok(());
    }
    Err(io::Error::other("it is not a directory that only you can enter; move it away"))
}

/// Waits for the lock.
fn hold(path: &Path, patience: Duration) -> io::Result<File> {
    let until = Instant::now() + patience;
    loop {
        if let Some(lock) = try_lock(path)? {
            return Ok(lock);
        }
        if Instant::now() >= until {
            let problem = format!("another process has held it for {patience:?}");
            return Err(io::Error::other(problem));
        }
        sleep(Duration::from_millis(2));
    }
}

/// Returns the counts in a file; `None` when there is none.
fn read(path: &Path) -> io::Result<Option<Session>> {
    let file = match open_unlinked(OpenOptions::new().read(true), path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    system::check_owned(&file.metadata()?)?;
    match serde_json::from_reader(BufReader::new(file)) {
        Ok(session) => Ok(Some(session)),
        Err(problem) => {
            Err(io::Error::other(format!("{problem}; remove the file to count from 0")))
        }
    }
}

/// Removes what killed processes left, and the oldest sessions when there are too many. The lock is
/// held, so no other process writes here.
fn remove_oldest(directory: &Path) -> io::Result<()> {
    let mut sessions: Vec<DirEntry> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.path().extension().and_then(OsStr::to_str) {
            Some("draft") => fs::remove_file(entry.path())?,
            Some(ENDING) => sessions.push(entry),
            _ => {}
        }
    }
    if sessions.len() < MAX_COUNTED {
        return Ok(());
    }
    let mut by_age = Vec::new();
    for entry in sessions {
        by_age.push((entry.metadata()?.modified()?, entry.path()));
    }
    by_age.sort();
    // More than one goes, so that the next session needs no search.
    let too_many = by_age.len() - (MAX_COUNTED - MAX_COUNTED / 10);
    by_age.iter().take(too_many).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_not_waited_for_without_an_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = hold(&path, Duration::ZERO).unwrap();
        let error = hold(&path, Duration::from_millis(1)).unwrap_err();
        assert!(error.to_string().contains("another process has held it"), "{error}");
        drop(held);
        hold(&path, Duration::ZERO).unwrap();
    }
}
