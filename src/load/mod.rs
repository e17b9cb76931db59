//! Finds the hooks files of all layers, and decides which of them count.

pub(crate) mod acceptance;
mod directory;
pub(crate) mod file;
mod layers;
pub(crate) mod loading;
mod policy;
mod search;
pub(crate) mod watched;

pub use layers::LoadOptions;
pub(crate) use loading::Loading;
