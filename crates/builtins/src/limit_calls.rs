//! `limit_calls`, `limit_same_calls`, `limit_failed_calls`, `max_iterations`: what happens too often.

use std::sync::Arc;

use serde_json::Value;

use super::arguments::{DECISIONS, Decide, Options, at_least, at_most_one, options};
use super::{Asked, BuiltinError, Surroundings, Work, add_context};
use hookexec::config::Period;
use hookexec::counts::{Counted, MAX_COUNTED};
use hookexec::wire::{Stop, StopScope};
use hookexec::{Event, Output};
use hookexec_files::files::digest;
use hookexec_files::kinds::Words as _;

pub(super) fn prepare_calls(_: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let (options, others) = options(args, &["per", "by", "decision"])?;
    let most = number(&others)?;
    let decide = decision(&options)?;
    let per = options.word("per", Period::WORDS)?.unwrap_or_default();
    let by = match options.get("by") {
        Some(field) => Some((field.to_owned(), add_context::path(field)?)),
        None => None,
    };
    Ok(Arc::new(move |asked| {
        let (window, span) = per.window(asked)?;
        let (mut key, mut alike) = (String::new(), String::new());
        if let Some((field, path)) = &by {
            let value = asked.call.original.lookup(path);
            key = digest(text(value.as_deref()).as_bytes());
            alike = format!(" with the same `{field}`");
        }
        let counted = Counted { key: &key, window: &window, span, ..once(asked, most) };
        if asked.counter.count(&asked.session_id, &counted)? {
            return Ok(None);
        }
        let calls =
            if most == 1 { "one such call".to_owned() } else { format!("{most} such calls") };
        Ok(Some(decide(format!("{calls}{alike} {}: that is the limit", per.phrase()))))
    }))
}

pub(super) fn prepare_same_calls(_: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let (options, others) = options(args, &["decision"])?;
    let most = number(&others)?;
    let decide = decision(&options)?;
    Ok(Arc::new(move |asked| {
        // A rewrite of another layer must not make equal calls look different.
        let made = asked.call.original;
        let arguments = made.tool_input.clone().map(Value::Object);
        let call = digest(format!("{:?}{}", made.tool(), text(arguments.as_ref())).as_bytes());
        let counted = Counted { row: &call, ..once(asked, most) };
        if asked.counter.count(&asked.session_id, &counted)? {
            return Ok(None);
        }
        let times = if most == 1 { "once".to_owned() } else { format!("{most} times in a row") };
        Ok(Some(decide(format!("the same call was made {times}; do something else"))))
    }))
}

pub(super) fn prepare_failed_calls(
    _: &Surroundings,
    args: &[String],
) -> Result<Work, BuiltinError> {
    let (_, others) = options(args, &[])?;
    let most = number(&others)?;
    let calls =
        if most == 1 { "a call has".to_owned() } else { format!("{most} calls in a row have") };
    let reason = format!("{calls} failed, which is the limit");
    Ok(Arc::new(move |asked| {
        // Not every agent ends a turn after a call: 1 says that the next call is denied, 2 that it was.
        let turn = asked.turn_id.as_deref().unwrap_or_default();
        let owed = asked.counter.shared(&format!("{most} failed {turn}"));
        if asked.call.event == Event::PreToolUse {
            let is_owed = !owed.spend(&asked.session_id, 0, 1)?;
            let was_denied = !owed.spend(&asked.session_id, 0, 2)?;
            if was_denied && !asked.repeated {
                owed.spend(&asked.session_id, -2, u64::MAX)?;
                return Ok(None);
            }
            if is_owed && !was_denied {
                owed.spend(&asked.session_id, 1, u64::MAX)?;
            }
            return Ok(if is_owed { Some(ended_turn(reason.clone())) } else { None });
        }
        let Some(failed) = asked.tool_error else {
            return Err("the input has no `tool_error`, so failures can't be counted; the host \
                        must set it"
                .into());
        };
        let row = asked.counter.count_in_a_row(&asked.session_id, &once(asked, most), failed)?;
        if !row {
            return Ok(None);
        }
        owed.spend(&asked.session_id, 1, 1)?;
        Ok(Some(ended_turn(reason.clone())))
    }))
}

pub(super) fn prepare_iterations(_: &Surroundings, args: &[String]) -> Result<Work, BuiltinError> {
    let limit = at_most_one(args)?.ok_or("it needs the number of model calls, `N`")?;
    let limit: u64 = at_least(1, "N", limit)?;
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
fn ended_turn(reason: String) -> Output {
    let mut output = Output::deny(&reason);
    output.stop = Some(Stop::new(StopScope::Turn, reason));
    output
}

/// Returns what is counted: the call, as long as the session.
fn once<'a>(asked: &'a Asked<'_>, most: usize) -> Counted<'a> {
    Counted { key: "", window: "", row: "", span: None, most, again: asked.repeated }
}

fn number(others: &[&str]) -> Result<usize, BuiltinError> {
    let text = at_most_one(others)?.ok_or("it needs a number, `N`")?;
    match text.parse() {
        Ok(number) if (1..=MAX_COUNTED).contains(&number) => Ok(number),
        _ => {
            Err(format!("N must be a whole number from 1 to {MAX_COUNTED}, found `{text}`").into())
        }
    }
}

fn decision(options: &Options<'_>) -> Result<Decide, BuiltinError> {
    Ok(options.word("decision", &DECISIONS)?.unwrap_or(Output::deny))
}

fn text(value: Option<&Value>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}
