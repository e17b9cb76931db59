//! Who brought a configuration file in.

use std::path::Path;
use std::sync::Arc;

use hookexec_files::source::{Location, SourceFile};
use serde::Serialize;

/// Who brought a configuration file in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// The machine's administrator: `/etc/hookexec`, on macOS
    /// `/Library/Application Support/hookexec`.
    Managed = 1,
    /// The user: `$XDG_CONFIG_HOME/hookexec`.
    User = 2,
    /// The project that is worked on.
    Project = 3,
    /// The command line names the file.
    CommandLine = 4,
    /// The program itself.
    #[default]
    Program = 0,
}

impl Layer {
    /// Returns its name as written in `layers:`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::CommandLine => "command_line",
            Self::Program => "program",
        }
    }

    /// A layer of each rank, from the top.
    pub(crate) const RANKED: [Self; 3] = [Self::Managed, Self::User, Self::Project];

    /// Returns how far below the top it is. A layer with a smaller rank outranks it.
    pub(crate) const fn rank(self) -> usize {
        match self {
            Self::Managed => 0,
            Self::User | Self::CommandLine | Self::Program => 1,
            Self::Project => 2,
        }
    }

    /// Returns whether a broken file of this layer is a failure of the layer while the others count.
    /// Any other broken file ends the loading.
    pub(crate) const fn may_fail(self, named_may_fail: bool) -> bool {
        match self {
            Self::Managed | Self::User | Self::Project => true,
            Self::CommandLine => named_may_fail,
            Self::Program => false,
        }
    }
}

/// One value for each rank of layers.
pub(crate) type ByRank<T> = [T; Layer::RANKED.len()];

/// The layer of a file, which is its tag.
pub trait InLayer {
    /// Sets who brought it in.
    #[must_use]
    fn in_layer(self, layer: Layer) -> Self;

    /// Returns who brought it in.
    fn layer(&self) -> Layer;
}

impl InLayer for SourceFile {
    fn in_layer(mut self, layer: Layer) -> Self {
        self.tag = layer as u8;
        self
    }

    fn layer(&self) -> Layer {
        let tags = [Layer::Managed, Layer::User, Layer::Project, Layer::CommandLine];
        tags.into_iter().find(|layer| *layer as u8 == self.tag).unwrap_or_default()
    }
}

/// Returns the place of a problem of the file of `layer` at `path` as a whole.
pub fn file_of_layer(layer: Layer, path: &Path) -> Location {
    Location::new(Arc::new(SourceFile::new(path, "").in_layer(layer)), 0..0)
}
