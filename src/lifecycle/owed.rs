//! The end that is due once something began.

use std::sync::atomic::{AtomicBool, Ordering};

/// Logs a warning if what began is dropped before its end: the hooks of the end did not fire.
#[derive(Debug)]
pub(super) struct Owed {
    of: String,
    warning: &'static str,
    ended: AtomicBool,
    /// False if the thing began elsewhere: its end may come here, or there.
    pub(super) is_due: bool,
}

impl Owed {
    /// Returns the debt of a session, a turn or a tool call by the name `of`.
    pub(super) fn new(of: &str, warning: &'static str, is_due: bool) -> Self {
        Self { of: of.to_owned(), warning, ended: AtomicBool::new(false), is_due }
    }

    /// Notes the end, and returns whether it is the first.
    pub(super) fn settle(&self) -> bool {
        !self.ended.swap(true, Ordering::Relaxed)
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if self.is_due && !*self.ended.get_mut() {
            tracing::warn!(of = %self.of, "{}", self.warning);
        }
    }
}
