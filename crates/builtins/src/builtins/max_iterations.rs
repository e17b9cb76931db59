//! `max_iterations`: ends a turn that calls the model too often.

use std::sync::Arc;

use super::{BuiltinError, Surroundings, Work, arguments};
use hookexec::wire::{Output, Stop, StopScope};

pub(super) fn prepare(_: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let limit = arguments::at_most_one(args)?.ok_or("it needs the number of model calls, `N`")?;
    let limit: u64 = arguments::at_least(1, "N", limit)?;
    Ok(Arc::new(move |input| {
        let Some(iteration) = input.iteration else {
            return Err("the input has no `iteration`, so model calls can't be counted; \
                        the host must set it"
                .into());
        };
        if iteration <= limit {
            return Ok(None);
        }
        let reason = format!("the turn has made {limit} model calls, which is the limit");
        Ok(Some(ended_turn(reason)))
    }))
}

/// Returns an answer that denies, and ends the turn.
pub(super) fn ended_turn(reason: String) -> Output {
    let mut output = Output::deny(&reason);
    output.stop = Some(Stop::new(StopScope::Turn, reason));
    output
}
