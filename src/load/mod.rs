//! Finds the hooks files of all layers, and decides which of them count.

mod acceptance;
mod directory;
mod file;
mod layers;
mod loading;
mod search;
mod watched;

pub use acceptance::ProjectFile;
#[doc(hidden)]
pub use file::read_named as read_file;
pub use layers::LoadOptions;
pub use loading::Loaded;
pub(crate) use loading::Loading;
