//! One invocation of a hook, and what all hooks of an event share of its input.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use hookexec_files::json::is_longer_than;

use super::{Capacity, Failure, HandlerError, Place};
use crate::describe::{CallDescription, DescribeCall, Memo};
use crate::event::Event;
use crate::wire::Input;

/// One invocation of one hook.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The event.
    pub event: Event,
    /// The input as the hook sees it, earlier rewrites applied.
    pub input: &'a Input,
    /// The input that the event came with, before any rewrite.
    pub original: &'a Input,
    /// The deadline of the answer.
    pub deadline: Instant,
    pub(crate) place: Place<'a>,
    /// Values derived from the input: of all hooks that see the same input, or its own.
    pub(crate) shared: Cow<'a, Shared>,
}

impl<'a> Call<'a> {
    /// Returns an invocation, for tests of a handler.
    pub fn new(event: Event, input: &'a Input, deadline: Instant) -> Self {
        let shared = Cow::default();
        Self { event, input, original: input, deadline, place: Place::Free, shared }
    }

    /// Sets what reads the tool call, which is else not known.
    #[must_use]
    pub fn described_by(mut self, describer: &'static dyn DescribeCall) -> Self {
        self.shared = Cow::Owned(Shared::new(Memo::new(Some(describer))));
        self
    }

    /// Returns the input as one JSON object: what a command hook reads on stdin.
    pub fn json(&self) -> Arc<[u8]> {
        let json = self.shared.json.get_or_init(|| self.description().json_with(self.input).into());
        Arc::clone(json)
    }

    /// Returns the commands that the tool call runs, and the files that it touches. They are read once
    /// for all hooks.
    pub fn description(&self) -> &CallDescription {
        self.shared.memo.of(self.input)
    }

    /// Returns the input for a task that may outlive the call.
    pub(crate) fn owned_input(&self) -> Arc<Input> {
        self.shared.owned(self.input)
    }

    /// Runs work that blocks on one of Tokio's blocking threads, with a copy of the call. Work that is
    /// late can't be stopped: it ends on its own, its result is lost, and until then it counts among
    /// the hooks that run.
    ///
    /// # Errors
    /// When no thread is free before the deadline, or the work panics.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Call<'_>) -> T + Send + 'static,
    ) -> Result<T, HandlerError> {
        if let Place::Event { capacity: Capacity { blocks: true, .. }, .. } = self.place
            && !self.shared.is_long(self.input)
        {
            return Ok(work(self));
        }
        let (event, deadline, input) = (self.event, self.deadline, self.owned_input());
        let original = if std::ptr::eq(self.input, self.original) {
            Arc::clone(&input)
        } else {
            Arc::new(self.original.clone())
        };
        let shared = self.shared.with_same_call();
        let seat = self.seat_for_thread().await?;
        let span = tracing::Span::current();
        let blocked = tokio::task::spawn_blocking(move || {
            let (_seat, _entered) = (seat, span.enter());
            let (input, original, place) = (&*input, &*original, Place::Free);
            let shared = Cow::Borrowed(&shared);
            work(&Call { event, input, original, deadline, place, shared })
        });
        match blocked.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(result) => Ok(result),
            Err(Ok(panic)) => Err(HandlerError::panicked(&*panic)),
            Err(Err(_)) => Err(HandlerError::new(Failure::Other, "the runtime is shutting down")),
        }
    }
}

/// Values derived from one input: each is computed at most once, when a hook needs it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared {
    json: OnceLock<Arc<[u8]>>,
    pub(crate) memo: Memo,
    input: OnceLock<Arc<Input>>,
    is_long: OnceLock<bool>,
}

impl Shared {
    /// Returns values for an input whose tool call `memo` describes.
    pub(crate) fn new(memo: Memo) -> Self {
        Self { memo, ..Self::default() }
    }

    /// Returns the input for a task of its own: it is copied once.
    pub(crate) fn owned(&self, input: &Input) -> Arc<Input> {
        Arc::clone(self.input.get_or_init(|| Arc::new(input.clone())))
    }

    /// Returns whether it can take long to look for a pattern in the input.
    pub(crate) fn is_long(&self, input: &Input) -> bool {
        // The largest JSON of an input, in bytes, for which conditions are evaluated where other hooks wait: a
        // guard's pattern takes microseconds on it, and the slowest that is valid two seconds.
        *self.is_long.get_or_init(|| is_longer_than(input, 8 << 10))
    }

    /// Returns values for an input with the same tool call.
    pub(crate) fn with_same_call(&self) -> Self {
        Self::new(self.memo.share())
    }
}
