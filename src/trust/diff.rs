//! What changed since an approval, as text for a person.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use super::bundle::{Bundle, BundleFile};
use super::store::{Approval, TrustStore};
use crate::files;

/// The largest file whose change is shown line by line, in bytes.
pub(super) const MAX_SHOWN: u64 = 1 << 20;
/// How much of a change is shown, in bytes.
pub(super) const MAX_DIFF: usize = 64 << 10;
/// How long a comparison may take before it becomes a rough one.
const DIFF_TIME: Duration = Duration::from_millis(500);

impl TrustStore {
    /// Returns what differs from the approval that applies at this path, as a unified diff; empty when
    /// there is none. Large files are only named.
    pub fn diff(&self, bundle: &Bundle) -> String {
        let Some(before) = self.applying(bundle) else { return String::new() };
        let now = bundle.files();
        let absent = bundle.covered().flat_map(|hook| hook.absent.keys());
        let absent: HashSet<&str> = absent.map(String::as_str).collect();
        let mut diff = String::new();
        for (name, old, new) in changed(&before, &now) {
            // What hooks execute in another working directory is not gone.
            if new.is_none() && !absent.contains(name) {
                continue;
            }
            let old = old.map(|hash| self.approved_bytes(hash));
            let header = |is_there: bool, when: &str| {
                if is_there { format!("{name} ({when})") } else { "/dev/null".to_owned() }
            };
            let headers = (header(old.is_some(), "approved"), header(new.is_some(), "now"));
            match (text_of(old.as_deref()), text_of(new.map(|file| file.path.as_path()))) {
                (Some(old), Some(new)) if diff.len() < MAX_DIFF => {
                    let text = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&old, &new);
                    let shown = text.unified_diff().header(&headers.0, &headers.1).to_string();
                    push_beginning(&mut diff, &shown);
                }
                _ => diff.extend([name, " changed; too large to show\n"]),
            }
        }
        diff
    }
}

/// Adds the first lines of `shown`, no more than are shown of one file.
fn push_beginning(diff: &mut String, shown: &str) {
    let lines = shown.split_inclusive('\n').scan(0, |length, line| {
        *length += line.len();
        (*length <= MAX_DIFF).then_some(line)
    });
    let beginning: String = lines.collect();
    *diff += &beginning;
    if beginning.len() < shown.len() {
        *diff += "... and more\n";
    }
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
