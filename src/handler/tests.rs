//! A handler for tests, which has no opinion.

use super::{BoxFuture, Call, Handler, HandlerError, HandlerResult};

/// Answers nothing.
pub(crate) struct Silent;

impl Handler for Silent {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { Ok(HandlerResult::from(None)) })
    }
}
