//! `http_post`: tells a web service what happens.

#[cfg(feature = "http")]
mod post;

#[cfg(feature = "http")]
pub(super) use post::prepare;

#[cfg(not(feature = "http"))]
pub(super) fn prepare(
    _: &super::Surroundings,
    _: &[String],
) -> Result<super::Work, super::BuiltinError> {
    Err("this hookexec was built without the feature `http`".into())
}
