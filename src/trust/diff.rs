//! What changed since an approval, as text for a person.

use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use super::named::Found;
use super::project_file::ProjectFile;
use super::store::TrustStore;
use crate::files;

/// The largest file whose change is shown line by line, in bytes.
pub(super) const MAX_SHOWN: u64 = 1 << 20;
/// How much of a change is shown, in bytes.
pub(super) const MAX_DIFF: usize = 64 << 10;
/// How long a comparison may take before it becomes a rough one.
const DIFF_TIME: Duration = Duration::from_millis(500);

impl TrustStore {
    /// Returns what differs from the approval of the file or of the one before at its path, as a unified
    /// diff; empty when there is none. Large files are only named.
    pub fn diff(&self, file: &ProjectFile) -> String {
        let Some(before) = self.compared_with(file) else { return String::new() };
        let mut diff = String::new();
        if before.digest != file.digest {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            self.push_change(&mut diff, &name, Some(&before.digest), Some(&file.path));
        }
        for named in &file.coverage.files {
            if before.change(named).is_some() {
                let old = before.files.iter().find(|(name, _)| *name == named.name);
                let new = Some(&*named.path).filter(|_| named.found != Found::Nothing);
                self.push_change(&mut diff, &named.name, old.map(|(_, digest)| &**digest), new);
            }
        }
        diff
    }

    /// Adds the beginning of the change of one file.
    fn push_change(&self, diff: &mut String, name: &str, old: Option<&str>, new: Option<&Path>) {
        let header = |is_there: bool, when: &str| {
            if is_there { format!("{name} ({when})") } else { "/dev/null".to_owned() }
        };
        let headers = (header(old.is_some(), "approved"), header(new.is_some(), "now"));
        let old = old.map(|digest| self.approved_bytes(digest));
        let (Some(old), Some(new)) = (text_of(old.as_deref()), text_of(new)) else {
            diff.extend([name, " changed; it can't be shown line by line\n"]);
            return;
        };
        if diff.len() >= MAX_DIFF {
            diff.extend([name, " changed; too much to show\n"]);
            return;
        }
        let text = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&old, &new);
        let shown = text.unified_diff().header(&headers.0, &headers.1).to_string();
        let end = diff.len() + MAX_DIFF;
        for line in shown.split_inclusive('\n') {
            if diff.len() + line.len() > end {
                *diff += "... and more\n";
                return;
            }
            *diff += line;
        }
    }
}

/// Returns the text of a file that is small enough to be compared; of no file, nothing.
fn text_of(path: Option<&Path>) -> Option<String> {
    let Some(path) = path else { return Some(String::new()) };
    let bytes = files::read_regular(path, MAX_SHOWN).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
