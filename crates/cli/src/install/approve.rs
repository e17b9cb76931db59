//! `hookexec install codex --approve`: the approval that Codex asks of its user.

use crate::codex::{self, IN_CODEX};
use crate::error::CommandError;
use crate::output;
use crate::report::counted;
use crate::settings::edit::PlannedEntry;
use crate::settings::inspect::AgentFile;

/// Shows the entries that were written to the file, and approves them in Codex. Those that were changed by
/// hand are not approved.
pub(super) fn approve(
    file: &AgentFile,
    mut entries: Vec<PlannedEntry>,
) -> Result<(), CommandError> {
    let changed = file.changed_by_hand();
    entries.retain(|entry| changed.iter().all(|known| known.event != entry.native.name));
    let path = file.path.display();
    output::talk(&format!("Codex: approves these entries in {path}:\n"));
    for entry in &entries {
        output::talk(&format!("  {}: {}\n", entry.native.name, entry.command));
    }
    let project = std::env::current_dir().unwrap_or_default();
    let newly = codex::approve(&project, &file.path, &entries).map_err(|cause| {
        CommandError::negative(format!("Codex skips the entries in {path}: {cause}"))
            .hint(format!("start `codex` and {IN_CODEX}; `hookexec doctor codex` says more"))
    })?;
    let said = match newly {
        0 => "approved before".to_owned(),
        newly => format!("approved {}", counted(newly, "event")),
    };
    output::talk(&format!("Codex: {said}; they count from the next session on\n"));
    Ok(())
}
