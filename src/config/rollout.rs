//! `rollout:` on which part of the machines a hook enforces.

use std::fmt;

use hookexec_files::kinds::{Count, Words as _};
use hookexec_files::node::Node;
use hookexec_files::reader::Reader;
use hookexec_files::section::Kind;
use serde_json::Value as Json;

use super::keys::RolloutKeys;
use super::model::Hook;
use crate::files::digest;
use crate::platform::system;
use crate::wire::Mode;

/// On which part of the machines, users or sessions a hook enforces. On the others it is in shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rollout {
    /// How many of a hundred.
    pub percent: usize,
    /// The counted thing.
    pub by: RolloutBy,
}

/// The things that a rollout counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "the three words of `by`")]
pub enum RolloutBy {
    /// Machines, by their name.
    #[default]
    Host,
    /// Users, by their name.
    User,
    /// Sessions, by their id.
    Session,
}

impl RolloutBy {
    /// Returns the text that decides the place; `None` if it is not known.
    fn value(self, session: &str) -> Option<String> {
        let value = match self {
            Self::Host => Some(system::host_name()),
            Self::User => {
                let names = ["USER", "LOGNAME", "USERNAME"].iter();
                names.filter_map(|name| std::env::var(name).ok()).find(|name| !name.is_empty())
            }
            Self::Session => Some(session.to_owned()),
        };
        value.filter(|value| !value.is_empty())
    }
}

impl Rollout {
    /// Returns whether the hook called `name` enforces here and in this session. It also does where
    /// the value that decides is not known.
    pub fn enforces(&self, name: &str, session: &str) -> bool {
        self.by.value(session).is_none_or(|value| place(name, &value) < self.percent)
    }
}

impl fmt::Display for Rollout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = RolloutBy::WORDS.iter().find(|(_, by)| *by == self.by);
        write!(formatter, "{} % by {}", self.percent, word.map_or("", |(word, _)| word))
    }
}

/// Returns a number from 0 to 99: the first eight digits of the SHA-256 of `name/value`, modulo 100.
fn place(name: &str, value: &str) -> usize {
    let digest = digest(format!("{name}/{value}").as_bytes());
    usize::from_str_radix(&digest[..8], 16).unwrap_or_default() % 100
}

impl Hook {
    /// Returns whether its answer counts in this session.
    pub fn mode_in(&self, session: &str) -> Mode {
        let name = self.name.as_deref().unwrap_or_default();
        match &self.rollout {
            Some(rollout) if !rollout.enforces(name, session) => Mode::Shadow,
            _ => self.mode,
        }
    }
}

impl Kind<'_> for Rollout {
    fn read(reader: &mut Reader, node: &Node, what: &str) -> Option<Self> {
        let keys: RolloutKeys<'_> = reader.value(node, what)?;
        let Count(percent) = keys.percent?;
        Some(Self { percent, by: keys.by.unwrap_or_default() })
    }

    fn schema() -> Json {
        RolloutKeys::schema()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of the command in docs/configuration.md.
    #[test]
    fn places_are_stable_and_spread_evenly() {
        assert_eq!(place("no-rm", "laptop-1"), 74);
        assert_eq!(place("no-rm", "laptop-2"), 37);
        assert_eq!(place("other", "laptop-1"), 24);
        let hosts = (0..10_000).map(|number| place("no-rm", &format!("host-{number}")));
        let enforcing = hosts.filter(|place| *place < 10).count();
        assert!((900..1100).contains(&enforcing), "{enforcing}");
    }

    #[test]
    fn a_rollout_only_grows_and_what_is_not_known_enforces() {
        let enforces = |percent, session: &str| {
            Rollout { percent, by: RolloutBy::Session }.enforces("no-rm", session)
        };
        for session in ["a", "b", "c", "laptop-1"] {
            let first = (1..=100).find(|percent| enforces(*percent, session)).unwrap();
            assert!((first..=100).all(|percent| enforces(percent, session)));
        }
        assert!(enforces(1, ""));
        assert!(!enforces(74, "laptop-1"));
        assert!(enforces(75, "laptop-1"));
    }
}
