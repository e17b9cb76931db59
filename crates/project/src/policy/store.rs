//! The versions of a policy on this machine, in the directory `policy` beside the hooks file that names
//! it.
//!
//! `state.json` names the version in force, and is replaced by a rename. The files of each version lie in
//! a directory that is named after its digest. A program that can write there can write the hooks file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use hookexec::wire::parse_strict;
use hookexec_files::files;

use super::{MAX_ARCHIVE, OrFailure as _, PolicyFailure};
use crate::layout::DropIn;

/// The state of one policy on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// The version in force.
    pub in_force: Option<InForce>,
    /// Why the last refresh failed; empty when it did not.
    pub problem: String,
    /// When it failed, in seconds since 1970.
    pub failed_at: u64,
}

/// The version in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InForce {
    /// Where it comes from.
    pub source: String,
    /// Which key signed it.
    pub key: String,
    /// The policy's name.
    pub name: String,
    /// The version.
    pub version: u64,
    /// The SHA-256 of the archive, in hexadecimal.
    pub digest: String,
    /// Its files, with the SHA-256 of each in hexadecimal.
    pub files: BTreeMap<String, String>,
    /// The `ETag` of the archive, or its digest.
    pub tag: String,
    /// When the source was last seen to have it, in seconds since 1970.
    pub confirmed: u64,
}

impl InForce {
    /// Returns how long ago the source was last seen to have it.
    pub fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.confirmed))
    }
}

/// Returns the seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The directory of one policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store(PathBuf);

impl Store {
    /// Returns that of the hooks file in `directory`.
    pub fn beside(directory: &Path) -> Self {
        Self(directory.join("policy"))
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// Returns the file with the state.
    pub fn state_file(&self) -> PathBuf {
        self.0.join("state.json")
    }

    /// Reads the state; an empty one if nothing was fetched yet.
    ///
    /// # Errors
    /// When there is one that can't be read.
    pub fn state(&self) -> Result<State, PolicyFailure> {
        let path = self.state_file();
        match read_state(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
            read => read.or_failure(format_args!("`{}` can't be read", path.display())),
        }
    }

    /// Writes the state: whole, or not at all. From then on its version is in force.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&self, state: &State) -> io::Result<()> {
        files::replace_shared(&self.state_file(), &serde_json::to_vec_pretty(state)?, false)
    }

    /// Returns the directory of all versions, which holds nothing else.
    pub fn versions(&self) -> PathBuf {
        self.0.join("versions")
    }

    /// Returns the directory of the version with this digest.
    pub fn version(&self, digest: &str) -> PathBuf {
        // How much of a digest a directory is named after.
        self.versions().join(digest.get(..16).unwrap_or(digest))
    }

    /// Checks that every file of the version in force is as it was fetched.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self, in_force: &InForce) -> Result<(), PolicyFailure> {
        let directory = self.version(&in_force.digest);
        // How many bytes of a policy are hashed when the hooks are loaded: an archive has no more.
        let mut left = MAX_ARCHIVE;
        for (name, digest) in &in_force.files {
            let path = directory.join(name);
            let problem = format!("`{}` is not as it was fetched", path.display());
            if files::digest_of_file(&path, &mut left).or_failure(&problem)? != *digest {
                return Err(PolicyFailure::Refused(format!("{problem}: it was changed")));
            }
        }
        Ok(())
    }
}

fn read_state(path: &Path) -> io::Result<State> {
    let text = String::from_utf8(files::read_regular(path, 4 << 20)?);
    let value = parse_strict(&text.map_err(io::Error::other)?).map_err(io::Error::other)?;
    Ok(serde_json::from_value(value)?)
}

/// Returns the hooks files among the files of a policy, in their order.
///
/// # Errors
/// When there is none, or a file may be meant to be one and is not named like one.
pub fn hooks_files<'n>(
    names: impl Iterator<Item = &'n String>,
) -> Result<Vec<&'n String>, PolicyFailure> {
    let mut found = Vec::new();
    for name in names {
        let drop_in = name.strip_prefix("hooks.d/").filter(|rest| !rest.contains('/'));
        match drop_in.map(|rest| DropIn::of(rest.as_ref())) {
            Some(DropIn::HooksFile) => found.push(name),
            _ if name == "hooks.yaml" => found.insert(0, name),
            Some(DropIn::Misnamed) => {
                let problem = format!("`{name}` is not read: let its name end in `.yaml`");
                return Err(PolicyFailure::Refused(problem));
            }
            _ if ["hooks.yaml", "hooks.yml"].contains(&&*name.to_ascii_lowercase()) => {
                let problem = format!("`{name}` is not read: rename it to `hooks.yaml`");
                return Err(PolicyFailure::Refused(problem));
            }
            _ => {}
        }
    }
    if found.is_empty() {
        return Err(PolicyFailure::refused("it has no `hooks.yaml` and no `hooks.d/*.yaml`"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_files_come_in_their_order_and_nearly_right_names_are_errors() {
        let names = ["a.test.yaml", "hooks.d/a.yml", "hooks.d/b.yaml", "hooks.yaml"];
        let names = names.map(str::to_owned);
        let hooks = hooks_files(names.iter()).unwrap();
        assert_eq!(hooks, ["hooks.yaml", "hooks.d/a.yml", "hooks.d/b.yaml"]);
        for name in ["hooks.d/more.YAML", "hooks.d/more", "hooks.yml", "Hooks.yaml"] {
            let problem = hooks_files([name.to_owned()].iter()).unwrap_err().to_string();
            assert!(problem.contains(&format!("`{name}` is not read")), "{problem}");
        }
        let problem = hooks_files(["lib/hooks.yaml".to_owned()].iter()).unwrap_err().to_string();
        assert!(problem.contains("no `hooks.yaml`"), "{problem}");
    }
}
