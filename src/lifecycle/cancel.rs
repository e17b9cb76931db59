//! A wish to cancel, watched from several places one after another.

use std::future::{Future, pending};

use crate::handler::BoxFuture;

/// The host's wish to cancel: a future that ends when the wish is there.
#[derive(Default)]
pub(super) enum Cancellation<'a> {
    /// The host never cancels.
    #[default]
    Never,
    /// Not yet.
    Watched(BoxFuture<'a, ()>),
    /// The wish was seen; it holds from then on.
    Seen,
}

impl<'a> Cancellation<'a> {
    pub(super) fn on(wish: impl Future<Output = ()> + Send + 'a) -> Self {
        Self::Watched(Box::pin(wish))
    }

    /// Waits for the wish, and returns at once when it was seen before.
    pub(super) async fn wished(&mut self) {
        match self {
            Self::Never => pending().await,
            Self::Watched(wish) => {
                wish.await;
                *self = Self::Seen;
            }
            Self::Seen => {}
        }
    }

    /// Returns whether the wish is there now, without waiting.
    pub(super) async fn is_wished(&mut self) -> bool {
        tokio::select! {
            biased;
            () = self.wished() => true,
            () = std::future::ready(()) => false,
        }
    }
}
