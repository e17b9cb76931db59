//! `limit:` how often a hook runs.

use std::time::Duration;

use hookexec_files::kinds::Count;
use hookexec_files::node::{Node, Value};
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use serde_json::{Value as Json, json};

use super::condition::Field;
use super::keys::LimitKeys;
use super::model::Hook;
use crate::counts::{CountError, Counted, Counter, MAX_COUNTED};
use crate::event::{Contract, Rewrite};
use crate::files::digest;
use crate::wire::Input;

/// How often a hook runs at most.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunLimit {
    /// The most runs.
    pub(crate) times: usize,
    /// The time in which they count.
    pub(crate) per: Period,
    /// The field whose values have a count each.
    pub(super) key: Option<Field>,
}

/// The time in which something counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Period {
    /// The whole session.
    #[default]
    Session,
    /// The turn.
    Turn,
    /// The last 60 minutes of the session.
    Hour,
}

impl Period {
    /// Returns when a count begins anew: what changes then, and after how long.
    ///
    /// # Errors
    /// For a turn, when the input does not say in which turn it is.
    pub fn window(self, input: &Input) -> Result<(String, Option<Duration>), CountError> {
        match self {
            Self::Session => Ok((String::new(), None)),
            Self::Hour => Ok((String::new(), Some(Duration::from_hours(1)))),
            Self::Turn => match &input.turn_id {
                Some(turn) if !turn.is_empty() => Ok((digest(turn.as_bytes()), None)),
                _ => Err(CountError::NoTurn),
            },
        }
    }

    /// Returns the period in a sentence: `in this session`.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Session => "in this session",
            Self::Turn => "in this turn",
            Self::Hour => "in the last 60 minutes of this session",
        }
    }
}

impl RunLimit {
    /// Returns whether a limit can't take away what hooks of the event guard: they neither block nor
    /// rewrite.
    pub(crate) fn is_for(contract: &Contract) -> bool {
        !contract.may_block && contract.rewrite == Rewrite::None
    }

    /// Returns whether the hook called `hook` may run once more, and counts it. Blocks.
    ///
    /// # Errors
    /// When it can't be counted.
    pub(crate) fn admits(&self, counter: &Counter, input: &Input) -> Result<bool, CountError> {
        let (window, span) = self.per.window(input)?;
        let value = match &self.key {
            // A missing value is a value, too.
            Some(field) => match field.lookup(input) {
                Some(value) => digest(value.to_string().as_bytes()),
                None => digest(b""),
            },
            None => String::new(),
        };
        let (most, key) = (self.times, &value);
        let run = Counted { key, window: &window, row: "", span, most, again: false };
        counter.count(&input.session_id, &run)
    }

    /// Returns why the hook did not run.
    pub(crate) fn reached(&self) -> String {
        let times =
            if self.times == 1 { "once".to_owned() } else { format!("{} times", self.times) };
        let key = match &self.key {
            Some(key) => format!(" for this `{}`", key.written),
            None => String::new(),
        };
        format!("it ran {times}{key} {}, which is its limit", self.per.phrase())
    }
}

impl Hook {
    /// Returns the name under which the hook counts. Another hook has another one, and so has the hook
    /// itself once it is changed.
    pub(crate) fn counting_name(&self) -> String {
        let Self { kind, name, command, args, with, .. } = self;
        let when = self.when.as_ref().map(ToString::to_string);
        let limit = self.limit.as_ref().map(|limit| (limit.per, &limit.key));
        let place = (self.location.path(), self.event.name(), self.matcher.to_string());
        let parts = (place, kind, name, command, args, when, with, limit);
        digest(format!("{parts:?}").as_bytes())
    }
}

impl Kind<'_> for RunLimit {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        if !matches!(node.value, Value::Map(_)) {
            let times = Count::<MAX_COUNTED>::read(reader, node, what)?.0;
            return Some(Self { times, per: Period::default(), key: None });
        }
        let errors = reader.errors();
        let keys: LimitKeys<'_> = reader.value(node, what)?;
        let times = keys.times?.0;
        let limit = Self { times, per: keys.per.unwrap_or_default(), key: keys.key };
        if reader.errors() == errors { Some(limit) } else { None }
    }

    fn schema() -> Json {
        json!({ "anyOf": [Count::<MAX_COUNTED>::schema(), LimitKeys::schema()] })
    }
}
