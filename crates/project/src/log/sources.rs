//! The hooks files that a record rests on.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::record::{PolicyRecord, Record};
use hookexec::Config;
use hookexec::config::SourceFile;

use crate::policy::{InForce, Store};
use hookexec_files::files::hexadecimal;

/// The hooks files of a configuration.
#[derive(Debug, Default)]
pub(super) struct Sources {
    digest: String,
    /// Places of hooks as they are shown, and with the whole path: a log is read elsewhere.
    places: HashMap<String, String>,
    /// The policies, with the version in force, whose age grows.
    policies: Vec<(PolicyRecord, Option<InForce>)>,
}

impl Sources {
    /// Returns the files of `config`. Recording an event reads no file.
    pub(super) fn of(config: &Config) -> Self {
        let mut places = HashMap::new();
        let mut digest = Sha256::new();
        let mut last: Option<&Arc<SourceFile>> = None;
        for hook in &config.hooks {
            let file = hook.location.file();
            // The hooks of a file follow one another.
            if !last.is_some_and(|last| Arc::ptr_eq(last, file)) {
                digest.update((file.text.len() as u64).to_be_bytes());
                digest.update(file.text.as_bytes());
                last = Some(file);
            }
            if !file.text.is_empty() {
                places.insert(hook.location.to_string(), hook.location.absolute());
            }
        }
        let digest = format!("sha256:{}", hexadecimal(&digest.finalize()[..16]));
        let mut policies = Vec::new();
        for settings in &config.policies {
            let state = Store::beside(settings.location.directory()).state().unwrap_or_default();
            policies.push((PolicyRecord::new(config, settings, &state), state.in_force));
        }
        Self { digest, places, policies }
    }

    /// Writes into a record what it rests on.
    pub(super) fn name(&self, record: &mut Record) {
        record.config.clone_from(&self.digest);
        for (policy, in_force) in &self.policies {
            let age_s = in_force.as_ref().map(|in_force| in_force.age().as_secs());
            record.policies.push(PolicyRecord { age_s, ..policy.clone() });
        }
        for report in &mut record.hooks {
            if let Some(whole) = self.places.get(&report.source) {
                report.source.clone_from(whole);
            }
        }
    }
}
