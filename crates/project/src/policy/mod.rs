//! A policy that many machines share, and the version of it that is in force on this machine.

mod archive;
mod refresh;
mod store;

use std::fmt::Display;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hookexec::config::{Diagnostic, Diagnostics, PolicySettings};

pub use archive::{Archive, MAX_ARCHIVE, Manifest, PolicyFile, load, scratch, unpack};
pub use refresh::{TestPolicy, refresh, signature_of};
pub use store::{InForce, State, Store, hooks_files, now};

/// Why a policy can't be built, read, fetched or put in force.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFailure {
    /// The policy is refused, or a step failed.
    #[error("{0}")]
    Refused(String),
    /// Its hooks files have mistakes.
    #[error("{0}")]
    Hooks(Diagnostics),
}

impl PolicyFailure {
    pub(crate) fn refused(problem: impl Into<String>) -> Self {
        Self::Refused(problem.into())
    }

    /// Another user could have written the state or a file.
    pub(crate) fn unsafe_file(problem: Diagnostic) -> Self {
        Self::Refused(problem.message)
    }
}

/// Turns a failure into that of a step.
pub(super) trait OrFailure<T> {
    fn or_failure(self, what: impl Display) -> Result<T, PolicyFailure>;
}

impl<T, E: Display> OrFailure<T> for Result<T, E> {
    fn or_failure(self, what: impl Display) -> Result<T, PolicyFailure> {
        self.map_err(|cause| PolicyFailure::Refused(format!("{what}: {cause}")))
    }
}

/// A policy, and what is known about it on this machine.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policy {
    /// The settings in the hooks file.
    pub settings: PolicySettings,
    /// Where it is kept.
    pub store: Store,
    /// The known state.
    pub state: State,
    /// The files of the version in force.
    pub files: Vec<PathBuf>,
    /// Why what is in force can't be used.
    pub failure: Option<String>,
}

impl Policy {
    /// Returns the version in force, if its source and the key that signed it are still those of the
    /// hooks file.
    pub fn current(&self) -> Option<&InForce> {
        let in_force = self.state.in_force.as_ref()?;
        let is_current = in_force.source == self.settings.source.to_string()
            && self.settings.keys.contains(&in_force.key);
        if is_current { Some(in_force) } else { None }
    }

    /// Returns when it is a failure, in the time of the system.
    pub fn expires_at(&self) -> Option<SystemTime> {
        let in_force = self.state.in_force.as_ref()?;
        Some(UNIX_EPOCH + Duration::from_secs(in_force.confirmed) + self.settings.expires?)
    }

    /// Returns why the policy has expired, if it has.
    pub fn expired(&self) -> Option<String> {
        let (in_force, expires) = (self.state.in_force.as_ref()?, self.settings.expires?);
        // How far a clock may be set back before an age can't be known.
        if in_force.confirmed > now() + Duration::from_hours(1).as_secs() {
            return Some(format!(
                "the age of the policy {} is not known: the clock of this machine was set back",
                self.settings.source
            ));
        }
        if SystemTime::now() < self.expires_at()? {
            return None;
        }
        Some(format!(
            "the policy {} has expired: the source last had it {} ago, and `expires` is {}",
            self.settings.source,
            spoken(in_force.age()),
            spoken(expires)
        ))
    }
}

/// Returns a time in its largest unit.
pub fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
