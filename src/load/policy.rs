//! The hooks of a policy that comes from elsewhere: those of the bundle that is in force.

use std::sync::Arc;

use super::acceptance::check_file;
use super::loading::Loading;
use super::packs::{known_files, read_bundle};
use crate::config::{Policy, PolicySettings, SourceFile};
use crate::policy::{State, Store};

/// What to do in every case.
const REMEDY: &str = "run `hookexec bundle refresh`: it fetches the policy, or says why it can't";

impl Loading {
    /// Reads the hooks files of the bundle in force. They count as files of the layer that names the
    /// policy. If nothing is in force, or it was changed, or it has expired, the policy is a failure at
    /// every event.
    pub(super) fn policy(&mut self, settings: PolicySettings, user: &Arc<SourceFile>) {
        let location = settings.location.clone();
        let store = Store::beside(location.directory());
        let mut policy =
            Policy { settings, store, state: State::default(), files: Vec::new(), failure: None };
        // A bundle that could name another would go on without an end.
        let found = if self.in_bundle {
            Err("a policy can't name another one".to_owned())
        } else {
            in_force(&mut policy)
        };
        policy.failure = found.as_ref().err().cloned().or_else(|| policy.expired());
        if let Some(cause) = &policy.failure {
            self.unavailable(&location, cause, REMEDY);
        }
        self.assembly.config.policies.push(policy);
        self.bundle(found.unwrap_or_default(), user, &mut None);
    }
}

/// Returns the hooks files of the bundle in force, whose files are all as they were pulled.
fn in_force(policy: &mut Policy) -> Result<Vec<Arc<SourceFile>>, String> {
    let layer = policy.settings.location.file().layer;
    let state_file = policy.store.state_file();
    check_file(layer, &state_file).map_err(|problem| problem.message)?;
    policy.state = policy.store.state()?;
    let Some(in_force) = &policy.state.in_force else {
        return Err(format!("the policy {} was never fetched", policy.settings.source));
    };
    policy.files = known_files(&policy.store, &in_force.digest);
    let manifest = policy.store.check(in_force)?;
    read_bundle(&policy.store.bundle(&in_force.digest), &manifest, layer, layer)
}
