//! Finds the hooks files of all layers, and decides which of them count.

mod directory;
mod layers;
mod loading;
mod options;
mod stamp;
mod watched;
mod watcher;

pub(crate) use loading::Loading;
pub use loading::{Loaded, load};
pub use options::LoadOptions;
pub use stamp::Stamps;
pub use watched::Place;
pub use watcher::Watcher;
