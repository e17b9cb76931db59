//! Counts what happens in a session: one small file for each session, below the user's state directory.
//!
//! Guards rest on these counts. So whatever is wrong with a file is an error, and never a count
//! of 0.

mod session;
mod store;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::directories::state_directory;
use crate::files::digest;
use crate::locks::locked;
use session::Session;

/// How often a thing can be counted, how many things are counted in a session, and how many sessions
/// are kept. The oldest sessions go first.
pub const MAX_COUNTED: usize = 1000;

/// Why nothing can be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// The session is not known.
    #[error(
        "the input has no `session_id`, so nothing can be counted for it; the host must set it"
    )]
    NoSession,
    /// The turn is not known.
    #[error(
        "the input has no `turn_id`, so nothing can be counted for a turn; count for each session or hour"
    )]
    NoTurn,
    /// No directory is known.
    #[error("counts can't be kept, because no home directory is known; set HOME or XDG_STATE_HOME")]
    NoHome,
    /// The session is full.
    #[error(
        "more than {MAX_COUNTED} different things are counted in this session; count by a field that \
         has fewer values"
    )]
    TooMany,
    /// A file can't be used.
    #[error("`{}` can't be used to count: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The failure.
        cause: io::Error,
    },
}

/// Where counts are kept.
#[derive(Debug)]
pub(crate) enum Counts {
    /// `None` when the user has no home.
    Directory(Option<PathBuf>),
    /// Like [`Directory`](Self::Directory), but a change is lost.
    OnlyRead(Option<PathBuf>),
    /// This process, for runs that must leave nothing behind.
    Memory(Mutex<BTreeMap<String, Session>>),
}

/// The counter of one hook, which lasts as long as a session.
#[derive(Debug, Clone)]
pub struct Counter {
    counts: Arc<Counts>,
    /// The name of the hook, in hexadecimal.
    hook: String,
}

/// A thing that is counted, and how often it may happen.
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "a caller that counts writes it down")]
pub struct Counted<'a> {
    /// Each value has a count of its own.
    pub key: &'a str,
    /// Each value has a count of its own, such as each turn. The counts of the oldest make room when a
    /// session has too many.
    pub window: &'a str,
    /// The count begins anew when this changes.
    pub row: &'a str,
    /// How long a thing counts; as long as the session when `None`.
    pub span: Option<Duration>,
    /// How often it may be counted.
    pub most: usize,
    /// Whether this is the same thing once more: it is answered as before, and not counted.
    pub again: bool,
}

impl Counter {
    pub(crate) fn new(counts: &Arc<Counts>, hook: String) -> Self {
        Self { counts: Arc::clone(counts), hook }
    }

    /// Returns a counter that ends with the process.
    pub fn in_memory() -> Self {
        Self { counts: Arc::new(Counts::in_memory()), hook: String::new() }
    }

    /// Returns the counter of what hooks count together, under a name.
    #[must_use]
    pub fn shared(&self, name: &str) -> Self {
        Self { counts: Arc::clone(&self.counts), hook: digest(name.as_bytes()) }
    }

    /// Counts one more, unless that would be more than `most`. Returns whether it was counted. Blocks.
    ///
    /// # Errors
    /// When the session's counts can't be read or written.
    pub fn count(&self, session_id: &str, counted: &Counted<'_>) -> Result<bool, CountError> {
        self.counts.change(session_id, |session| session.count(&self.hook, counted, now()))
    }

    /// Counts one of several things in a row, or the end of a row unless it `happened`. Returns whether
    /// it is the last one of `most`; the next begins a new row. Blocks.
    ///
    /// # Errors
    /// When the session's counts can't be read or written.
    pub fn count_in_a_row(
        &self,
        session_id: &str,
        counted: &Counted<'_>,
        happened: bool,
    ) -> Result<bool, CountError> {
        self.counts.change(session_id, |session| {
            if happened {
                return session.count_in_a_row(&self.hook, counted, now());
            }
            session.forget(&self.hook);
            Ok(false)
        })
    }

    /// Adds `units` to the sum of the hook, unless that has reached `most`; a negative number takes off
    /// what was added too much. Returns whether it was added. Blocks.
    ///
    /// # Errors
    /// When the session's counts can't be read or written.
    pub fn spend(&self, session_id: &str, units: i64, most: u64) -> Result<bool, CountError> {
        self.counts.change(session_id, |session| Ok(session.spend(&self.hook, units, most)))
    }
}

impl Counts {
    /// Returns the counts of the user: `$XDG_STATE_HOME/hookexec/counts`.
    pub(crate) fn of_user() -> Self {
        Self::Directory(directory_of_user())
    }

    /// Returns the counts of the user for a run that changes none of them.
    pub(crate) fn only_read() -> Self {
        Self::OnlyRead(directory_of_user())
    }

    /// Returns counts that end with the process.
    pub(crate) fn in_memory() -> Self {
        Self::Memory(Mutex::default())
    }

    fn change<T>(
        &self,
        session_id: &str,
        change: impl FnOnce(&mut Session) -> Result<T, CountError>,
    ) -> Result<T, CountError> {
        if session_id.is_empty() {
            return Err(CountError::NoSession);
        }
        // An id comes from outside and must not become a path.
        let session = digest(session_id.as_bytes());
        match self {
            Self::Directory(Some(directory)) => store::change(directory, &session, change),
            Self::OnlyRead(Some(directory)) => change(&mut store::look(directory, &session)?),
            Self::Directory(None) | Self::OnlyRead(None) => Err(CountError::NoHome),
            Self::Memory(sessions) => {
                let mut sessions = locked(sessions);
                if !sessions.contains_key(&session) && sessions.len() >= MAX_COUNTED {
                    let oldest = sessions.iter().min_by_key(|(_, session)| session.newest());
                    let oldest = oldest.map(|(name, _)| name.clone());
                    oldest.and_then(|oldest| sessions.remove(&oldest));
                }
                change(sessions.entry(session).or_default())
            }
        }
    }
}

fn directory_of_user() -> Option<PathBuf> {
    Some(state_directory()?.join("hookexec/counts"))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests;
