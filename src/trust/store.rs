//! What was approved, kept under the user's state directory, where no other user can write.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use super::bundle::{Bundle, BundleFile, CoveredHook};
use super::permissions::{UnsafeFile, check_own, check_private};
use super::scripts::project_of;
use crate::directories::{DROP_INS, PROJECT_DIRECTORY, base_directory, project_around, resolve};
use crate::files;
use crate::platform::{Platform, folded, same_name};

/// The largest record of an approval, in bytes.
const MAX_RECORD: u64 = 4 << 20;
/// The largest file whose change is shown line by line, in bytes.
const MAX_SHOWN: u64 = 1 << 20;
/// How much of a change is shown, in bytes.
const MAX_DIFF: usize = 64 << 10;
/// How long a comparison may take before it becomes a rough one.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// The approvals of one user.
///
/// The store's directory has one JSON file for each hooks file that was approved, and under `files`
/// the approved bytes, named by their digest. Every directory has mode 0700, every file 0600; records
/// appear whole, by a rename.
#[derive(Debug, Clone)]
pub struct TrustStore {
    directory: PathBuf,
    case_counts: bool,
}

/// Whether a hooks file may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Exactly these bytes were approved.
    Approved,
    /// Nothing was ever approved at this path.
    Unknown,
    /// Something else was approved at this path before.
    Changed,
    /// The approvals don't count: another user, or the project, could have written them.
    Unsafe(UnsafeFile),
}

/// How a script of an approved hooks file differs from its approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScriptChange {
    /// Its bytes are not the approved ones.
    Changed,
    /// No approval names it.
    Unapproved,
    /// The approval names it, and no file is there.
    Gone,
}

impl ScriptChange {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Changed => "changed after its approval",
            Self::Unapproved => "is not approved",
            Self::Gone => "was approved and is gone",
        }
    }
}

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The digest of the hooks file.
    pub digest: String,
    /// The hooks file, by the name under which it was found: a link is not followed.
    pub path: PathBuf,
    /// When, in microseconds since 1970, and later than any approval of the path before.
    pub approved_at: u64,
    /// Whether no person approved the file at this path: hookexec remembers here that an approval
    /// from another clone was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
    /// The files by name, each with the SHA-256 of its bytes; the hooks file comes first.
    pub files: Vec<(String, String)>,
}

impl TrustStore {
    /// Returns the store in `directory`; nothing is made before something is approved.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), case_counts: Platform::HERE.case_counts }
    }

    /// Returns the user's store, `$XDG_STATE_HOME/hookexec/trust`; `None` when no home is known.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        Some(Self::at(base_directory("XDG_STATE_HOME", ".local/state")?.join("hookexec/trust")))
    }

    /// Returns the directory it is in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns whether the hooks file of `bundle` may run.
    ///
    /// At a path where something was approved, only its newest approval counts. At a new path, as in
    /// another clone, an approval of the same bytes counts that a person gave at another path and that
    /// is the newest one there.
    #[must_use]
    pub fn status(&self, bundle: &Bundle) -> Trust {
        if let Err(problem) = self.check(bundle) {
            return Trust::Unsafe(problem);
        }
        match self.applying(bundle) {
            Some(approval) if approval.digest == bundle.digest => Trust::Approved,
            Some(_) => Trust::Changed,
            None => Trust::Unknown,
        }
    }

    /// Returns the approval that applies to the path of `bundle`: the newest one there, whatever it
    /// approves, or else the newest one of the same bytes in another place.
    fn applying(&self, bundle: &Bundle) -> Option<Approval> {
        let is_current = |other: &Approval| {
            !other.remembered && self.newest(&other.path).as_ref() == Some(other)
        };
        let elsewhere = || {
            let same = self.named(|_, _, digest| digest == bundle.digest);
            same.into_iter().rfind(is_current)
        };
        self.newest(&bundle.path).or_else(elsewhere)
    }

    /// Records that the approved `bundle` is in use at its path, so that a later change or deletion
    /// there is noticed. Does nothing when it can't: it must not fail or delay an event.
    pub fn remember(&self, bundle: &Bundle) {
        let path = recorded(&bundle.path);
        let record = self.record(&path, &bundle.digest);
        if record.exists() || self.check(bundle).is_err() {
            return;
        }
        let Some(approval) = self.applying(bundle).filter(|it| it.digest == bundle.digest) else {
            return;
        };
        let source = self.record(&approval.path, &approval.digest);
        let copy = Approval { path, remembered: true, ..approval };
        let Ok(bytes) = serde_json::to_vec_pretty(&copy) else { return };
        // If a person took the approval back meanwhile, it must not come back.
        if files::create_private(&record, &bytes).is_ok() && !source.exists() {
            drop(fs::remove_file(&record));
        }
    }

    /// Returns, for each hook of an approved `bundle`, the scripts that differ from the approval.
    #[must_use]
    pub fn script_changes(&self, bundle: &Bundle) -> Vec<Vec<(String, ScriptChange)>> {
        let approval = self.applying(bundle);
        // The hooks file itself comes first.
        let files = approval.iter().flat_map(|approval| approval.files.iter().skip(1));
        let approved: HashMap<&str, &str> =
            files.map(|(name, digest)| (name.as_str(), digest.as_str())).collect();
        let change = |file: &BundleFile| match approved.get(file.name.as_str()) {
            Some(digest) if *digest == file.digest => None,
            Some(_) => Some((file.name.clone(), ScriptChange::Changed)),
            None => Some((file.name.clone(), ScriptChange::Unapproved)),
        };
        let changes = |hook: &CoveredHook| {
            let gone = hook.absent.keys().filter(|name| approved.contains_key(name.as_str()));
            let gone = gone.map(|name| (name.clone(), ScriptChange::Gone));
            hook.scripts.iter().filter_map(change).chain(gone).collect()
        };
        bundle.hooks.iter().map(changes).collect()
    }

    /// Returns, for each hook of an approved `bundle`, why it must not run: a script of it changed, is
    /// gone, is new, or can't be approved.
    #[must_use]
    pub fn refusals(&self, bundle: &Bundle) -> Vec<Option<String>> {
        let refusal = |(hook, changes): (&CoveredHook, Vec<(String, ScriptChange)>)| {
            if let Some(problem) = hook.problems.first() {
                return Some(problem.clone());
            }
            let (name, change) = changes.first()?;
            let listed = if hook.listed.contains(name) { ", listed in `scripts:`," } else { "" };
            Some(format!("`{name}`{listed} {}", change.text()))
        };
        bundle.hooks.iter().zip(self.script_changes(bundle)).map(refusal).collect()
    }

    /// Returns what differs from the approval that applies at this path, as a unified diff; empty when
    /// there is none. Large files are only named.
    #[must_use]
    pub fn diff(&self, bundle: &Bundle) -> String {
        let Some(before) = self.applying(bundle) else { return String::new() };
        let now = bundle.files();
        let absent = bundle.hooks.iter().flat_map(|hook| hook.absent.keys());
        let absent: HashSet<&str> = absent.map(String::as_str).collect();
        let mut diff = String::new();
        for (name, old, new) in changed(&before, &now) {
            // What hooks execute in another working directory is not gone.
            if new.is_none() && !absent.contains(name) {
                continue;
            }
            let old = old.map(|hash| self.directory.join("files").join(hash));
            let header = |is_there: bool, when: &str| {
                if is_there { format!("{name} ({when})") } else { "/dev/null".to_owned() }
            };
            let headers = (header(old.is_some(), "approved"), header(new.is_some(), "now"));
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

    /// Checks that only the user and root could have written what is in the store, and that it is not
    /// in the project of `bundle`.
    ///
    /// # Errors
    /// When another user could have written it, or it is in the project.
    pub fn check(&self, bundle: &Bundle) -> Result<(), UnsafeFile> {
        let directory = resolve(&self.directory);
        let own = bundle.path.parent().unwrap_or(Path::new("."));
        if project_around(&directory, project_of(own)).is_some() {
            return Err(UnsafeFile {
                path: directory,
                problem: "holds approvals, and lies in the very project".to_owned(),
                hint: "set XDG_STATE_HOME to a directory of your own".to_owned(),
            });
        }
        check_private(&directory)
    }

    /// Approves `bundle` as it is. What was approved with the same hooks file at the same path before
    /// stays approved, except for scripts of the same name and scripts that are gone.
    ///
    /// # Errors
    /// When a script can't be approved, or the store can't be written.
    pub fn add(&self, bundle: &Bundle) -> io::Result<Approval> {
        self.check(bundle)
            .map_err(|problem| io::Error::other(format!("{problem}; {}", problem.hint)))?;
        if let Some(problem) = bundle.hooks.iter().find_map(|hook| hook.problems.first()) {
            return Err(io::Error::other(problem.clone()));
        }
        let path = recorded(&bundle.path);
        let before = self.newest(&path);
        // The clock may have been ahead.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = now.as_micros().try_into().unwrap_or(u64::MAX);
        let after = before.as_ref().map_or(0, |before| before.approved_at.saturating_add(1));
        let mut approval = Approval {
            digest: bundle.digest.clone(),
            path,
            approved_at: after.max(now),
            remembered: false,
            files: Vec::new(),
        };
        for file in bundle.files() {
            // Kept to show what changed; of what is too large to show, the digest is enough.
            if let Ok(bytes) = files::read_regular(&file.path, MAX_SHOWN)
                && files::digest(&bytes) == file.digest
            {
                files::replace_private(&self.directory.join("files").join(&file.digest), &bytes)?;
            }
            approval.files.push((file.name, file.digest));
        }
        let before = before.filter(|before| before.digest == bundle.digest);
        let is_gone = |name: &str| bundle.hooks.iter().any(|hook| hook.absent.contains_key(name));
        for (name, digest) in before.into_iter().flat_map(|before| before.files) {
            if !is_gone(&name) && !approval.files.iter().any(|(known, _)| *known == name) {
                approval.files.push((name, digest));
            }
        }
        let record = self.record(&approval.path, &approval.digest);
        files::replace_private(&record, &serde_json::to_vec_pretty(&approval)?)?;
        // A replaced approval counts nowhere. One that can't be read would outrank the new one.
        let (directory, name) = self.places(&approval.path);
        for older in self.records(|place, file, _| place == directory && file == name) {
            if older != record {
                fs::remove_file(older)?;
            }
        }
        Ok(approval)
    }

    /// Takes back every approval for the hooks file at `path`, also where the same approval is
    /// remembered for another path, and returns how many records there were.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove(&self, path: &Path) -> io::Result<usize> {
        let path = recorded(path);
        let here: HashSet<(String, u64)> = self
            .approvals()
            .into_iter()
            .filter(|approval| self.is_same(&approval.path, &path))
            .map(|approval| (approval.digest, approval.approved_at))
            .collect();
        let removed = self.remove_all(|approval| {
            here.contains(&(approval.digest.clone(), approval.approved_at))
        })?;
        // What is left could not be read.
        let (directory, name) = self.places(&path);
        for record in self.records(|place, file, _| place == directory && file == name) {
            fs::remove_file(record)?;
        }
        Ok(removed)
    }

    /// Takes back the approval of the hooks file of `bundle` as it is now, wherever it was given, and
    /// returns whether there was one.
    ///
    /// # Errors
    /// When the store can't be written.
    pub fn remove_bundle(&self, bundle: &Bundle) -> io::Result<bool> {
        Ok(self.remove_all(|approval| approval.digest == bundle.digest)? > 0)
    }

    fn remove_all(&self, which: impl Fn(&Approval) -> bool) -> io::Result<usize> {
        let mut removed = 0;
        loop {
            let approvals: Vec<Approval> = self.approvals().into_iter().filter(&which).collect();
            // An event that is under way may remember the approval once more.
            if approvals.is_empty() {
                return Ok(removed);
            }
            for approval in approvals {
                match fs::remove_file(self.record(&approval.path, &approval.digest)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => removed += 1,
                }
            }
        }
    }

    /// Returns every approval, oldest first. A record that can't be read approves nothing.
    #[must_use]
    pub fn approvals(&self) -> Vec<Approval> {
        self.named(|_, _, _| true)
    }

    /// Returns the approved hooks files that are not read by a search of `directories`: those there
    /// that are gone, and those in one of the directories `above`.
    #[must_use]
    pub fn not_read(&self, [directories, above]: [&[PathBuf]; 2]) -> [Vec<PathBuf>; 2] {
        let places = |directories: &[PathBuf]| -> HashSet<String> {
            directories.iter().map(|path| self.place(path)).collect()
        };
        let (here, above) = (places(directories), places(above));
        let approvals = self.named(|place, _, _| here.contains(place) || above.contains(place));
        let paths: BTreeSet<PathBuf> =
            approvals.into_iter().map(|approval| approval.path).collect();
        let is_here =
            |path: &PathBuf| path.parent().is_some_and(|it| here.contains(&self.place(it)));
        let exists = |path: &PathBuf| {
            let found = path.symlink_metadata();
            found.is_ok() || found.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
        };
        let (here, outside): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_here);
        let existing = outside.into_iter().filter(exists).collect();
        [here.into_iter().filter(|path| !exists(path)).collect(), existing]
    }

    /// Returns whether a hooks file was approved at `path`.
    #[must_use]
    pub fn has_approved(&self, path: &Path) -> bool {
        self.newest(path).is_some()
    }

    /// Returns the newest approval at `path`. One that can't be read counts as the newest, and
    /// approves nothing.
    fn newest(&self, path: &Path) -> Option<Approval> {
        let path = recorded(path);
        let (directory, name) = self.places(&path);
        let records = self.records(|place, file, _| place == directory && file == name);
        let unreadable = || Approval {
            digest: String::new(),
            path: path.clone(),
            approved_at: u64::MAX,
            remembered: false,
            files: Vec::new(),
        };
        let approvals = records.map(|record| self.read_record(&record).unwrap_or_else(unreadable));
        approvals.filter(|approval| self.is_same(&approval.path, &path)).max_by(in_order)
    }

    /// Returns the approvals whose records have a `wanted` name, oldest first. A record that can't be
    /// read is left out.
    fn named(&self, wanted: impl Fn(&str, &str, &str) -> bool) -> Vec<Approval> {
        let records = self.records(wanted);
        let mut approvals: Vec<Approval> =
            records.filter_map(|record| self.read_record(&record)).collect();
        approvals.sort_by(in_order);
        approvals
    }

    /// Returns the records whose name is `wanted`: what stands for the directory and for the name of a
    /// hooks file, and the digest of its bytes.
    fn records(&self, wanted: impl Fn(&str, &str, &str) -> bool) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(move |path| {
            let stem = path.extension().filter(|it| *it == "json").and_then(|_| path.file_stem());
            let mut parts = stem.and_then(OsStr::to_str).unwrap_or_default().splitn(3, '-');
            match (parts.next(), parts.next(), parts.next()) {
                (Some(directory), Some(name), Some(digest)) => wanted(directory, name, digest),
                _ => false,
            }
        })
    }

    fn read_record(&self, record: &Path) -> Option<Approval> {
        // Another user who can write it could approve anything.
        check_own(record).ok()?;
        let bytes = files::read_regular(record, MAX_RECORD).ok()?;
        let approval: Approval = serde_json::from_slice(&bytes).ok()?;
        (self.record(&approval.path, &approval.digest) == record).then_some(approval)
    }

    /// Returns where the approval of these bytes at `path` is kept. The name says the directory, the
    /// file and the bytes, so that a look-up reads no other records.
    fn record(&self, path: &Path, digest: &str) -> PathBuf {
        let (directory, name) = self.places(path);
        self.directory.join(format!("{directory}-{name}-{digest}.json"))
    }

    /// Returns what stands for the directory and for the name of a hooks file in the name of a record.
    fn places(&self, path: &Path) -> (String, String) {
        let directory = self.place(path.parent().unwrap_or(Path::new("/")));
        (directory, self.place(Path::new(path.file_name().unwrap_or_default())))
    }

    /// Returns what stands for a path in the name of a record.
    fn place(&self, path: &Path) -> String {
        let path = path.as_os_str();
        let folded = if self.case_counts { None } else { folded(path) };
        let bytes = folded.as_ref().map_or(path.as_bytes(), String::as_bytes);
        files::digest(bytes)[..16].to_owned()
    }

    fn is_same(&self, one: &Path, other: &Path) -> bool {
        same_name(one.as_os_str(), other.as_os_str(), self.case_counts)
    }
}

fn in_order(left: &Approval, right: &Approval) -> Ordering {
    (left.approved_at, &left.digest).cmp(&(right.approved_at, &right.digest))
}

/// What differs: a file's name, its digest when it was approved, and what it is now.
type Change<'a> = (&'a str, Option<&'a str>, Option<&'a BundleFile>);

fn changed<'a>(before: &'a Approval, now: &'a [BundleFile]) -> Vec<Change<'a>> {
    let mut names: Vec<&str> = before.files.iter().map(|(name, _)| name.as_str()).collect();
    names.extend(now.iter().map(|file| file.name.as_str()));
    names.sort_unstable();
    names.dedup();
    let changes = names.into_iter().map(|name| {
        let old = before.files.iter().find(|(known, _)| known == name);
        let new = now.iter().find(|file| file.name == name);
        (name, old.map(|(_, hash)| hash.as_str()), new)
    });
    changes.filter(|(_, old, new)| *old != new.map(|file| file.digest.as_str())).collect()
}

/// Returns the text of a file that is small enough to be compared; of no file, nothing.
fn text_of(path: Option<&Path>) -> Option<String> {
    let Some(path) = path else { return Some(String::new()) };
    let bytes = files::read_regular(path, MAX_SHOWN).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the path under which a hooks file is recorded: the project's directory with links
/// followed, then the names below it as they are.
///
/// A link in the place of the file, or of `.hookexec`, must not lead away from the approval.
fn recorded(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parent = path.parent().unwrap_or(Path::new("/"));
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    let own = if named(parent, DROP_INS) { parent.parent().unwrap_or(parent) } else { parent };
    let project = if named(own, PROJECT_DIRECTORY) { own.parent() } else { None };
    let project = project.unwrap_or(parent);
    let below = path.strip_prefix(project).unwrap_or(&path);
    resolve(project).join(below)
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
        Bundle::read(
            config.hooks[0].location.file(),
            &config,
            path.parent().unwrap(),
            true,
            &mut (1 << 20),
        )
    }

    #[test]
    fn a_path_has_one_record_where_case_does_not_count() {
        let mut store = TrustStore::at("/store");
        let [one, other] = ["/a/P/hooks.yaml", "/A/p/hooks.yaml"].map(Path::new);
        for case_counts in [true, false] {
            store.case_counts = case_counts;
            let same = store.record(one, "digest") == store.record(other, "digest");
            assert_eq!((same, store.is_same(one, other)), (!case_counts, !case_counts));
        }
    }

    #[test]
    fn only_exactly_the_approved_bytes_are_trusted() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state/trust"));
        assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);

        assert_eq!(store.refusals(&bundle(&path)), [None]);

        // The script is part of what was approved.
        fs::write(path.with_file_name("check.sh"), "curl evil\n").unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);
        let refusals = store.refusals(&bundle(&path));
        let expected = "`check.sh` changed after its approval";
        assert_eq!(refusals, [Some(expected.to_owned())]);
        let diff = store.diff(&bundle(&path));
        assert!(diff.contains("-exit 0") && diff.contains("+curl evil"), "{diff}");

        fs::write(path.with_file_name("check.sh"), "exit 0\n").unwrap();
        assert_eq!(store.refusals(&bundle(&path)), [None]);
        assert_eq!(store.remove(&path).unwrap(), 1);
        assert_eq!(store.status(&bundle(&path)), Trust::Unknown);
    }

    #[test]
    fn a_file_that_was_approved_is_missed_when_it_is_gone() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        let project = path.parent().unwrap().canonicalize().unwrap();
        let gone = |directories: &[PathBuf]| store.not_read([directories, &[]])[0].clone();
        assert_eq!(gone(std::slice::from_ref(&project)), Vec::<PathBuf>::new());
        let outside = store.not_read([&[], std::slice::from_ref(&project)]);
        assert_eq!(outside, [vec![], vec![project.join("hooks.yaml")]]);
        fs::remove_file(&path).unwrap();
        assert_eq!(gone(std::slice::from_ref(&project)), [project.join("hooks.yaml")]);
        assert_eq!(gone(&[directory.path().to_owned()]), Vec::<PathBuf>::new());
        assert_eq!(store.remove(&path).unwrap(), 1);
        assert_eq!(gone(&[project]), Vec::<PathBuf>::new());
    }

    #[test]
    fn where_the_project_lies_does_not_matter() {
        let (first, path) = project();
        let (_second, elsewhere) = project();
        let store = TrustStore::at(first.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved);
    }

    /// A second project with the same hooks file.
    fn clone(script: &str) -> (tempfile::TempDir, PathBuf) {
        let (directory, path) = project();
        fs::write(path.with_file_name("check.sh"), script).unwrap();
        (directory, path)
    }

    #[test]
    fn a_script_that_was_approved_in_another_clone_is_not_approved_here() {
        let (first, path) = project();
        let (_second, elsewhere) = clone("exit 1\n");
        let store = TrustStore::at(first.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        store.add(&bundle(&elsewhere)).unwrap();
        fs::write(path.with_file_name("check.sh"), "exit 1\n").unwrap();
        let expected = "`check.sh` changed after its approval";
        assert_eq!(store.refusals(&bundle(&path)), [Some(expected.to_owned())]);
    }

    #[test]
    fn a_version_that_was_replaced_is_approved_nowhere_else() {
        let (first, path) = project();
        let (_second, elsewhere) = clone("exit 0\n");
        let (_third, later) = clone("exit 0\n");
        let store = TrustStore::at(first.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved);
        store.remember(&bundle(&elsewhere));
        fs::write(&path, format!("{HOOKS}# stricter\n")).unwrap();
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&elsewhere)), Trust::Approved, "it was used there before");
        assert_eq!(store.status(&bundle(&later)), Trust::Unknown);
        assert_eq!(store.approvals().len(), 2);
    }

    #[test]
    fn an_approval_counts_when_the_clock_was_ahead_at_the_one_before() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        let before = store.add(&bundle(&path)).unwrap();
        let ahead = Approval { approved_at: before.approved_at + 3_600_000_000, ..before };
        let record = store.record(&ahead.path, &ahead.digest);
        fs::write(record, serde_json::to_vec(&ahead).unwrap()).unwrap();
        fs::write(&path, format!("{HOOKS}# second\n")).unwrap();
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);
        fs::write(&path, HOOKS).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Changed);
    }

    #[test]
    fn a_record_that_can_not_be_read_brings_no_older_approval_back() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        let first = store.add(&bundle(&path)).unwrap();
        let spoilt = store.record(&first.path, &files::digest(b"another version"));
        files::replace_private(&spoilt, b"{").unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Changed);
        store.add(&bundle(&path)).unwrap();
        assert_eq!(store.status(&bundle(&path)), Trust::Approved);
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
        let link = |name: &str, target: &str| {
            let link = path.with_file_name(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(target, link).unwrap();
        };
        fs::write(path.with_file_name("log.sh"), "exit 0 # log\n").unwrap();
        link("a", "check.sh");
        link("b", "log.sh");
        let store = TrustStore::at(directory.path().join("state"));
        store.add(&bundle(&path)).unwrap();
        link("a", "log.sh");
        link("b", "check.sh");
        assert!(store.refusals(&bundle(&path)).iter().all(Option::is_some));
        link("a", "check.sh");
        link("b", "log.sh");
        assert_eq!(store.refusals(&bundle(&path)), [None, None]);
    }

    #[test]
    fn a_forged_record_approves_nothing_else() {
        let (directory, path) = project();
        let store = TrustStore::at(directory.path().join("state"));
        let approval = store.add(&bundle(&path)).unwrap();
        fs::write(&path, format!("{HOOKS}# changed\n")).unwrap();
        let changed = bundle(&path);
        let other = Approval { digest: changed.digest.clone(), ..approval.clone() };
        let record = |approval: &Approval| store.record(&approval.path, &approval.digest);
        fs::copy(record(&approval), record(&other)).unwrap();
        assert_eq!(store.status(&changed), Trust::Changed);
    }
}
