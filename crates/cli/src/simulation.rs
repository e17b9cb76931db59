//! One machine of many in one process, in a time that its caller gives: for `benches/fleet` and
//! `tests/fleet`, which run the code of `bundle refresh` and `ship` that every machine runs.

use std::path::Path;
use std::rc::Rc;

use hookexec::Config;
use hookexec::internal::Policy;
use hookexec::internal::policy::State;
use hookexec::load::LoadOptions;
use jiff::Timestamp;

use crate::bundle::refresh::refresh;
use crate::ship::{Collector, Ship, state_path};

/// Tells the time.
pub type Clock = Rc<dyn Fn() -> Timestamp>;

/// A machine whose user's hooks file names a policy and a log.
#[expect(missing_debug_implementations, reason = "a clock has nothing to show")]
pub struct Machine {
    policy: Policy,
    ship: Ship,
    clock: Clock,
}

impl Machine {
    /// Returns the machine whose user's hooks file is in `directory`.
    ///
    /// # Errors
    /// When the file can't be used.
    pub fn new(directory: &Path, collector: &str, clock: &Clock) -> Result<Self, String> {
        let mut options = LoadOptions::default();
        options.user_dir = Some(directory.to_owned());
        options.without_project = true;
        let config = Config::load(&options).map_err(|problems| problems.to_string())?;
        let (Some(policy), Some(audit)) = (config.policies.first(), config.audit.first()) else {
            return Err("the hooks file names no policy, or no log".to_owned());
        };
        let own = policy.clone();
        let ship = Collector::new(Some(collector), &[]).and_then(|collector| {
            let log = audit.path.clone();
            let (path, clock) = (state_path(&log), Rc::clone(clock));
            Ship::new(log, path, collector, move || vec![own.clone()], move || clock())
        });
        let ship = ship.map_err(|error| error.to_string())?;
        Ok(Self { policy: policy.clone(), ship, clock: Rc::clone(clock) })
    }

    /// Refreshes the policy if it is due, and returns what is known about it then.
    ///
    /// # Errors
    /// When the state can't be read.
    pub fn refresh(&self) -> Result<State, String> {
        let now = || u64::try_from((self.clock)().as_second()).unwrap_or_default();
        // What went wrong is in the state.
        drop(refresh(&self.policy, true, &now));
        self.policy.store.state()
    }

    /// Makes a pass over the log, and returns whether the collector took everything, and when the next
    /// pass has something to do even if nothing is recorded.
    ///
    /// # Errors
    /// When the log can't be read.
    pub fn ship(&mut self) -> Result<(bool, Timestamp), String> {
        self.ship.pass().map_err(|error| error.to_string())?;
        Ok(match self.ship.wait() {
            Some(wait) => (false, (self.clock)() + wait),
            None => (true, self.ship.measure_at),
        })
    }
}
