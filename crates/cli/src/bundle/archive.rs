//! A bundle as one file: a tar archive whose bytes depend on nothing but its content.
//!
//! Readers of archives disagree about links, sparse files and names that appear twice. So an archive
//! counts only if it is, byte for byte, the one that [`Archive::write`] makes of its content.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use hookexec::internal::files;
use hookexec::internal::policy::{MANIFEST, Manifest, file_name_problem};
use tar::{EntryType, Header};

/// The largest archive, in bytes. It is not compressed.
pub(crate) const MAX_ARCHIVE: u64 = 16 << 20;

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_program: bool,
}

/// A bundle in memory.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) manifest: Manifest,
    /// The manifest as it is written.
    pub(crate) manifest_bytes: Vec<u8>,
    pub(crate) files: BTreeMap<String, File>,
}

impl Archive {
    /// Returns a bundle of `files`, whose digests it adds to `manifest`.
    pub(crate) fn new(
        mut manifest: Manifest,
        files: BTreeMap<String, File>,
    ) -> Result<Self, String> {
        let digest = |(name, file): (&String, &File)| (name.clone(), files::digest(&file.bytes));
        manifest.files = files.iter().map(digest).collect();
        manifest.check()?;
        let mut manifest_bytes =
            serde_json::to_vec_pretty(&manifest).map_err(|error| error.to_string())?;
        manifest_bytes.push(b'\n');
        Ok(Self { manifest, manifest_bytes, files })
    }

    /// Returns the bytes of the archive: sorted, without times and owners.
    pub(crate) fn write(&self) -> io::Result<Vec<u8>> {
        let mut tar = tar::Builder::new(Vec::new());
        append(&mut tar, MANIFEST, &self.manifest_bytes, false)?;
        for (name, file) in &self.files {
            append(&mut tar, name, &file.bytes, file.is_program)?;
        }
        tar.into_inner()
    }

    /// Reads an archive.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > MAX_ARCHIVE {
            return Err(too_large());
        }
        let mut files = BTreeMap::new();
        let mut manifest_bytes = None;
        let mut tar = tar::Archive::new(bytes);
        for entry in tar.entries().map_err(|error| unreadable(&error))?.raw(true) {
            let mut entry = entry.map_err(|error| unreadable(&error))?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let shown = name.escape_default().to_string();
            if entry.header().entry_type() != EntryType::Regular {
                return Err(format!(
                    "`{shown}` is not a regular file: a bundle has no links, devices and directories"
                ));
            }
            let is_program = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
            let mut content = Vec::new();
            entry.read_to_end(&mut content).map_err(|error| unreadable(&error))?;
            if name == MANIFEST && manifest_bytes.is_none() {
                manifest_bytes = Some(content);
                continue;
            }
            if let Some(problem) = file_name_problem(&name) {
                return Err(format!("the file name `{shown}` {problem}"));
            }
            if files.insert(name, File { bytes: content, is_program }).is_some() {
                return Err(format!("`{shown}` is there twice"));
            }
        }
        let manifest_bytes = manifest_bytes.ok_or_else(|| format!("it has no `{MANIFEST}`"))?;
        let manifest = Manifest::read(&manifest_bytes)
            .map_err(|problem| format!("its `{MANIFEST}` is not valid: {problem}"))?;
        let digests: BTreeMap<String, String> =
            files.iter().map(|(name, file)| (name.clone(), files::digest(&file.bytes))).collect();
        if manifest.files != digests {
            return Err(format!("its files are not those of its `{MANIFEST}`"));
        }
        let archive = Self { manifest, manifest_bytes, files };
        let is_same = archive.write().is_ok_and(|written| written == bytes);
        is_same.then_some(archive).ok_or_else(|| {
            "it is not written as `hookexec bundle build` writes archives".to_owned()
        })
    }
}

fn append(
    tar: &mut tar::Builder<Vec<u8>>,
    name: &str,
    bytes: &[u8],
    is_program: bool,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_mode(if is_program { 0o755 } else { 0o644 });
    header.set_size(bytes.len() as u64);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    tar.append(&header, bytes)
}

pub(crate) fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_ARCHIVE >> 20)
}

fn unreadable(error: &io::Error) -> String {
    format!("it is not a tar archive: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Archive {
        let file = |text: &str, is_program| File { bytes: text.into(), is_program };
        let files = [("hooks.yaml", file("{}", false)), ("guard.sh", file("#!/bin/sh\n", true))];
        let files = files.map(|(name, file)| (name.to_owned(), file)).into();
        Archive::new(Manifest::new(7, "team", ""), files).unwrap()
    }

    /// Returns an archive with one more entry, made by `change`.
    fn with(change: impl FnOnce(&mut Header)) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        let archive = archive();
        append(&mut tar, MANIFEST, &archive.manifest_bytes, false).unwrap();
        for (name, file) in &archive.files {
            append(&mut tar, name, &file.bytes, file.is_program).unwrap();
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
        let problem = |bytes: &[u8]| Archive::read(bytes).unwrap_err();
        for (name, wanted) in [
            ("../escape", "begins or ends with a dot"),
            ("/etc/passwd", "not a relative path"),
            ("a\\..\\b", "characters other than"),
            ("hooks.yaml", "there twice"),
            ("bundle.json", "the name of the manifest"),
            ("Hooks.yaml", "not those of its"),
            ("extra", "not those of its"),
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
            assert!(said.contains("not a regular file"), "{kind:?}: {said}");
        }
        // A size beyond the end of the archive takes no memory.
        let said = problem(&with(|header| header.set_size(1 << 40)));
        assert!(!said.is_empty());
        assert!(problem(&vec![0; (16 << 20) + 1]).contains("larger than"));
        assert!(problem(b"").contains("no `bundle.json`"));
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
            assert!(Archive::read(&bytes).unwrap_err().contains("not written as"));
        }
    }
}
