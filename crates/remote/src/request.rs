//! The parts that hooks of a server share: their parameters, and how its answer is read.

use std::borrow::Cow;

use hookexec::config::Hook;
use hookexec::{BuildError, Call, ContextMode, Exited, Failure, HandlerError};
use hookexec_files::text::shortened;
use serde::de::DeserializeOwned;

/// Reads the keys of `with`, to which `example` is the hint.
pub(super) fn parameters<T: DeserializeOwned>(hook: &Hook, example: &str) -> Result<T, BuildError> {
    hook.parameters().map_err(|error| error.hint(example))
}

/// Returns what is wrong with `with`, to which `example` is the hint.
pub(super) fn wrong(problem: &str, example: &str) -> BuildError {
    BuildError::new(problem).at("with").hint(example)
}

/// Returns the beginning of what a server says of an error.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    // The longest part of what a server says of an error that is shown.
    shortened(text, 200)
}

/// Returns an answer to be read like the stdout of a program that exited with 0. A text is one only
/// where the event takes text.
pub(super) fn like_stdout(
    call: &Call<'_>,
    from: &str,
    stdout: Vec<u8>,
) -> Result<Exited, HandlerError> {
    let text = stdout.trim_ascii_start();
    let takes_text = call.event.contract().context == ContextMode::Text;
    if !text.is_empty() && !text.starts_with(b"{") && !takes_text {
        let message = format!("{from} answered with text that is not a JSON object");
        return Err(HandlerError::new(Failure::Protocol, message));
    }
    Ok(Exited::new(0, stdout, Vec::new()))
}
