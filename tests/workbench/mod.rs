//! Explaining, testing, recording and replaying, from outside.

mod audit;
mod cases;
mod explain;
mod from;
mod page;
mod past;
mod walk;
