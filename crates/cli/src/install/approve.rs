//! `hookexec install codex --approve`: the approval that Codex asks of its user.

use crate::codex::{self, Approval};
use crate::error::{CommandError, warn};
use crate::output;
use crate::report::counted;
use crate::settings::edit::PlannedEntry;
use crate::settings::inspect::AgentFile;

/// What the user can do in Codex.
const BY_HAND: &str = "start `codex` and approve the hooks in `/hooks`";

/// Shows the entries that were written, and approves them in Codex. Entries that were changed by
/// hand among those that were `there` are not approved.
pub(super) fn approve(
    written: &AgentFile,
    mut entries: Vec<PlannedEntry>,
) -> Result<(), CommandError> {
    let there = written.ours();
    entries.retain(|entry| {
        let mut same = there.iter().filter(|known| known.event == entry.native.name);
        same.all(|known| known.written().is_some())
    });
    let path = written.path.display();
    output::talk(&format!("Codex: approves these entries in {path}:\n"));
    for entry in &entries {
        output::talk(&format!("  {}: {}\n", entry.native.name, entry.command));
    }
    let project = std::env::current_dir().unwrap_or_default();
    let file = std::path::absolute(&written.path).unwrap_or_else(|_| written.path.clone());
    let failed = |cause: String| {
        CommandError::negative(format!(
            "the entries in {} are not approved, and Codex skips them: {cause}",
            file.display()
        ))
    };
    let Approval { newly, useless, off, unseen } =
        codex::approve(&project, &file, &entries).map_err(|cause| failed(cause).hint(BY_HAND))?;
    if unseen.len() == entries.len() {
        return Err(failed("Codex does not see them".to_owned()).hint(
            "`hookexec doctor codex` shows whether hooks, or this project, are turned off there",
        ));
    }
    if !useless.is_empty() {
        let cause =
            format!("Codex stored the approval and still wants one for {}", useless.join(", "));
        return Err(failed(cause).hint(BY_HAND));
    }
    let said = match newly {
        0 => "approved before".to_owned(),
        newly => format!("approved {}", counted(newly, "event")),
    };
    output::talk(&format!("Codex: {said}; they count from the next session on\n"));
    if !off.is_empty() {
        warn(&format!("turned off in Codex: {}; {BY_HAND}", off.join(", ")));
    }
    if !unseen.is_empty() {
        warn(&format!("Codex does not know these events: {}", unseen.join(", ")));
    }
    Ok(())
}
