//! Files for what is too large, private to the user and deleted with the session.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use hookexec_files::files::{create_private, digest};
use hookexec_files::platform::system;

/// The directory of one session's files.
///
/// Its place follows from the user and the session alone, so that separate processes find the same.
#[derive(Debug)]
pub(super) struct Spill {
    all: PathBuf,
    own: PathBuf,
}

impl Spill {
    pub(super) fn of_session(temp_dir: &Path, session: &str) -> Self {
        let all = temp_dir.join(format!("hookexec-{}", system::user_id()));
        // A session's id is the host's text and may not be a valid file name.
        let own = all.join(short_digest(session.as_bytes()));
        Self { all, own }
    }

    /// Writes `text` into a file and returns its path; the same text goes into the same file.
    pub(super) fn keep(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        private_directory(&self.all)?;
        private_directory(&self.own)?;
        let mut name = name
            .replace(|letter: char| !letter.is_ascii_alphanumeric() && !"_-".contains(letter), "");
        name.truncate(40);
        let path = self.own.join(format!("{name}-{}.txt", short_digest(text.as_bytes())));
        if path.is_file() {
            return Ok(path);
        }
        if size(&self.own)? + text.len() as u64 > 256 << 20 {
            return Err(io::Error::other("the session keeps too much already"));
        }
        match create_private(&path, text.as_bytes()) {
            // Another process was faster.
            Err(_) if path.is_file() => Ok(path),
            Err(error) => Err(error),
            Ok(()) => Ok(path),
        }
    }

    /// Deletes the files of the session, and those of sessions that were forgotten.
    pub(super) fn delete(&self, session: &str) -> io::Result<()> {
        if !self.all.exists() {
            return Ok(());
        }
        private_directory(&self.all)?;
        // Hosts that name no session share one place, which one of them must not delete.
        if !session.is_empty() && self.own.exists() {
            private_directory(&self.own)?;
            fs::remove_dir_all(&self.own)?;
        }
        let now = SystemTime::now();
        for entry in fs::read_dir(&self.all)? {
            let entry = entry?;
            let Ok(data) = entry.metadata() else { continue };
            // Forgotten files stay a week.
            if data.is_dir()
                && let Ok(then) = data.modified()
                && matches!(now.duration_since(then), Ok(age) if age > Duration::from_hours(7 * 24))
            {
                match fs::remove_dir_all(entry.path()) {
                    // Another session's end was faster.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    deleted => deleted?,
                }
            }
        }
        Ok(())
    }
}

/// Makes a directory that only the user can enter, or checks that it is one: other users can create
/// files of any name in the directory for temporary files.
fn private_directory(path: &Path) -> io::Result<()> {
    match system::make_private_directory(path, false) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    if system::is_private_directory(path)? {
        Ok(())
    } else {
        let problem = format!("{} is not a private directory of this user", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
    }
}

fn size(directory: &Path) -> io::Result<u64> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

fn short_digest(bytes: &[u8]) -> String {
    digest(bytes)[..16].to_owned()
}
