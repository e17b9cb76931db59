//! The display of the command: tables, verdicts, differences, questions, and the two streams.

pub(crate) mod consent;
pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod verbose;

/// The style of every page in HTML.
pub(crate) const STYLE: &str = include_str!("style.css");
