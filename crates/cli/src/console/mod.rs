//! The display of the command: tables, verdicts, differences, questions, and the two streams.

pub(crate) mod consent;
pub(crate) mod diff;
pub(crate) mod markup;
pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod verbose;
