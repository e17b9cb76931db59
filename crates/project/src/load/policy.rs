//! The hooks of a policy that many machines share: those of the version that is in force.

use std::sync::Arc;

use super::directory::{check_file, read};
use super::loading::Loading;
use hookexec::config::{InLayer as _, PolicySettings, SourceFile};

use crate::policy::{Policy, PolicyFailure, State, Store, hooks_files};

/// The remedy for every failure of a policy.
const REMEDY: &str = "run `hookexec policy refresh`: it fetches the policy, or says why it can't";

impl Loading {
    /// Reads the hooks files of the version in force. They count as files of the layer that names the
    /// policy. If nothing is in force, or it was changed, or it has expired, the policy is a failure at
    /// every event.
    pub(super) fn policy(&mut self, settings: PolicySettings) {
        let location = settings.location.clone();
        let store = Store::beside(location.directory());
        let mut policy =
            Policy { settings, store, state: State::default(), files: Vec::new(), failure: None };
        // A policy that could name another would go on without an end.
        let is_inner = std::mem::replace(&mut self.in_policy, true);
        let found = if is_inner {
            Err(PolicyFailure::refused("a policy can't name another one"))
        } else {
            in_force(&mut policy)
        };
        policy.failure = match &found {
            Ok(_) => policy.expired(),
            Err(error) => Some(error.to_string()),
        };
        if let Some(cause) = &policy.failure {
            self.unavailable(&location, cause, REMEDY);
        }
        self.builder.add_policy(policy.settings.clone());
        self.policies.push(policy);
        for file in found.unwrap_or_default() {
            if self.may_read(file.layer(), &file.path) && self.admit(&file) {
                self.evaluate(&file, None);
            }
        }
        self.in_policy = is_inner;
    }
}

/// Returns the hooks files of the version in force, whose files are all as they were fetched.
fn in_force(policy: &mut Policy) -> Result<Vec<Arc<SourceFile>>, PolicyFailure> {
    let layer = policy.settings.location.file().layer();
    check_file(&policy.store.state_file(), layer).map_err(PolicyFailure::unsafe_file)?;
    policy.state = policy.store.state()?;
    let Some(in_force) = &policy.state.in_force else {
        let source = &policy.settings.source;
        return Err(PolicyFailure::refused(format!("the policy {source} was never fetched")));
    };
    let directory = policy.store.version(&in_force.digest);
    // They are watched also when one of them was changed: it may be restored.
    policy.files = in_force.files.keys().map(|name| directory.join(name)).collect();
    policy.store.check(in_force)?;
    let mut found = Vec::new();
    for name in hooks_files(in_force.files.keys())? {
        let path = directory.join(name);
        let text = read(&path, layer).map_err(PolicyFailure::unsafe_file)?;
        found.push(Arc::new(SourceFile::new(path, text).in_layer(layer)));
    }
    Ok(found)
}
