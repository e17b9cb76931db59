//! Whether the logs that `hookexec ship` sends are sent.

use hookexec::config::AuditSettings;
use jiff::{SignedDuration, Timestamp};

use super::{Finding, Section};
use crate::ship::{State, state_path};

/// After this time without a pass, no process seems to ship the log.
const LATE: SignedDuration = SignedDuration::from_hours(24);

/// Returns how the logs stand of which something was sent; `None` when there are none.
pub(super) fn section(logs: &[AuditSettings]) -> Option<Section> {
    let findings: Vec<Finding> = logs.iter().filter_map(finding).collect();
    (!findings.is_empty()).then(|| Section::new("Shipping", findings))
}

fn finding(log: &AuditSettings) -> Option<Finding> {
    let (path, name) = (state_path(&log.path), log.path.display());
    if !path.exists() {
        return None;
    }
    let state = match State::read(&path) {
        Ok(state) => state,
        Err(error) => {
            let text = format!("can't read {}: {error}; nothing is sent", path.display());
            return Some(Finding::problem(text));
        }
    };
    let shipped = state.shipped.and_then(|at| Timestamp::from_millisecond(at).ok());
    let when = shipped.map_or("never yet".to_owned(), |at| format!("{at:.0}"));
    let is_late = shipped.is_none_or(|at| Timestamp::now().duration_since(at) > LATE);
    Some(match state.failure {
        Some(failure) => {
            Finding::warning(format!("{name}: last sent {when}; since then: {}", failure.why))
        }
        None if is_late => Finding::warning(format!(
            "{name}: last sent {when}; start `hookexec ship` or its timer, or remove {}",
            path.display()
        )),
        None => Finding::fine(format!("{name}: last sent {when}")),
    })
}
