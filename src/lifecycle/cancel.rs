//! The host's cancellation, watched from several places one after another.

use std::future::{pending, ready};

use futures_util::future::{MaybeDone, maybe_done};

use super::outcome::ToolEnd;
use crate::handler::BoxFuture;

/// The host's cancellation: a future that ends when the host cancels, and stays ended.
pub(super) struct Cancellation<'a>(MaybeDone<BoxFuture<'a, ()>>);

impl<'a> Cancellation<'a> {
    /// Returns the cancellation of a host that never cancels.
    pub(super) fn never() -> Self {
        Self::on(pending())
    }

    pub(super) fn on(wish: impl Future<Output = ()> + Send + 'a) -> Self {
        Self(maybe_done(Box::pin(wish)))
    }

    /// Waits for the cancellation, and returns at once if it was seen before.
    pub(super) async fn wished(&mut self) {
        (&mut self.0).await;
    }

    /// Does `work`; returns `None` when the host cancels before it is done.
    pub(super) async fn or<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.wished() => None,
            done = work => Some(done),
        }
    }

    /// Does `work` for a tool call, which ends when the host cancels before that is done.
    pub(super) async fn or_end<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ToolEnd> {
        self.or(work).await.ok_or(ToolEnd::Cancelled)
    }

    /// Returns whether the host has cancelled, without waiting.
    pub(super) async fn is_wished(&mut self) -> bool {
        self.or(ready(())).await.is_none()
    }
}
