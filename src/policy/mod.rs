//! A policy that comes from elsewhere: a bundle of hooks files, the place that it is pulled from, and
//! what of it is in force on this machine.

mod manifest;
mod source;
mod store;

pub use manifest::{MANIFEST, Manifest, file_name_problem, hooks_files};
pub use source::{OciReference, Source};
pub use store::{DIRECTORY_NAME, InForce, State, Store, now};
