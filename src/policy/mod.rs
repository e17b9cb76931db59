//! A policy that comes from elsewhere: a bundle of hooks files, and the place that it is pulled from.

mod manifest;
mod source;

pub use manifest::{MANIFEST, Manifest, file_name_problem};
pub use source::{OciReference, Source};
