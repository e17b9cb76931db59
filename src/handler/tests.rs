//! A handler for tests, which has no opinion, and tests of results.

use super::{BoxFuture, Call, Exited, Handler, HandlerError, HandlerResult};
use crate::wire::Output;

/// Answers nothing.
pub(crate) struct Silent;

impl Handler for Silent {
    fn run<'a>(&'a self, _: &'a Call<'a>) -> BoxFuture<'a, Result<HandlerResult, HandlerError>> {
        Box::pin(async { Ok(HandlerResult::from(None)) })
    }
}

#[test]
fn a_result_tells_its_answer() {
    let denied = HandlerResult::from(Output::deny("no"));
    assert_eq!(denied.output(), Some(&Output::deny("no")));
    assert_eq!(HandlerResult::from(Exited::new(0, Vec::new(), Vec::new())).output(), None);
}
