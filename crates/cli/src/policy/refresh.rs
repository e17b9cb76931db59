//! `hookexec policy refresh`: fetches the policies that hooks files name, and puts them in force.
//!
//! A version takes the place of the one in force by the rename of `state.json`, after everything else
//! is done. If anything fails before, the old one stays in force.

use std::fs;

use hookexec::Config;
use hookexec::internal::policy::{InForce, State, now};
use hookexec::internal::{Policy, files, system};

use super::archive::Archive;
use super::fetch;
use super::unpacked;
use crate::config::{ConfigArgs, Purpose};
use crate::error::{CommandError, warn};
use crate::{Exit, output};

pub(super) fn execute() -> Result<Exit, CommandError> {
    let mut options = ConfigArgs::default().options(Purpose::Run)?;
    options.without_project = true;
    let Config { policies, .. } = Config::load(&options).map_err(CommandError::config)?;
    if policies.is_empty() {
        let message = "no hooks file of the administrator and of the user names a policy";
        let hint = "add `policy:` to it; `hookexec check` shows the mistakes of a file";
        return Err(CommandError::negative(message).hint(hint));
    }
    let mut exit = Exit::Success;
    for mut policy in policies {
        match refresh(&mut policy) {
            Ok(word) => {
                let version = policy.state.in_force.map_or(0, |in_force| in_force.version);
                let source = &policy.settings.source;
                output::print(&format!("{source}: version {version} is {word}in force\n"))?;
            }
            Err(problem) => {
                exit = Exit::Negative;
                warn(&format!("{} was not refreshed: {problem}", policy.settings.source));
            }
        }
    }
    Ok(exit)
}

/// Fetches one policy. Returns `still ` if the source has the version in force.
fn refresh(policy: &mut Policy) -> Result<&'static str, String> {
    let directory = policy.store.versions();
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    for directory in [policy.store.directory(), &directory] {
        files::private_directory(directory)
            .and_then(|()| system::share(directory))
            .map_err(failed)?;
    }
    let lock = files::open_lock(&policy.store.directory().join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    // Another process may have refreshed it meanwhile. A state that can't be read is replaced.
    policy.state = policy.store.state().unwrap_or_default();
    let before = policy.state.clone();
    let word = match new_version(policy) {
        Ok(new) => {
            let word = if new.is_some() { "" } else { "still " };
            let in_force = new.or_else(|| before.in_force.clone());
            let in_force = in_force.map(|in_force| InForce { confirmed: now(), ..in_force });
            policy.state = State { in_force, ..State::default() };
            Ok(word)
        }
        Err(problem) => {
            policy.state.problem.clone_from(&problem);
            policy.state.failed_at = now();
            Err(problem)
        }
    };
    policy.store.write(&policy.state).map_err(failed)?;
    if word.is_ok() {
        remove_others(policy, &before);
    }
    word
}

/// Fetches, checks and unpacks the version to put in force; `None` if the source has the one that is.
fn new_version(policy: &Policy) -> Result<Option<InForce>, String> {
    let settings = &policy.settings;
    // Files that were changed are fetched anew.
    let sound = policy.current().filter(|in_force| policy.store.check(in_force).is_ok());
    let known = sound.map(|in_force| in_force.tag.as_str()).filter(|tag| !tag.is_empty());
    let Some(fetched) = fetch::fetch(&settings.source, known)? else { return Ok(None) };
    let key = fetched.signed_by(&settings.keys)?;
    let archive = Archive::read(&fetched.archive)?;
    let new = InForce {
        source: settings.source.to_string(),
        key,
        name: archive.manifest.name.clone(),
        version: archive.manifest.version,
        digest: files::digest(&fetched.archive),
        files: archive.digests(),
        tag: fetched.tag,
        confirmed: 0,
    };
    check_succession(policy, &new)?;
    if sound.is_none_or(|in_force| in_force.digest != new.digest) {
        put(policy, &archive, &new.digest)?;
    }
    Ok(Some(new))
}

/// Refuses another policy, and a version that does not follow the one in force. Another key changes
/// nothing; with another source the versions begin anew.
fn check_succession(policy: &Policy, new: &InForce) -> Result<(), String> {
    let wrong_name = |wanted: &str| {
        format!("the source has the policy `{}`, and `{wanted}` is expected", new.name)
    };
    if let Some(wanted) = policy.settings.name.as_ref().filter(|wanted| **wanted != new.name) {
        return Err(wrong_name(wanted));
    }
    let in_force = policy.state.in_force.as_ref();
    let Some(before) = in_force.filter(|before| before.source == new.source) else {
        return Ok(());
    };
    if before.name != new.name {
        return Err(wrong_name(&before.name));
    }
    let (own, other) = (before.version, new.version);
    if other < own || other == own && new.digest != before.digest {
        return Err(format!(
            "the source has version {other}, and another version {own} is in force: build the \
             directory with a version above {own}"
        ));
    }
    Ok(())
}

/// Tests a version on this machine, and puts its files into its directory.
fn put(policy: &Policy, archive: &Archive, digest: &str) -> Result<(), String> {
    // Not in the directory for temporary files, from which some machines execute nothing.
    let scratch = unpacked::scratch(&policy.store.versions()).map_err(|error| error.to_string())?;
    let results = unpacked::test(archive, scratch.path()).map_err(|error| error.to_string())?;
    let mut cases = results.files.iter().flat_map(|file| &file.cases);
    if let Some(case) = cases.find(|case| !case.passed) {
        let failed = results.failed;
        return Err(format!("its test case `{}` fails here ({failed} in all)", case.name));
    }
    let (ready, place) = (scratch.path().join("ready"), policy.store.version(digest));
    let moved = unpacked::unpack(archive, &ready).and_then(|()| {
        if place.exists() {
            fs::rename(&place, scratch.path().join("old"))?;
        }
        fs::rename(&ready, &place)
    });
    moved.map_err(|error| format!("can't unpack into {}: {error}", place.display()))
}

/// Removes the versions that are neither in force nor were before: hooks that run may need that still.
fn remove_others(policy: &Policy, before: &State) {
    let both = [&policy.state.in_force, &before.in_force].into_iter().flatten();
    let kept: Vec<_> = both.map(|in_force| policy.store.version(&in_force.digest)).collect();
    let Ok(entries) = policy.store.versions().read_dir() else { return };
    for entry in entries.flatten().filter(|entry| !kept.contains(&entry.path())) {
        let _ = fs::remove_dir_all(entry.path());
    }
}
