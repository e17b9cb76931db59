//! Who brought a configuration file in.

use serde::Serialize;

/// Who brought a configuration file in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// The machine's administrator: `/etc/hookexec`, on macOS
    /// `/Library/Application Support/hookexec`.
    Managed,
    /// The user: `$XDG_CONFIG_HOME/hookexec`.
    User,
    /// The project that is worked on.
    Project,
    /// The command line names the file.
    CommandLine,
    /// The program itself.
    #[default]
    Program,
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

    /// How many ranks there are.
    pub(crate) const RANKS: usize = 3;
    /// How many positions the layers have in the order of rewriting. One more than ranks: layers of equal rank share their time, but
    /// their rewriters still need an order.
    pub(crate) const REWRITE_STEPS: usize = 4;

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

    /// Returns its place in the order of layers, from the lowest up: before a call rewriters run in this
    /// order, so that the highest layer has the last word.
    pub(crate) const fn rewrite_order(self) -> usize {
        match self {
            Self::Project => 0,
            Self::CommandLine | Self::Program => 1,
            Self::User => 2,
            Self::Managed => 3,
        }
    }
}
