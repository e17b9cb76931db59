//! The payload that a hook gets: the input in our words, or one payload in the agent's that it was written for.

use std::sync::Arc;

use crate::answer::ExitCode;
use crate::config::Hook;
use crate::dialect::Dialect;
use crate::handler::{Call, Exited, Failure, HandlerAnswer, HandlerError, HandlerResult};
use crate::matcher::Matcher;
use crate::wire::json_bytes;

/// The words that a hook reads and answers in: ours, or those of an agent.
#[derive(Debug, Clone)]
pub struct Words {
    pub(crate) dialect: Option<&'static dyn Dialect>,
    /// The tools that the hook is for: the tool of a call may have several names in a dialect.
    matcher: Matcher,
}

impl Words {
    pub(crate) fn new(dialect: Option<&'static dyn Dialect>, hook: &Hook) -> Self {
        Self { dialect, matcher: hook.matcher.clone() }
    }

    /// Asks with each payload of a call, one after the other, up to the first that exit code 2 denies.
    /// In our words a call is one payload.
    ///
    /// # Errors
    /// When `ask` fails, or the dialect can't express the call.
    pub async fn each_payload<F: Future<Output = Result<Exited, HandlerError>>>(
        &self,
        call: &Call<'_>,
        ask: impl Fn(Arc<[u8]>) -> F,
    ) -> Result<HandlerResult, HandlerError> {
        let Some(dialect) = self.dialect else {
            return Ok(ask(call.json()).await?.into());
        };
        let payloads = dialect
            .payloads(&self.matcher, call.input)
            .map_err(|error| HandlerError::new(Failure::Protocol, error.to_string()))?;
        let (mut answers, mut warnings) = (Vec::new(), Vec::new());
        for payload in payloads {
            match ask(json_bytes(&payload).into()).await {
                Ok(mut exited) => {
                    let is_last = ExitCode::of(exited.code) == ExitCode::Blocks;
                    warnings.extend(exited.warning.take());
                    answers.push(Ok(exited));
                    if is_last {
                        break;
                    }
                }
                Err(error) => answers.push(Err(error)),
            }
        }
        Ok(HandlerResult { warnings, ..HandlerAnswer::Each(answers).into() })
    }
}
