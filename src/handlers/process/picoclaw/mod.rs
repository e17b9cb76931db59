//! PicoClaw's hooks: the params of each method, the answers, and the notifications of events.

mod answer;
mod params;
mod rewrite;

pub(super) use answer::read_output;
pub(super) use params::notification;
