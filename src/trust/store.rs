//! What was approved, kept under the user's state directory where nobody else can write.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use etcetera::BaseStrategy as _;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use similar::TextDiff;

use super::bundle::{Bundle, BundleFile, hexadecimal};
use super::permissions::{UnsafeFile, check_own, check_private};

/// The largest file whose change is shown line by line, in bytes.
const MAX_SHOWN: u64 = 1 << 20;
/// How much of a change is shown, in bytes.
const MAX_DIFF: usize = 64 << 10;
/// How long a comparison may take before it becomes a rough one.
const DIFF_TIME: Duration = Duration::from_millis(500);

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
        /// The files of the bundle that differ from the newest approval, by name; none when only what
        /// leads to them, or where the hooks run, does.
        files: Vec<String>,
    },
    /// Nobody can say: somebody else could have written the approvals.
    Unsafe(UnsafeFile),
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
        let directory = base.state_dir()?.join("hookexec").join("trust");
        // A relative one would be wherever the command runs: in the project.
        directory.is_absolute().then(|| Self::at(directory))
    }

    /// Returns the directory it is in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns whether `bundle` may run.
    #[must_use]
    pub fn status(&self, bundle: &Bundle) -> Trust {
        if let Err(problem) = self.check(bundle) {
            return Trust::Unsafe(problem);
        }
        if self.is_approved(bundle) {
            return Trust::Approved;
        }
        let Some(before) = self.newest(bundle) else { return Trust::Unknown };
        let names = changed(&before, bundle).into_iter().map(|(name, ..)| name.to_owned());
        Trust::Changed { files: names.collect() }
    }

    /// Returns what differs from the newest approval of the same path, as a unified diff; empty when
    /// there is none. Large files are only named.
    #[must_use]
    pub fn diff(&self, bundle: &Bundle) -> String {
        let Some(before) = self.newest(bundle) else { return String::new() };
        let mut diff = String::new();
        for (name, old, new) in changed(&before, bundle) {
            let old = old.map(|hash| self.directory.join("files").join(hash));
            let headers = (format!("{name} (approved)"), format!("{name} (now)"));
            match (text_of(old.as_deref()), text_of(new.map(|file| file.path.as_path()))) {
                (Some(old), Some(new)) if diff.len() < MAX_DIFF => {
                    let text = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&old, &new);
                    let shown = text.unified_diff().header(&headers.0, &headers.1).to_string();
                    let lines = shown.split_inclusive('\n');
                    let mut lines = lines.scan(0, |length, line| {
                        *length += line.len();
                        (*length <= MAX_DIFF).then_some(line)
                    });
                    let cut: String = lines.by_ref().collect();
                    diff += &cut;
                    if cut.len() < shown.len() {
                        diff += "... and more\n";
                    }
                }
                _ => diff.extend([name, " has changed, in more than is shown here\n"]),
            }
        }
        diff
    }

    /// Checks that nobody but the user and root could have written what is in the store, and that
    /// `bundle`'s project did not bring it along.
    ///
    /// # Errors
    /// When somebody could, or it did.
    pub fn check(&self, bundle: &Bundle) -> Result<(), UnsafeFile> {
        let directory = absolute(&self.directory);
        let project = super::named::root_of(&bundle.path);
        let home = crate::config::home_directory().map(|home| absolute(&home));
        if directory.starts_with(&project) && home.is_none_or(|home| !home.starts_with(&project)) {
            return Err(UnsafeFile {
                path: directory,
                problem: "holds approvals, and lies in the very project".to_owned(),
                hint: "set XDG_STATE_HOME to a directory of your own".to_owned(),
            });
        }
        check_private(&directory)
    }

    fn is_approved(&self, bundle: &Bundle) -> bool {
        let digest = bundle.digest();
        self.read(digest).is_some_and(|approval| approval.digest == digest)
    }

    fn newest(&self, bundle: &Bundle) -> Option<Approval> {
        let path = absolute(&bundle.path);
        self.approvals().into_iter().rfind(|approval| approval.path == path)
    }

    /// Approves `bundle` as it is.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn add(&self, bundle: &Bundle) -> io::Result<Approval> {
        self.check(bundle)
            .map_err(|problem| io::Error::other(format!("{problem}; {}", problem.hint)))?;
        let mut files = Vec::with_capacity(bundle.files.len());
        for file in &bundle.files {
            // Kept to show what changed; of what is too large to show, the digest is enough.
            if let Some(bytes) = bytes_of(&file.path)
                && hexadecimal(&Sha256::digest(&bytes)) == file.digest
            {
                self.write(&self.directory.join("files").join(&file.digest), &bytes)?;
            }
            files.push((file.name.clone(), file.digest.clone()));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let approval = Approval {
            digest: bundle.digest().to_owned(),
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

    /// Takes back the approval of `bundle` as it is now, wherever it was given, and returns whether
    /// there was one.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove_bundle(&self, bundle: &Bundle) -> io::Result<bool> {
        match fs::remove_file(self.record(bundle.digest())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            result => result.map(|()| true),
        }
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
        // Whoever else can write it could approve anything.
        check_own(&path).ok()?;
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
}

/// What differs: a file's name, its digest when it was approved, and what it is now.
type Change<'a> = (&'a str, Option<&'a str>, Option<&'a BundleFile>);

fn changed<'a>(before: &'a Approval, now: &'a Bundle) -> Vec<Change<'a>> {
    let mut names: Vec<&str> = before.files.iter().map(|(name, _)| name.as_str()).collect();
    names.extend(now.files.iter().map(|file| file.name.as_str()));
    names.sort_unstable();
    names.dedup();
    let changes = names.into_iter().map(|name| {
        let old = before.files.iter().find(|(known, _)| known == name);
        let new = now.files.iter().find(|file| file.name == name);
        (name, old.map(|(_, hash)| hash.as_str()), new)
    });
    changes.filter(|(_, old, new)| *old != new.map(|file| file.digest.as_str())).collect()
}

/// Returns the text of a file that is small enough to be compared; of no file, nothing.
fn text_of(path: Option<&Path>) -> Option<String> {
    let Some(path) = path else { return Some(String::new()) };
    Some(String::from_utf8_lossy(&bytes_of(path)?).into_owned())
}

fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .ok()?;
    file.take(MAX_SHOWN + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_SHOWN).then_some(bytes)
}

fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::config::Config;

    const HOOKS: &str =
        "pre_tool_use:\n  - hooks: [{type: command, command: sh ./check.sh --fast}]\n";

    fn project() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("project/hooks.yaml");
        fs::create_dir(directory.path().join("project")).unwrap();
        fs::write(&path, HOOKS).unwrap();
        fs::write(path.with_file_name("check.sh"), "exit 0\n").unwrap();
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
        fs::write(path.with_file_name("check.sh"), "curl evil\n").unwrap();
        let Trust::Changed { files } = store.status(&bundle(&path)) else { panic!() };
        assert_eq!(files, ["check.sh"]);
        let diff = store.diff(&bundle(&path));
        assert!(diff.contains("-exit 0") && diff.contains("+curl evil"), "{diff}");

        fs::write(path.with_file_name("check.sh"), "exit 0\n").unwrap();
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
        assert!(matches!(store.status(&bundle(&path)), Trust::Unsafe(_)));
        // Nor one below a directory in which others can put another in its place.
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(store.status(&bundle(&path)), Trust::Unsafe(_)));
        assert!(store.add(&bundle(&path)).is_err());
    }

    #[test]
    fn a_store_in_the_project_approves_nothing() {
        let (_directory, path) = project();
        let store = TrustStore::at(path.with_file_name(".state"));
        let Trust::Unsafe(problem) = store.status(&bundle(&path)) else { panic!() };
        assert!(problem.to_string().contains("lies in the very project"), "{problem}");
    }

    #[test]
    fn an_approval_is_taken_back_whoever_gave_it() {
        let (first, path) = project();
        let (_second, elsewhere) = project();
        let store = TrustStore::at(first.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        assert!(store.remove_bundle(&bundle(&elsewhere)).unwrap());
        assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
        assert!(!store.remove_bundle(&bundle(&path)).unwrap());
    }

    #[test]
    fn a_change_of_everything_is_shown_soon_and_in_part() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        let script = |letter: &str| {
            let lines: Vec<String> = (0..60_000).map(|n| format!("{letter}{}", n * 7919)).collect();
            fs::write(path.with_file_name("check.sh"), lines.join("\n")).unwrap();
            bundle(&path)
        };
        store.add(&script("a")).unwrap();
        let diff = store.diff(&script("b"));
        assert!(diff.len() < 2 * MAX_DIFF && diff.contains("... and more"), "{}", diff.len());
    }

    #[test]
    fn links_that_change_places_are_a_change() {
        let (directory, path) = project();
        let hooks = "pre_tool_use: [{hooks: [{type: command, command: ./a}]}]\nstop: [{type: command, command: ./b}]\n";
        fs::write(&path, hooks).unwrap();
        let link = |name: &str, target: &std::ffi::OsStr| {
            let link = path.with_file_name(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(target, link).unwrap();
        };
        let not_utf8 = std::os::unix::ffi::OsStrExt::from_bytes(b"s\xfe");
        let (deny, log) = ("check.sh".as_ref(), not_utf8);
        fs::write(path.with_file_name(log), "exit 0 # log\n").unwrap();
        link("a", deny);
        link("b", log);
        let store = TrustStore::at(directory.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        link("a", log);
        link("b", deny);
        assert!(matches!(store.status(&bundle(&path)), Trust::Changed { .. }));
        link("a", deny);
        link("b", log);
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);
        // Another name that is not UTF-8, and looks the same.
        let other = std::os::unix::ffi::OsStrExt::from_bytes(b"s\xff");
        fs::copy(path.with_file_name(log), path.with_file_name::<&std::ffi::OsStr>(other)).unwrap();
        link("b", other);
        assert!(matches!(store.status(&bundle(&path)), Trust::Changed { .. }));
    }

    #[test]
    fn a_forged_record_approves_nothing_else() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        let approval = store.add(&bundle(&path)).unwrap();
        fs::write(&path, format!("{HOOKS}# changed\n")).unwrap();
        let changed = bundle(&path);
        fs::copy(store.record(&approval.digest), store.record(changed.digest())).unwrap();
        assert!(matches!(store.status(&changed), Trust::Changed { .. }));
    }
}
