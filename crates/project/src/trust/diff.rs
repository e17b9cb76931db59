//! Shows the changes since an approval, as text for a person.

use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use super::project_file::{Found, ProjectFile};
use super::store::TrustStore;
use crate::limits::MAX_DIFF;
use hookexec_files::files;
use hookexec_files::hooks_file::MAX_SIZE;

impl TrustStore {
    /// Returns what differs from the approval of the file or of the one before at its path, as a unified
    /// diff; empty when there is none. Large files are only named.
    pub fn diff(&self, file: &ProjectFile) -> String {
        let Some(before) = self.compared_with(file) else { return String::new() };
        let mut diff = String::new();
        if before.digest != file.digest {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            diff += &self.change_of(&name, Some(&before.digest), Some(&file.path));
        }
        for named in &file.coverage.files {
            if diff.len() <= MAX_DIFF && before.change(named).is_some() {
                let old = before.files.iter().find(|(name, _)| *name == named.name);
                let new = Some(&*named.path).filter(|_| named.found != Found::Nothing);
                diff += &self.change_of(&named.name, old.map(|(_, digest)| &**digest), new);
            }
        }
        if diff.len() > MAX_DIFF {
            let end = diff[..diff.floor_char_boundary(MAX_DIFF)].rfind('\n').unwrap_or(0);
            diff.truncate(end);
            diff += "\n... and more\n";
        }
        diff
    }

    /// Returns the change of one file.
    fn change_of(&self, name: &str, old: Option<&str>, new: Option<&Path>) -> String {
        let old_path = old.map(|digest| self.approved_bytes(digest));
        let (Some(old_text), Some(new_text)) = (text_of(old_path.as_deref()), text_of(new)) else {
            return format!("{name} changed; it can't be shown line by line\n");
        };
        let old = if old.is_some() { &format!("{name} (approved)") } else { "/dev/null" };
        let new = if new.is_some() { &format!("{name} (now)") } else { "/dev/null" };
        // How long a comparison may take before it becomes a rough one.
        let diff = TextDiff::configure()
            .timeout(Duration::from_millis(500))
            .diff_lines(&old_text, &new_text);
        diff.unified_diff().header(old, new).to_string()
    }
}

/// Returns the text of a file that is small enough to be compared; without a path, nothing.
fn text_of(path: Option<&Path>) -> Option<String> {
    let Some(path) = path else { return Some(String::new()) };
    let bytes = files::read_regular(path, MAX_SIZE).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
