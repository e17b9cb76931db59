//! Finds the hooks files of all layers, and decides which of them count.

mod directory;
pub(crate) mod file;
mod layers;
pub(crate) mod loading;
mod options;
mod policy;
pub(crate) mod watched;

pub(crate) use loading::Loading;
pub use options::LoadOptions;
