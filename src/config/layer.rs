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
