//! Hook types by name, and builtin functions by name.

pub(crate) mod entries;
pub(crate) mod env;
pub(crate) mod factory;

pub use hookexec_files::expand::{MissingVariable, path as expand_path};

pub use crate::dialect::{Dialect, NotInDialect, Payloads};
pub use crate::handlers::builtin::{BuiltinError, BuiltinFunction, Parameters, too_long};
pub use crate::handlers::command::shells::is_posix as is_posix_shell;
pub use crate::handlers::payloads::Words;
pub use crate::handlers::process::CalledProcess;
pub use crate::recorder::{MakeRecorder, Recorded, Recorder};
pub(crate) use entries::Registry;
pub(crate) use env::HandlerEnv;
pub use factory::BuildResult;
pub(crate) use factory::{CommandKey, HandlerFactory};
