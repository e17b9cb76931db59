//! Finds the hooks files of all layers, and decides which of them count.

mod layers;
mod loading;
mod options;
mod watched;
mod watcher;

pub(crate) use loading::Loading;
pub use loading::{Loaded, load};
pub use options::LoadOptions;
pub use watched::{Place, Stamps};
pub use watcher::Watcher;
