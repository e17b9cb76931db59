//! `http_post`: tells a web service what happens.

#[cfg(feature = "http")]
mod post;

use super::{Shipped, Surroundings, Work};

pub(super) const HTTP_POST: Shipped = Shipped {
    name: "http_post",
    page: include_str!("pages/http_post.md"),
    suits: |_| true,
    prepare,
    ..Shipped::ACTS
};

#[cfg(not(feature = "http"))]
fn prepare(_: &Surroundings, _: &[String]) -> Result<Work, String> {
    Err("this hookexec was built without the feature `http`".to_owned())
}

#[cfg(feature = "http")]
fn prepare(surroundings: &Surroundings, args: &[String]) -> Result<Work, String> {
    post::prepare(surroundings, args)
}
