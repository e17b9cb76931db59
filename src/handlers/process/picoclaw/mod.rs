//! The methods of PicoClaw's hooks: their params, their answers, and the notifications of events.

mod answer;
mod observe;
mod rewrite;
mod stage;

pub(super) use answer::read_output;
pub(super) use observe::notification;
pub(super) use stage::{Answer, Stage};
