//! Reads and writes whole files safely, and computes their digests.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

/// Opens a regular file for reading. A pipe or a device is an error and is not waited for.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
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
    let file = open_regular(path)?;
    let expected = file.metadata()?.len().min(most) + 1;
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {most} bytes"),
        ));
    }
    Ok(bytes)
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

/// Returns `bytes` in hexadecimal.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Makes a directory, and those above it, that only the user can enter.
pub fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that only the user can read: whole, or not at all. An existing file stays as it is,
/// which is an error. Does not wait for the disk: after a crash the file may be empty.
pub fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
    // Unlike a rename, a link never replaces a file.
    let written = file.write_all(bytes).and_then(|()| fs::hard_link(&draft, path));
    drop(fs::remove_file(&draft));
    written
}

fn draft_of(path: &Path) -> PathBuf {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.draft", std::process::id()));
    draft.into()
}

/// Writes a file that only the user can read: whole, by a rename, or not at all.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private_directory(directory)?;
    }
    let draft = draft_of(path);
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft)))
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
}
