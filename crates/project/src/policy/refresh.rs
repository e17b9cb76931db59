//! Fetches a policy, and puts it in force.
//!
//! A version takes the place of the one in force by the rename of `state.json`, after everything else
//! is done. If anything fails before, the old one stays in force.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hookexec_files::files;
use hookexec_files::platform::system;

use super::archive::Archive;
use super::{InForce, Policy, State, archive, fetch, now};
use super::{OrFailure as _, PolicyFailure};

/// Runs the test cases of a policy in a directory. They hold, or why they do not.
pub type TestPolicy = fn(&Archive, &Path) -> Result<(), PolicyFailure>;

/// Fetches one policy, and puts it in force if its test cases hold. Returns whether it is a new version.
///
/// # Errors
/// Why it was not refreshed. It is kept in the state of the policy, too.
pub fn refresh(policy: &mut Policy, test: TestPolicy) -> Result<bool, PolicyFailure> {
    let (directory, versions) = (policy.store.directory().to_owned(), policy.store.versions());
    for made in [&directory, &versions] {
        files::private_directory(made).or_failure(made.display())?;
        system::share_directory(made).or_failure(made.display())?;
    }
    let lock = files::open_lock(&directory.join("lock")).or_failure(directory.display())?;
    lock.lock().or_failure(directory.display())?;
    // Another process may have refreshed it meanwhile. A state that can't be read is replaced.
    policy.state = policy.store.state().unwrap_or_default();
    let before = policy.state.in_force.clone();
    let new = new_version(policy, test);
    match &new {
        Ok(new) => {
            let mut in_force = new.as_ref().or(before.as_ref()).cloned();
            if let Some(in_force) = &mut in_force {
                in_force.confirmed = now();
            }
            policy.state = State { in_force, ..State::default() };
        }
        Err(problem) => {
            policy.state.problem = problem.to_string();
            policy.state.failed_at = now();
        }
    }
    policy.store.write(&policy.state).or_failure(directory.display())?;
    let is_new = new?.is_some();
    remove_others(policy, before.as_ref());
    Ok(is_new)
}

/// Fetches, checks and unpacks the version to put in force; `None` if the source has the one that is.
fn new_version(policy: &Policy, test: TestPolicy) -> Result<Option<InForce>, PolicyFailure> {
    let settings = &policy.settings;
    // Files that were changed are fetched anew.
    let sound = policy.current().filter(|in_force| policy.store.check(in_force).is_ok());
    let known = sound.map(|in_force| in_force.tag.as_str()).filter(|tag| !tag.is_empty());
    let Some(fetched) = fetch::fetch(&settings.source, known)? else { return Ok(None) };
    let key = fetched.signed_by(&settings.keys)?;
    let archive = Archive::read(&fetched.archive)?;
    let mut digests = BTreeMap::new();
    for (name, file) in &archive.files {
        digests.insert(name.clone(), files::digest(&file.bytes));
    }
    let new = InForce {
        source: settings.source.to_string(),
        key,
        name: archive.manifest.name.clone(),
        version: archive.manifest.version,
        digest: files::digest(&fetched.archive),
        files: digests,
        tag: fetched.tag,
        confirmed: 0,
    };
    check_succession(policy, &new)?;
    let is_in_force = matches!(sound, Some(in_force) if in_force.digest == new.digest);
    if !is_in_force {
        put(policy, &archive, &new.digest, test)?;
    }
    Ok(Some(new))
}

/// Refuses another policy, and a version that does not follow the one in force. Another key changes
/// nothing; with another source the versions begin anew.
fn check_succession(policy: &Policy, new: &InForce) -> Result<(), PolicyFailure> {
    let before = policy.state.in_force.as_ref().filter(|before| before.source == new.source);
    for wanted in [policy.settings.name.as_ref(), before.map(|before| &before.name)] {
        if let Some(wanted) = wanted
            && *wanted != new.name
        {
            let problem = "the source has the policy";
            let problem = format!("{problem} `{}`, and `{wanted}` is expected", new.name);
            return Err(PolicyFailure::refused(problem));
        }
    }
    let Some(before) = before else { return Ok(()) };
    let (own, other) = (before.version, new.version);
    if other < own || other == own && new.digest != before.digest {
        return Err(PolicyFailure::refused(format!(
            "the source has version {other}, and another version {own} is in force: build the \
             directory with a version above {own}"
        )));
    }
    Ok(())
}

/// Tests a version on this machine, and puts its files into its directory.
fn put(
    policy: &Policy,
    archive: &Archive,
    digest: &str,
    test: TestPolicy,
) -> Result<(), PolicyFailure> {
    // Not in the directory for temporary files, from which some machines execute nothing.
    let scratch = archive::scratch(&policy.store.versions())?;
    test(archive, scratch.path())?;
    let (ready, place) = (scratch.path().join("ready"), policy.store.version(digest));
    archive::unpack(archive, &ready)?;
    if place.exists() {
        fs::rename(&place, scratch.path().join("old"))
            .or_failure(format_args!("can't write {}", place.display()))?;
    }
    fs::rename(&ready, &place).or_failure(format_args!("can't write {}", place.display()))
}

/// Removes the versions that are neither in force nor were before: hooks that run may need that still.
fn remove_others(policy: &Policy, before: Option<&InForce>) {
    let both = [policy.state.in_force.as_ref(), before];
    let kept = both.map(|in_force| Some(policy.store.version(&in_force?.digest)));
    let Ok(entries) = policy.store.versions().read_dir() else { return };
    for entry in entries.flatten() {
        if !kept.contains(&Some(entry.path())) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
