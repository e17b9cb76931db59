//! What hooks share that ask a server: their parameters, and what they are told and answer.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::config::Hook;
use crate::dialect::Dialect;
use crate::event::ContextMode;
use crate::handler::{BuildError, Call, Exited, Failure, HandlerError, HandlerResult};
use crate::matcher::Matcher;

/// Reads the keys of `with`.
pub(super) fn parameters<P: DeserializeOwned>(hook: &Hook, example: &str) -> Result<P, BuildError> {
    serde_json::from_value(hook.with.clone().unwrap_or_default())
        .map_err(|error| BuildError::new(format!("`with`: {error}")).at("with").hint(example))
}

/// Whose words a hook reads, and which tools it is for: the tool of a call may have several names
/// there.
pub(super) type Words = Option<(Dialect, Matcher)>;

/// Asks once for each payload of a call, until one fails.
pub(super) async fn each_payload<F: Future<Output = Result<Exited, HandlerError>>>(
    call: &Call<'_>,
    words: &Words,
    ask: impl Fn(Arc<[u8]>) -> F,
) -> Result<HandlerResult, HandlerError> {
    let Some((dialect, matcher)) = words else {
        return Ok(ask(call.json()).await?.into());
    };
    let payloads = dialect
        .payloads(matcher, call.input)
        .map_err(|message| HandlerError::new(Failure::Protocol, message))?;
    let mut answers = Vec::new();
    for payload in payloads {
        // Strings, numbers and JSON values: nothing in it can fail to serialise.
        let body = serde_json::to_vec(&payload).unwrap_or_default();
        let answer = ask(body.into()).await;
        let is_last = answer.is_err();
        answers.push(answer);
        if is_last {
            break;
        }
    }
    Ok(HandlerResult::each(answers, Vec::new()))
}

/// Returns an answer to be read like the stdout of a program that exited with 0. A text is one only
/// where the event takes text.
pub(super) fn like_stdout(
    call: &Call<'_>,
    from: &str,
    stdout: Vec<u8>,
) -> Result<Exited, HandlerError> {
    let begins = stdout.trim_ascii_start().first();
    let takes_text = call.event.contract().context == ContextMode::Text;
    if begins.is_some_and(|first| *first != b'{') && !takes_text {
        let message = format!("{from} answered with text that is no JSON object");
        return Err(HandlerError::new(Failure::Protocol, message));
    }
    Ok(Exited { code: 0, stdout, stderr: Vec::new() })
}
