//! `limit:` how often a hook may run, counted before it runs.

use std::sync::Arc;

use crate::config::{Hook, RunLimit};
use crate::counts::{Counter, Counts};
use crate::handler::{Call, Failure, HandlerError};

/// Counts the runs of one hook.
pub(crate) struct Runs {
    limit: RunLimit,
    counter: Counter,
}

impl Runs {
    pub(super) fn of(hook: &Hook, counts: &Arc<Counts>) -> Option<Arc<Self>> {
        // A host may have set a limit where a file can't: a guard is never switched off.
        let limit = hook.limit.clone().filter(|_| RunLimit::is_for(hook.event.contract()))?;
        Some(Arc::new(Self { limit, counter: Counter::new(counts, hook.counting_name()) }))
    }

    /// Counts a run. Returns why the hook must not run, if it must not.
    ///
    /// # Errors
    /// When it can't be counted.
    pub(super) async fn refusal(
        self: &Arc<Self>,
        call: &Call<'_>,
    ) -> Result<Option<String>, HandlerError> {
        let runs = Arc::clone(self);
        let counted = call.blocking(move |call| runs.limit.admits(&runs.counter, call.input));
        match counted.await? {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(self.limit.reached())),
            Err(cause) => Err(HandlerError::new(Failure::Other, format!("`limit`: {cause}"))),
        }
    }
}
