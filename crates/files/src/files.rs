//! Reads and writes whole files safely, and computes their digests.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::bounded::{read_beginning, read_expected};
use crate::platform::system;
use crate::platform::system::canonical;

/// Returns `path` absolute and without links, or as it is if nothing is there.
pub fn real(path: &Path) -> PathBuf {
    canonical(path).unwrap_or_else(|_| path.to_owned())
}

/// Opens a regular file for reading. A pipe or a device is an error and is not waited for.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = system::without_waiting(OpenOptions::new().read(true)).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

/// Returns the bytes of a regular file; an error when there are more than `most`.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_to_end(open_regular(path)?, most)
}

/// Returns the bytes of an open file; an error when there are more than `most`.
pub fn read_to_end(file: File, most: u64) -> io::Result<Vec<u8>> {
    // A pipe has no size to ask for.
    let expected = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    read_expected(file, expected, usize::try_from(most).unwrap_or(usize::MAX))
}

/// Returns where the program `name` can be on the search path `path`, in order. A directory that is
/// not absolute is passed over: a program that an agent wrote could take the place of another.
pub fn programs(name: &OsStr, path: &OsStr) -> impl Iterator<Item = PathBuf> + use<> {
    let names: Vec<_> = system::program_names(name).collect();
    let directories: Vec<PathBuf> = std::env::split_paths(path).collect();
    directories
        .into_iter()
        .filter(|directory| directory.is_absolute())
        .flat_map(move |directory| names.clone().into_iter().map(move |name| directory.join(name)))
}

/// Returns whether `path` leads to a file that can be executed.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && system::has_execute_bit(path, &data))
}

/// Returns whether a file is a script whose first line ends in a carriage return. A system takes that
/// for a part of the interpreter's name.
pub fn has_windows_line_ends(path: &Path) -> bool {
    // The first line is short: systems read no more of it.
    let start = open_regular(path).and_then(|file| read_beginning(file, 256));
    let Ok(start) = start else { return false };
    let line = start.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"#!") && line.ends_with(b"\r")
}

/// Returns the SHA-256 of `bytes` in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns the SHA-256 of a regular file in hexadecimal, and reduces `left` by its length; an error
/// when it has more than `left` bytes.
/// Only a piece of the file is in memory at a time.
pub fn digest_of_file(path: &Path, left: &mut u64) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        *left = left.checked_sub(read as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        hasher.update(&piece[..read]);
    }
}

/// Returns 128 random bits in hexadecimal.
pub fn random_id() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(hexadecimal(&bytes))
}

/// Returns `bytes` in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    // Without `format!`, which was a fifth of a start.
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 0xf)]));
    }
    text
}

/// Makes a directory, and those above it, that only the user can enter.
pub fn private_directory(path: &Path) -> io::Result<()> {
    system::make_private_directory(path, true)
}

/// Writes a file that only the user can read: whole, or not at all. An existing file stays as it is,
/// which is an error. Does not wait for the disk: after a crash the file may be empty.
pub fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (draft, mut file) = Draft::beside(path, true)?;
    file.write_all(bytes)?;
    // A second name never replaces a file, unlike a rename.
    fs::hard_link(&draft.0, path)
}

/// Writes a file that only the user can read: whole, by a rename, or not at all.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private_directory(directory)?;
    }
    replace(path, bytes, true, |_| Ok(()))
}

/// Like [`replace_private`], and every user can read the file, and start it if it `is_program`.
pub fn replace_shared(path: &Path, bytes: &[u8], is_program: bool) -> io::Result<()> {
    replace(path, bytes, true, |draft| system::share(draft, is_program))
}

/// Writes a file whole, by a rename, or not at all. The draft is private if it `is_private`, until
/// `prepare` agrees to it.
pub fn replace(
    path: &Path,
    bytes: &[u8],
    is_private: bool,
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let (draft, mut file) = Draft::beside(path, is_private)?;
    file.write_all(bytes)?;
    prepare(&file)?;
    file.sync_all()?;
    // Windows renames no open file.
    drop(file);
    fs::rename(&draft.0, path)
}

/// The path of a file that becomes another one. It is removed when it is dropped.
struct Draft(PathBuf);

impl Draft {
    /// Makes a file beside `path` that no other program knows.
    fn beside(path: &Path, is_private: bool) -> io::Result<(Self, File)> {
        let draft = path.with_added_extension(format!("{}.draft", random_id()?));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if is_private {
            system::private(&mut options);
        }
        let file = options.open(&draft)?;
        Ok((Self(draft), file))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It has another name by now, or none.
        let _ = fs::remove_file(&self.0);
    }
}

/// Opens a regular file by `options`, and no link. A pipe in its place must not hold every event up.
pub fn open_unlinked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = match system::without_links(options).open(path) {
        Err(error) if system::is_link(&error) => return Err(io::Error::other("it is a link")),
        opened => opened?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file)
}

/// Opens the file at `path` to lock it. It is made when it is missing; no other user can open it.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    open_unlinked(system::private(&mut options), path)
}

/// Locks the file at `path` until it is closed, also by the end of the process; `None` when another
/// process holds it.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let lock = open_lock(path)?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Appends `line` to a file that only the user can write, by one write, which the system does not mix
/// with another's.
pub fn append_private(path: &Path, line: &[u8]) -> io::Result<()> {
    // How often a file may be taken away while something is appended to it.
    for _ in 0..10 {
        if append_to(&mut open_for_append(path)?, line)? {
            return Ok(());
        }
    }
    Err(io::Error::other("it was taken away again and again"))
}

/// Appends `line`, and returns whether the file has a name: when it was taken away between being
/// opened and written, the line is lost.
fn append_to(file: &mut File, line: &[u8]) -> io::Result<bool> {
    system::check_owned(&file.metadata()?)?;
    let written = file.write(line)?;
    if written < line.len() {
        return Err(io::Error::new(io::ErrorKind::StorageFull, "only a part could be written"));
    }
    system::has_name(file)
}

fn open_for_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    system::private(options.append(true).create(true));
    match open_unlinked(&mut options, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                private_directory(directory)?;
            }
            open_unlinked(&mut options, path)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_replaced_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("below/file.json");
        replace_private(&path, b"one").unwrap();
        replace_private(&path, b"two").unwrap();
        assert_eq!(read_regular(&path, 3).unwrap(), b"two");
        assert_eq!(read_regular(&path, 2).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let mut left = 5;
        assert_eq!(digest_of_file(&path, &mut left).unwrap(), digest(b"two"));
        assert_eq!(left, 2);
        assert!(digest_of_file(&path, &mut left).is_err());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(read_regular(directory.path(), 9).is_err());
        assert!(read_regular(Path::new("/dev/zero"), 9).is_err());
    }

    // Windows removes a file when the last program closes it.
    #[cfg(unix)]
    #[test]
    fn a_line_in_a_file_that_was_taken_away_is_known_to_be_lost() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut opened = open_for_append(&path).unwrap();
        assert!(append_to(&mut opened, b"a\n").unwrap());
        fs::rename(&path, directory.path().join("log.1")).unwrap();
        assert!(append_to(&mut opened, b"b\n").unwrap(), "it is read under its new name");
        fs::remove_file(directory.path().join("log.1")).unwrap();
        assert!(!append_to(&mut opened, b"c\n").unwrap());
        append_private(&path, b"c\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"c\n");
    }
}
