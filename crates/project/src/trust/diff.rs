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
    /// Returns a unified diff from the approval that [`compared_with`](Self::compared_with) finds to the
    /// files as they are; empty without an approval. A large file is only named.
    pub fn diff(&self, file: &ProjectFile) -> String {
        let Some(before) = self.compared_with(file) else { return String::new() };
        let mut diff = String::new();
        if before.digest != file.digest {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            diff += &self.change_of(&name, Some(&before.digest), Some(&file.path));
        }
        for named in &file.coverage.files {
            if diff.len() <= MAX_DIFF && before.change(named).is_some() {
                let approved = before.files.iter().find(|(name, _)| *name == named.name);
                let digest = approved.map(|(_, digest)| digest.as_str());
                let path = if named.found == Found::Nothing { None } else { Some(&*named.path) };
                diff += &self.change_of(&named.name, digest, path);
            }
        }
        if diff.len() > MAX_DIFF {
            let end = diff[..diff.floor_char_boundary(MAX_DIFF)].rfind('\n').unwrap_or(0);
            diff.truncate(end);
            diff += "\n... and more\n";
        }
        diff
    }

    /// Returns the change of one file, from the bytes that were approved to those at `path`.
    fn change_of(&self, name: &str, digest: Option<&str>, path: Option<&Path>) -> String {
        let approved = digest.map(|digest| self.approved_bytes(digest));
        let (Some(old), Some(new)) = (text_of(approved.as_deref()), text_of(path)) else {
            return format!("{name} changed; it can't be shown line by line\n");
        };
        let from = if digest.is_some() { &format!("{name} (approved)") } else { "/dev/null" };
        let to = if path.is_some() { &format!("{name} (now)") } else { "/dev/null" };
        // How long a comparison may take before it becomes a rough one.
        let rough_after = Duration::from_millis(500);
        let diff = TextDiff::configure().timeout(rough_after).diff_lines(&old, &new);
        diff.unified_diff().header(from, to).to_string()
    }
}

/// Returns the text of a file, which is empty without a path; `None` if it can't be read, or is too
/// large to be compared.
fn text_of(path: Option<&Path>) -> Option<String> {
    let Some(path) = path else { return Some(String::new()) };
    let bytes = files::read_regular(path, MAX_SIZE).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
