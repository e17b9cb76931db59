//! Refreshes that no event waits for.

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hookexec::internal::policy::now;
use hookexec::internal::{Policy, locked};

use super::refresh::lock;
use crate::system;

/// How often a server looks whether a refresh is due.
const LOOK: Duration = Duration::from_secs(2);

/// Starts a process that refreshes the policies whose time has come, and waits for nothing. A policy
/// that this user can't write is left to the administrator.
pub(crate) fn start_due(policies: &[Policy]) {
    if let Some(Err(error)) = due(policies).then(start) {
        tracing::warn!("the refresh of a policy can't be started: {error}");
    }
}

fn due(policies: &[Policy]) -> bool {
    policies.iter().filter(|policy| policy.is_due(now())).any(|policy| {
        let directory = policy.store.directory();
        let is_first = || !directory.exists() && std::fs::create_dir(directory).is_ok();
        // If the lock is held, a refresh is under way.
        (directory.is_dir() || is_first()) && matches!(lock(directory), Ok(Some(_)))
    })
}

fn start() -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bundle", "refresh", "--due"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    system::detach(&mut command).spawn()
}

/// The policies of a server, which are refreshed as long as it runs.
#[derive(Default)]
pub(crate) struct Refresher(Arc<Mutex<Vec<Policy>>>);

impl Refresher {
    pub(crate) fn new() -> Self {
        let refresher = Self::default();
        let policies = Arc::downgrade(&refresher.0);
        let look = move || {
            while let Some(policies) = policies.upgrade() {
                let mut policies = locked(&policies).clone();
                for policy in &mut policies {
                    policy.state = policy.store.state().unwrap_or_default();
                }
                if due(&policies) {
                    let _ = start().and_then(|mut child| child.wait());
                }
                thread::sleep(LOOK);
            }
        };
        // Without the thread, calls of `hookexec run` and a timer still refresh.
        let _ = thread::Builder::new().name("refresh".to_owned()).spawn(look);
        refresher
    }

    /// Takes over what the hooks files name now.
    pub(crate) fn set(&self, policies: &[Policy]) {
        *locked(&self.0) = policies.to_vec();
    }
}
