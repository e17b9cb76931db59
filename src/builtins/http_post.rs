//! `http_post`: tells a web service what happens.

#[cfg(feature = "http")]
mod post;

use super::{Surroundings, Work};

#[cfg(not(feature = "http"))]
pub(super) fn prepare(_: &Surroundings, _: &[String]) -> Result<Work, String> {
    Err("this hookexec was built without the feature `http`".to_owned())
}

#[cfg(feature = "http")]
pub(super) fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, String> {
    post::prepare(surroundings, args)
}
