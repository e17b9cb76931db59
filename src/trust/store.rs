//! What was approved, kept under the user's state directory where nobody else can write.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use similar::TextDiff;

use super::bundle::{Bundle, hexadecimal};

/// The approvals of one user.
///
/// In the store's directory stands one JSON file an approval, named by the bundle's digest, and
/// under `files` the approved bytes, named by theirs. Every directory has mode 0700, every file
/// 0600; records appear whole, by a rename.
#[derive(Debug, Clone)]
pub struct TrustStore {
    directory: PathBuf,
}

/// Whether a bundle may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Exactly these bytes were approved.
    Approved,
    /// Nothing was ever approved for this path.
    Unknown,
    /// Something else was approved for this path before.
    Changed {
        /// The files of the bundle that differ from the newest approval, by name.
        files: Vec<String>,
        /// What differs, as a unified diff.
        diff: String,
    },
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The digest of the bundle.
    pub digest: String,
    /// The hooks file as it lay when it was approved.
    pub path: PathBuf,
    /// When, in seconds since 1970.
    pub approved_at: u64,
    /// The files by name, each with the SHA-256 of its bytes.
    pub files: Vec<(String, String)>,
}

impl TrustStore {
    /// Returns the store in `directory`; nothing is made before something is approved.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Returns the user's store, `$XDG_STATE_HOME/hookexec/trust`; `None` when there is no home.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let base = etcetera::base_strategy::Xdg::new().ok()?;
        Some(Self::at(base.state_dir()?.join("hookexec").join("trust")))
    }

    /// Returns the directory it is in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns whether `bundle` may run.
    #[must_use]
    pub fn status(&self, bundle: &Bundle) -> Trust {
        let digest = bundle.digest();
        if self.read(&digest).is_some_and(|approval| approval.digest == digest) {
            return Trust::Approved;
        }
        let path = absolute(&bundle.path);
        match self.approvals().into_iter().rfind(|approval| approval.path == path) {
            Some(before) => self.changed(&before, bundle),
            None => Trust::Unknown,
        }
    }

    /// Approves `bundle` as it is.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn add(&self, bundle: &Bundle) -> io::Result<Approval> {
        let mut files = Vec::with_capacity(bundle.files.len());
        for file in &bundle.files {
            let hash = hexadecimal(&Sha256::digest(&file.bytes));
            self.write(&self.directory.join("files").join(&hash), &file.bytes)?;
            files.push((file.name.clone(), hash));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let approval = Approval {
            digest: bundle.digest(),
            path: absolute(&bundle.path),
            approved_at: now.as_secs(),
            files,
        };
        self.write(&self.record(&approval.digest), &serde_json::to_vec_pretty(&approval)?)?;
        Ok(approval)
    }

    /// Takes back every approval for the hooks file at `path`, and returns how many there were.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove(&self, path: &Path) -> io::Result<usize> {
        let path = absolute(path);
        let mut removed = 0;
        for approval in self.approvals().into_iter().filter(|approval| approval.path == path) {
            fs::remove_file(self.record(&approval.digest))?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Returns every approval, oldest first. A record that can't be read approves nothing.
    #[must_use]
    pub fn approvals(&self) -> Vec<Approval> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut approvals: Vec<Approval> =
            entries.filter_map(|entry| self.read(entry.path().file_stem()?.to_str()?)).collect();
        approvals.sort_by(|left, right| {
            (left.approved_at, &left.digest).cmp(&(right.approved_at, &right.digest))
        });
        approvals
    }

    fn record(&self, digest: &str) -> PathBuf {
        self.directory.join(format!("{digest}.json"))
    }

    fn read(&self, digest: &str) -> Option<Approval> {
        let path = self.record(digest);
        // Whoever else can write here could approve anything.
        let private = |path: &Path| {
            fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o022 == 0)
        };
        if !private(&path) || !private(&self.directory) {
            return None;
        }
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Writes a file whole or not at all.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let directory = path.parent().unwrap_or(&self.directory);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let draft = path.with_extension(format!("{}.draft", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, path)
    }

    fn changed(&self, before: &Approval, now: &Bundle) -> Trust {
        let approved = |hash: &str| {
            let bytes = fs::read(self.directory.join("files").join(hash)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (mut files, mut diff) = (Vec::new(), String::new());
        let mut names: Vec<&str> = before.files.iter().map(|(name, _)| name.as_str()).collect();
        names.extend(now.files.iter().map(|file| file.name.as_str()));
        names.sort_unstable();
        names.dedup();
        for name in names {
            let old = before.files.iter().find(|(known, _)| known == name);
            let old = old.map(|(_, hash)| approved(hash)).unwrap_or_default();
            let new = now.files.iter().find(|file| file.name == name);
            let new = new.map(|file| String::from_utf8_lossy(&file.bytes)).unwrap_or_default();
            if old != new {
                let text = TextDiff::from_lines(old.as_str(), &new);
                let header = (format!("{name} (approved)"), format!("{name} (now)"));
                diff += &text.unified_diff().header(&header.0, &header.1).to_string();
                files.push(name.to_owned());
            }
        }
        Trust::Changed { files, diff }
    }
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const HOOKS: &str =
        "pre_tool_use:\n  - hooks: [{type: command, command: sh ./check.sh --fast}]\n";

    fn project() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hooks.yaml");
        fs::write(&path, HOOKS).unwrap();
        fs::write(directory.path().join("check.sh"), "exit 0\n").unwrap();
        (directory, path)
    }

    fn bundle(path: &Path) -> Bundle {
        let config = Config::load_file(path).unwrap();
        Bundle::read(config.hooks[0].location.file(), &config, path.parent().unwrap()).unwrap()
    }

    #[test]
    fn only_exactly_the_approved_bytes_are_trusted() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state/trust"));
        assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);

        // The script is part of what was approved.
        fs::write(directory.path().join("check.sh"), "curl evil\n").unwrap();
        let Trust::Changed { diff, files } = store.status(&bundle(&path)) else { panic!() };
        assert_eq!(files, ["check.sh"]);
        assert!(diff.contains("-exit 0") && diff.contains("+curl evil"), "{diff}");

        fs::write(directory.path().join("check.sh"), "exit 0\n").unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);
        assert_eq!(store.remove(&path).unwrap(), 1);
        assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
    }

    #[test]
    fn where_the_project_lies_does_not_matter() {
        let (first, path) = project();
        let (_second, elsewhere) = project();
        let store = TrustStore::at(first.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved);
    }

    #[test]
    fn a_store_that_others_can_write_approves_nothing() {
        let (directory, path) = project();
        let state = directory.path().join("state");
        let store = TrustStore::at(&state);
        store.add(&bundle(&path)).unwrap();
        assert_eq!(fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o700);
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
    }

    #[test]
    fn a_forged_record_approves_nothing_else() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        let approval = store.add(&bundle(&path)).unwrap();
        fs::write(&path, format!("{HOOKS}# changed\n")).unwrap();
        let changed = bundle(&path);
        fs::copy(store.record(&approval.digest), store.record(&changed.digest())).unwrap();
        assert!(matches!(store.status(&changed), Trust::Changed { .. }));
    }
}
