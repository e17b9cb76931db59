//! What is in force on this machine, kept in the directory `policy` beside the hooks file that names
//! where it comes from.
//!
//! `state.json` names the bundle in force, and is replaced whole. The files of a bundle lie beside it,
//! in a directory that is named after its digest. A program that can write there can write the hooks file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::manifest::{MANIFEST, Manifest};
use crate::files;
use crate::wire::parse_strict;

/// The largest state and manifest, in bytes.
const MAX_JSON: u64 = 1 << 20;
/// How many bytes of files are hashed when the hooks of a bundle are loaded: an archive has no more.
const MAX_FILES: u64 = 16 << 20;
/// How much of a digest the directory of a bundle is named after.
pub const DIRECTORY_NAME: usize = 16;

/// What is known about one policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// The bundle in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<InForce>,
    /// The source and the keys that the last refresh was about.
    pub about: String,
    /// When the next refresh is due, in seconds since 1970.
    pub next: u64,
    /// How many refreshes in a row have failed.
    pub failures: u32,
    /// Why the last of them did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub problem: String,
    /// When, in seconds since 1970.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed_at: u64,
}

/// The bundle in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InForce {
    /// Where it comes from.
    pub source: String,
    /// Which of its keys signed it.
    pub key: String,
    /// The version.
    pub version: u64,
    /// The SHA-256 of the archive, in hexadecimal.
    pub digest: String,
    /// That of its manifest.
    pub manifest: String,
    /// What tells this version at the source from another.
    pub tag: String,
    /// Since when it is in force, in seconds since 1970.
    pub since: u64,
    /// When the source was last seen to have it still.
    pub confirmed: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Returns the seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The directory of one policy, or of packs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store(PathBuf);

impl Store {
    /// Returns that of the hooks file in `directory`.
    pub fn beside(directory: &Path) -> Self {
        Self(directory.join("policy"))
    }

    /// Returns that of the packs, in `directory`.
    pub fn of_packs(directory: &Path) -> Self {
        Self(directory.join("packs"))
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// Returns the file with the state.
    pub fn state_file(&self) -> PathBuf {
        self.0.join("state.json")
    }

    /// Reads the state; an empty one if nothing was pulled yet.
    ///
    /// # Errors
    /// When there is one that can't be read.
    pub fn state(&self) -> Result<State, String> {
        let path = self.state_file();
        let problem = |problem: &dyn std::fmt::Display| {
            format!("`{}` can't be read: {problem}", path.display())
        };
        let bytes = match files::read_regular(&path, MAX_JSON) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::default()),
            read => read.map_err(|error| problem(&error))?,
        };
        let text = String::from_utf8(bytes).map_err(|error| problem(&error))?;
        let value = parse_strict(&text).map_err(|error| problem(&error))?;
        let state: State = serde_json::from_value(value).map_err(|error| problem(&error))?;
        let is_digest = |it: &str| it.len() == 64 && it.bytes().all(|it| it.is_ascii_hexdigit());
        match &state.in_force {
            // It names a directory.
            Some(in_force) if !is_digest(&in_force.digest) => {
                Err(problem(&"its digest is not one"))
            }
            _ => Ok(state),
        }
    }

    /// Writes the state: whole, or not at all. From then on its bundle is in force.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&self, state: &State) -> io::Result<()> {
        files::replace_shared(&self.state_file(), &serde_json::to_vec_pretty(state)?)
    }

    /// Returns where the files of a bundle with this digest are.
    pub fn bundle(&self, digest: &str) -> PathBuf {
        self.0.join(digest.get(..DIRECTORY_NAME).unwrap_or(digest))
    }

    /// Returns where the archive of a pack with this digest is.
    pub fn archive(&self, digest: &str) -> PathBuf {
        self.bundle(digest).with_extension("tar")
    }

    /// Checks that every file of the bundle in force is as it was pulled, and returns its manifest.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self, in_force: &InForce) -> Result<Manifest, String> {
        self.check_files(&in_force.digest, |bytes| files::digest(bytes) == in_force.manifest)
    }

    /// Checks that a pack is here and has this digest, as each of its files has, and returns its
    /// manifest.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_pack(&self, digest: &str) -> Result<Manifest, String> {
        let path = self.archive(digest);
        let archive = match files::read_regular(&path, MAX_FILES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err("it is not on this machine".to_owned());
            }
            read => read.map_err(|error| format!("`{}`: {error}", path.display()))?,
        };
        if files::digest(&archive) != digest {
            return Err(format!("`{}` is not as it was pulled", path.display()));
        }
        // The manifest is the first file of an archive, behind a header of 512 bytes.
        let rest = archive.get(512..).unwrap_or_default();
        self.check_files(digest, |bytes| rest.starts_with(bytes))
    }

    /// Returns the manifest beside the files of a bundle. It may have been changed.
    pub fn manifest(&self, digest: &str) -> Option<Manifest> {
        let bytes = files::read_regular(&self.bundle(digest).join(MANIFEST), MAX_JSON).ok()?;
        Manifest::read(&bytes).ok()
    }

    fn check_files(
        &self,
        digest: &str,
        is_manifest: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Manifest, String> {
        let directory = self.bundle(digest);
        let changed = |name: &str, why: &dyn std::fmt::Display| {
            format!("`{}` is not as it was pulled: {why}", directory.join(name).display())
        };
        let bytes = files::read_regular(&directory.join(MANIFEST), MAX_JSON)
            .map_err(|error| changed(MANIFEST, &error))?;
        if !is_manifest(&bytes) {
            return Err(changed(MANIFEST, &"it was changed"));
        }
        let manifest = Manifest::read(&bytes).map_err(|problem| changed(MANIFEST, &problem))?;
        let mut left = MAX_FILES;
        for (name, digest) in &manifest.files {
            match files::digest_of_file(&directory.join(name), &mut left) {
                Ok(found) if found == *digest => {}
                Ok(_) => return Err(changed(name, &"it was changed")),
                Err(error) => return Err(changed(name, &error)),
            }
        }
        Ok(manifest)
    }
}

impl InForce {
    /// Returns how long ago the source was last seen to have it.
    pub fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.confirmed))
    }
}
