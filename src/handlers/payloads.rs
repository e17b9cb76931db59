//! The payload that a hook gets: the input in our words, or one payload in the agent's that it was written for.

use std::sync::Arc;

use crate::answer::BLOCK;
use crate::config::Hook;
use crate::dialect::Dialect;
use crate::handler::{Call, Exited, Failure, HandlerError, HandlerResult};
use crate::matcher::Matcher;
use crate::wire::json_bytes;

/// The dialect that a hook reads, and which tools it is for: the tool of a call may have several names
/// there.
pub(crate) type Words = Option<(&'static dyn Dialect, Matcher)>;

/// Returns the dialect that a hook reads.
pub(crate) fn words(dialect: Option<&'static dyn Dialect>, hook: &Hook) -> Words {
    Some((dialect?, hook.matcher.clone()))
}

/// The answer of a hook to one payload, and a warning about it.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) exited: Exited,
    pub(super) warning: Option<String>,
}

impl From<Exited> for Ran {
    fn from(exited: Exited) -> Self {
        Self { exited, warning: None }
    }
}

/// Asks once for each payload of a call, up to the first that is denied by exit code 2.
pub(super) async fn each_payload<R: Into<Ran>, F: Future<Output = Result<R, HandlerError>>>(
    call: &Call<'_>,
    words: &Words,
    ask: impl Fn(Arc<[u8]>) -> F,
) -> Result<HandlerResult, HandlerError> {
    let Some((dialect, matcher)) = words else {
        let Ran { exited, warning } = ask(call.json()).await?.into();
        let mut result = HandlerResult::from(exited);
        result.warnings.extend(warning);
        return Ok(result);
    };
    let payloads = dialect
        .payloads(matcher, call.input)
        .map_err(|message| HandlerError::new(Failure::Protocol, message))?;
    let (mut answers, mut warnings) = (Vec::new(), Vec::new());
    for payload in payloads {
        match ask(json_bytes(&payload).into()).await {
            Ok(ran) => {
                let Ran { exited, warning } = ran.into();
                let is_last = exited.code == BLOCK;
                warnings.extend(warning);
                answers.push(Ok(exited));
                if is_last {
                    break;
                }
            }
            Err(error) => answers.push(Err(error)),
        }
    }
    Ok(HandlerResult::each(answers, warnings))
}
