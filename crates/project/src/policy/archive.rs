//! A policy as one file: a tar archive whose bytes depend on nothing but its content.
//!
//! Readers of archives disagree about links, sparse files and names that appear twice. So an archive
//! counts only if it is, byte for byte, the one that [`Archive::write`] makes of its content.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use hookexec::Config;
use hookexec::wire::parse_strict;
use hookexec_files::files;
use hookexec_files::platform::system::{has_execute_bit, share_directory};
use serde::{Deserialize, Serialize};
use tar::{EntryType, Header};
use tempfile::TempDir;

use super::hooks_files;
use super::{OrFailure as _, PolicyFailure};

/// The largest archive, in bytes. It is not compressed.
pub const MAX_ARCHIVE: u64 = 16 << 20;
/// The name of the manifest in an archive.
const MANIFEST: &str = "policy.json";

const NOT_TAR: &str = "it is not a tar archive";
const NO_MANIFEST: &str = "its `policy.json` is not valid";

/// The manifest of a policy.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The name, which tells this policy from others that the same key signs.
    pub name: String,
    /// The version, which only grows.
    pub version: u64,
}

/// A file of a policy.
#[derive(Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it may be executed.
    pub is_program: bool,
}

/// A policy in memory.
#[derive(Debug)]
pub struct Archive {
    /// Which policy it is.
    pub manifest: Manifest,
    /// All files but the manifest.
    pub files: BTreeMap<String, PolicyFile>,
}

impl Archive {
    /// Returns the policy of a directory: every file in it that is not hidden.
    ///
    /// # Errors
    /// When one can't be read, is a link, or makes the policy too large.
    pub fn of_directory(directory: &Path, name: &str, version: u64) -> Result<Self, PolicyFailure> {
        let manifest = Manifest { name: name.to_owned(), version };
        let mut archive = Self { manifest, files: BTreeMap::new() };
        archive.add(directory, "", &mut { MAX_ARCHIVE })?;
        Ok(archive)
    }

    /// Adds the files below `place`, whose path in the policy is `above`, of which `left` bytes fit.
    fn add(&mut self, place: &Path, above: &str, left: &mut u64) -> Result<(), PolicyFailure> {
        for entry in place.read_dir().or_failure(place.display())? {
            let path = entry.or_failure(place.display())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let name = format!("{above}{name}");
            let data = path.symlink_metadata().or_failure(path.display())?;
            if data.is_dir() {
                self.add(&path, &format!("{name}/"), left)?;
                continue;
            }
            if !data.is_file() {
                return Err(PolicyFailure::Refused(format!(
                    "{}: a policy has no links and special files; put what it leads to in its place",
                    path.display()
                )));
            }
            let bytes = files::read_regular(&path, *left)
                .or_failure(format_args!("{}, in a policy of at most 16 MiB", path.display()))?;
            *left = left.saturating_sub(bytes.len() as u64);
            let is_program = has_execute_bit(&path, &data);
            self.files.insert(name, PolicyFile { bytes, is_program });
        }
        Ok(())
    }

    /// Returns the bytes of the archive: sorted, without times and owners.
    ///
    /// # Errors
    /// When a name is too long for an archive.
    pub fn write(&self) -> io::Result<Vec<u8>> {
        let bytes = serde_json::to_vec(&self.manifest)?;
        let mut tar = tar::Builder::new(Vec::new());
        append(&mut tar, MANIFEST, &PolicyFile { bytes, is_program: false })?;
        for (name, file) in &self.files {
            append(&mut tar, name, file)?;
        }
        tar.into_inner()
    }

    /// Reads an archive.
    ///
    /// # Errors
    /// When it is not exactly what [`write`](Self::write) makes.
    pub fn read(bytes: &[u8]) -> Result<Self, PolicyFailure> {
        let mut files = BTreeMap::new();
        let mut tar = tar::Archive::new(bytes);
        for entry in tar.entries().or_failure(NOT_TAR)?.raw(true) {
            let mut entry = entry.or_failure(NOT_TAR)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let is_program = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).or_failure(NOT_TAR)?;
            files.insert(name, PolicyFile { bytes, is_program });
        }
        let Some(manifest) = files.remove(MANIFEST) else {
            return Err(PolicyFailure::refused("it has no `policy.json`"));
        };
        let manifest = String::from_utf8_lossy(&manifest.bytes);
        let manifest = parse_strict(&manifest).or_failure(NO_MANIFEST)?;
        let manifest = serde_json::from_value(manifest).or_failure(NO_MANIFEST)?;
        let archive = Self { manifest, files };
        archive.check()?;
        if archive.write().is_ok_and(|written| written == bytes) {
            return Ok(archive);
        }
        let problem = "it is not written as `hookexec policy build` writes archives";
        Err(PolicyFailure::refused(problem))
    }

    /// Checks the names: each means the same file on every system, and none leads out of the policy.
    ///
    /// # Errors
    /// When one does not.
    pub fn check(&self) -> Result<(), PolicyFailure> {
        for name in self.files.keys().chain([&self.manifest.name]) {
            if !is_plain(name) || name == MANIFEST {
                return Err(PolicyFailure::refused(format!(
                    "`{}` is not a valid name: use at most 100 ASCII letters, digits and `._-+@`, and \
                     no dot at the begin and end of a part",
                    name.escape_default()
                )));
            }
        }
        Ok(())
    }

    /// Returns the names of the files of test cases: those beside `hooks.yaml`.
    pub fn test_files(&self) -> Vec<&String> {
        let mut names: Vec<&String> = self.files.keys().collect();
        names.retain(|name| name.ends_with(".test.yaml"));
        names.retain(|name| !name.contains('/'));
        names
    }
}

fn is_plain(name: &str) -> bool {
    for part in name.split('/') {
        if part.is_empty() || part.starts_with('.') || part.ends_with('.') {
            return false;
        }
    }
    name.len() <= 100
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-+@/".contains(letter))
}

fn append(tar: &mut tar::Builder<Vec<u8>>, name: &str, file: &PolicyFile) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_mode(if file.is_program { 0o755 } else { 0o644 });
    header.set_size(file.bytes.len() as u64);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    tar.append(&header, &*file.bytes)
}

/// Writes the files of a policy into a new directory.
///
/// # Errors
/// When one can't be written.
pub fn unpack(archive: &Archive, directory: &Path) -> Result<(), PolicyFailure> {
    for (name, file) in &archive.files {
        let path = directory.join(name);
        write(&path, directory, file).or_failure(format_args!("can't write {}", path.display()))?;
    }
    Ok(())
}

fn write(path: &Path, directory: &Path, file: &PolicyFile) -> io::Result<()> {
    let parent = path.parent().unwrap_or(directory);
    fs::create_dir_all(parent)?;
    // Those above it, too, whatever mask is set for new files.
    for above in parent.ancestors().take_while(|above| above.starts_with(directory)) {
        share_directory(above)?;
    }
    files::replace_shared(path, &file.bytes, file.is_program)
}

/// Loads the hooks files of a policy that lies in `directory`.
///
/// # Errors
/// All mistakes in them.
pub fn load(archive: &Archive, directory: &Path) -> Result<Config, PolicyFailure> {
    let names = hooks_files(archive.files.keys()).or_failure("the policy is not valid")?;
    Config::load_files(names.into_iter().map(|name| directory.join(name)))
        .map_err(PolicyFailure::Hooks)
}

/// Makes a directory that only the user can enter, and that is removed at the end.
///
/// # Errors
/// When it can't be made.
pub fn scratch(above: &Path) -> Result<TempDir, PolicyFailure> {
    let made = tempfile::Builder::new().prefix("hookexec-").tempdir_in(above);
    made.or_failure(format_args!("can't make a directory in {}", above.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Archive {
        let file = |text: &str, is_program| PolicyFile { bytes: text.into(), is_program };
        let files = [("hooks.yaml", file("{}", false)), ("guard.sh", file("#!/bin/sh\n", true))];
        let files = files.map(|(name, file)| (name.to_owned(), file)).into();
        Archive { manifest: Manifest { name: "guards".to_owned(), version: 7 }, files }
    }

    /// Returns an archive with one more entry, made by `change`.
    fn with(change: impl FnOnce(&mut Header)) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        let archive = archive();
        let bytes = serde_json::to_vec(&archive.manifest).unwrap();
        append(&mut tar, MANIFEST, &PolicyFile { bytes, is_program: false }).unwrap();
        for (name, file) in &archive.files {
            append(&mut tar, name, file).unwrap();
        }
        let mut header = Header::new_ustar();
        header.set_path("extra").unwrap();
        header.set_size(0);
        header.set_mode(0o644);
        header.set_entry_type(EntryType::Regular);
        change(&mut header);
        header.set_cksum();
        tar.append(&header, io::empty()).unwrap();
        tar.into_inner().unwrap()
    }

    /// Returns the archive, whose first entry is of this kind.
    fn first_as(kind: EntryType) -> Vec<u8> {
        let mut bytes = archive().write().unwrap();
        let mut header = Header::new_ustar();
        header.as_mut_bytes().copy_from_slice(&bytes[..512]);
        header.set_entry_type(kind);
        header.set_cksum();
        bytes[..512].copy_from_slice(header.as_bytes());
        bytes
    }

    fn named(header: &mut Header, name: &str) {
        let field = &mut header.as_old_mut().name;
        field.fill(0);
        field[..name.len()].copy_from_slice(name.as_bytes());
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = archive().write().unwrap();
        let read = Archive::read(&bytes).unwrap();
        assert_eq!(read.files, archive().files);
        assert_eq!(read.manifest.version, 7);
        assert_eq!(read.write().unwrap(), bytes);
    }

    #[test]
    fn hostile_archives_are_refused() {
        let problem = |bytes: &[u8]| Archive::read(bytes).unwrap_err().to_string();
        for (name, wanted) in [
            ("../escape", "not a valid name"),
            ("/etc/passwd", "not a valid name"),
            ("a\\..\\b", "not a valid name"),
            // The second one is empty.
            ("hooks.yaml", "not written as"),
            ("policy.json", "is not valid"),
            // It belongs before the others.
            ("extra", "not written as"),
        ] {
            let said = problem(&with(|header| named(header, name)));
            assert!(said.contains(wanted), "{name}: {said}");
        }
        for kind in [
            EntryType::Symlink,
            EntryType::Link,
            EntryType::Char,
            EntryType::Fifo,
            EntryType::Directory,
            EntryType::GNUSparse,
            EntryType::GNULongName,
            EntryType::XHeader,
            EntryType::XGlobalHeader,
        ] {
            let said = problem(&with(|header| header.set_entry_type(kind)));
            assert!(said.contains("not written as"), "{kind:?}: {said}");
            // In the place of a file.
            let said = problem(&first_as(kind));
            assert!(said.contains("not written as"), "{kind:?}: {said}");
        }
        // A size beyond the end of the archive takes no memory.
        let said = problem(&with(|header| header.set_size(1 << 40)));
        assert!(!said.is_empty());
        assert!(problem(b"").contains("no `policy.json`"));
        assert!(problem(b"PK\x03\x04").contains("not a tar archive"));
    }

    #[test]
    fn other_bytes_of_the_same_content_are_refused() {
        let mut longer = archive().write().unwrap();
        longer.extend([0; 512]);
        let mut owned = archive().write().unwrap();
        // The owner and the time in the first header, with its checksum.
        let mut header = Header::new_ustar();
        header.as_mut_bytes().copy_from_slice(&owned[..512]);
        header.set_uid(1);
        header.set_cksum();
        owned[..512].copy_from_slice(header.as_bytes());
        for bytes in [longer, owned] {
            assert!(Archive::read(&bytes).unwrap_err().to_string().contains("not written as"));
        }
    }

    #[test]
    fn only_plain_names_are_accepted() {
        let named = |name: &str| {
            let mut archive = archive();
            archive.files.insert(name.to_owned(), PolicyFile { bytes: vec![], is_program: false });
            archive.check()
        };
        for name in ["hooks.d/a.yaml", "lib/x_1-2+3@4.py"] {
            assert!(named(name).is_ok());
        }
        for name in [
            "/etc/passwd",
            "../x",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            "",
            ".hidden",
            "a\\b",
            "C:x",
            "a b",
            "ä",
            "a\0",
            "a\n",
            "x.",
            "policy.json",
            &"x".repeat(101),
        ] {
            assert!(named(name).is_err(), "{name:?}");
        }
        let mut archive = archive();
        archive.manifest.name = "..".to_owned();
        assert!(archive.check().is_err());
    }

    #[test]
    fn a_manifest_is_read_strictly() {
        let text = r#"{"name":"guards","version":7}"#;
        for (from, to, problem) in [
            ("\"version\":7", "\"version\":7,\"version\":8", "twice"),
            ("\"version\":7", "\"version\":7,\"extra\":2", "unknown field"),
            ("\"version\":7", "\"version\":-1", "invalid "),
            ("\"name\":\"guards\",", "", "missing field `name`"),
            ("7}", "7}\n", "not written as"),
        ] {
            let mut tar = tar::Builder::new(Vec::new());
            let bytes = text.replacen(from, to, 1).into_bytes();
            append(&mut tar, MANIFEST, &PolicyFile { bytes, is_program: false }).unwrap();
            let error = Archive::read(&tar.into_inner().unwrap()).unwrap_err().to_string();
            assert!(error.contains(problem), "{to}: {error}");
        }
    }
}
