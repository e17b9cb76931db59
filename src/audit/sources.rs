//! What a record rests on: the hooks files, and the scripts that they name.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::record::Record;
use crate::config::{AuditSettings, Config, Hook, Location, SourceFile};
use crate::files::{self, hexadecimal};
use crate::trust::scripts::Places;

/// The longest script whose bytes are looked at, in bytes: that is done at every event.
const MAX_SCRIPT: u64 = 1 << 20;

/// The files of a configuration.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// A digest of the hooks files.
    config: String,
    /// The scripts with their names, which do not depend on where the project lies.
    scripts: Vec<(String, PathBuf)>,
    /// Places of hooks as they are shown, and with the whole path: a log is read elsewhere.
    places: HashMap<String, String>,
}

impl Sources {
    /// Returns the files of `config`, whose hooks run in `project`.
    pub(super) fn of(config: &Config, project: &Path, logs: &[AuditSettings]) -> Self {
        let mut sources = Self::default();
        let mut digest = Sha256::new();
        let mut seen: Vec<&Arc<SourceFile>> = Vec::new();
        for hook in &config.hooks {
            let file = hook.location.file();
            if !seen.iter().any(|other| Arc::ptr_eq(other, file)) {
                digest.update((file.text.len() as u64).to_be_bytes());
                digest.update(file.text.as_bytes());
                sources.add_scripts(config, &hook.location, project);
                seen.push(file);
            }
            if !file.text.is_empty() {
                sources.places.insert(hook.location.to_string(), hook.location.absolute());
            }
        }
        sources.config = told(digest);
        // A log that a hook reads is no script, and changes at every event.
        let is_log = |path: &Path| {
            logs.iter().any(|log| log.path.canonicalize().ok().as_deref() == Some(path))
        };
        sources.scripts.retain(|(_, path)| !is_log(path));
        sources.scripts.sort();
        sources.scripts.dedup();
        sources
    }

    fn add_scripts(&mut self, config: &Config, location: &Location, project: &Path) {
        let places = Places::new(location.path(), project);
        let of_file = |hook: &&Hook| Arc::ptr_eq(hook.location.file(), location.file());
        for hook in config.hooks.iter().filter(of_file) {
            self.scripts.extend(places.executed(hook, &config.processes, false).scripts);
        }
    }

    /// Writes into a record what it rests on.
    pub(super) fn name(&self, record: &mut Record) {
        record.config.clone_from(&self.config);
        record.scripts = self.digest_scripts();
        for report in &mut record.hooks {
            if let Some(whole) = self.places.get(&report.source) {
                report.source.clone_from(whole);
            }
        }
    }

    /// Returns a digest of the scripts as they are now; nothing when there are none.
    fn digest_scripts(&self) -> String {
        if self.scripts.is_empty() {
            return String::new();
        }
        let mut digest = Sha256::new();
        for (name, path) in &self.scripts {
            digest.update(format!("{} {name}\n", name.len()));
            digest.update(digest_of(path).unwrap_or_default());
        }
        told(digest)
    }
}

/// Returns the digest of a file's bytes; of one that is too long, of its length.
fn digest_of(path: &Path) -> Option<[u8; 32]> {
    let file = files::open_regular(path).ok()?;
    let metadata = file.metadata().ok()?;
    let mut bytes = Vec::new();
    if metadata.len() <= MAX_SCRIPT {
        file.take(MAX_SCRIPT).read_to_end(&mut bytes).ok()?;
    } else {
        bytes.extend(metadata.len().to_be_bytes());
    }
    Some(Sha256::digest(&bytes).into())
}

fn told(digest: Sha256) -> String {
    format!("sha256:{}", hexadecimal(&digest.finalize()[..16]))
}
