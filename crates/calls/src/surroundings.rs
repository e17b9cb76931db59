//! The machine as rules and builtins see it: environment, home directory, clock.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::{Timestamp, Zoned};

use hookexec_files::directories::without_detours;
use hookexec_files::platform::Platform;

/// The environment, the home directory, that for temporary files and the clock.
///
/// Rules and builtins read these here and nowhere else, so that each can be run against another machine's.
#[derive(Clone)]
#[must_use]
pub struct Surroundings {
    env: Arc<OnceLock<Env>>,
    home: Option<Arc<Path>>,
    temp_dir: Arc<Path>,
    now: Arc<dyn Fn() -> Zoned + Send + Sync>,
}

type Env = BTreeMap<OsString, OsString>;

impl Surroundings {
    /// Returns those of this process, as they are now; the environment as it is when a builtin first
    /// asks for it. The clock goes on.
    pub fn of_process() -> Self {
        Self {
            env: Arc::default(),
            home: usable(std::env::home_dir()),
            temp_dir: std::env::temp_dir().into(),
            now: Arc::new(Zoned::now),
        }
    }

    /// Replaces the environment, and with it the home directory and, where it is set, that for
    /// temporary files.
    pub fn with_env<K, V>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let all: Env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.env = Arc::new(OnceLock::from(all));
        self.home = usable(self.path(Platform::HERE.home_variable));
        if let Some(temp_dir) = self.path("TMPDIR")
            && temp_dir.is_absolute()
        {
            self.temp_dir = temp_dir.into();
        }
        self
    }

    /// Stops the clock at a time such as `2026-03-21T10:11:12[Europe/Berlin]`.
    ///
    /// # Errors
    /// When `time` is not a time with a zone.
    pub fn with_time(mut self, time: &str) -> Result<Self, jiff::Error> {
        let time: Zoned = time.parse()?;
        self.now = Arc::new(move || time.clone());
        Ok(self)
    }

    /// Returns the value of an environment variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = Platform::HERE.variable(self.env(), OsStr::new(name))?;
        if value.is_empty() { None } else { Some(value) }
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(PathBuf::from(self.var(name)?))
    }

    /// Returns the environment.
    pub fn env(&self) -> &BTreeMap<OsString, OsString> {
        self.env.get_or_init(|| std::env::vars_os().collect())
    }

    /// Returns the home directory.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the directory for temporary files.
    pub fn temp_dir(&self) -> &Path {
        &self.temp_dir
    }

    /// Returns the local time.
    pub fn now(&self) -> Zoned {
        (self.now)()
    }

    /// Returns the time as RFC 3339 in UTC, to the millisecond.
    pub fn timestamp(&self) -> String {
        let now: Timestamp = self.now().timestamp();
        format!("{now:.3}")
    }
}

/// Returns a home directory as paths can be compared with it.
fn usable(home: Option<PathBuf>) -> Option<Arc<Path>> {
    let home = home?;
    if home.is_absolute() { Some(without_detours(home).into()) } else { None }
}

impl std::fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment holds secrets.
        formatter.debug_struct("Surroundings").field("home", &self.home).finish_non_exhaustive()
    }
}
