//! `hookexec bundle refresh`: fetches the policies and packs that hooks files name, and puts the policies
//! in force.
//!
//! A bundle takes the place of the one in force by the rename of `state.json`, after everything else
//! is done. Whatever goes wrong before leaves the old one in force.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use hookexec::Config;
use hookexec::internal::policy::{DIRECTORY_NAME, InForce, MANIFEST, State, Store, now};
use hookexec::internal::{Pack, Policy, files, system};

use super::archive::Archive;
use super::unpacked::{self, SCRATCH, Scratch};
use super::{signature, transfer};
use crate::chance::around;
use crate::config::ConfigArgs;
use crate::error::{CommandError, warn};
use crate::{Exit, output};

/// How long after the first failure a refresh is tried again where nothing was fetched yet. The time
/// doubles with each failure.
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// How long it gets at most.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// How long another process may refresh a policy before a person is told so.
const PATIENCE: Duration = Duration::from_mins(5);

/// What became of a policy.
pub(crate) enum Refreshed {
    /// Its refresh is not due yet, or is under way.
    NotDue,
    /// The source has what is in force.
    Same(u64),
    /// This version is in force from now on.
    New(u64),
}

/// Fetches every policy, and every pack of a file that counts; with `due` the policies whose time has
/// come.
pub(super) fn execute(due: bool) -> Result<Exit, CommandError> {
    if due {
        // A signal to the caller's process group must not end it.
        crate::system::leave_session();
    }
    let mut options = ConfigArgs::default().options()?;
    options.without_project = due;
    let Config { policies, packs, .. } = Config::load(&options).map_err(CommandError::config)?;
    if policies.is_empty() && packs.is_empty() && !due {
        let message = "no hooks file that counts names a policy or uses a pack";
        let hint = "`policy:` and `use:` name them; a project's file must be approved first, and \
                    `hookexec check` shows the mistakes of a file";
        return Err(CommandError::negative(message).hint(hint));
    }
    let mut all_well = true;
    for pack in packs.iter().filter(|_| !due) {
        let Pack { source, location, .. } = pack;
        match fetch_pack(pack) {
            Ok(true) => output::print(&format!("{source}: fetched\n"))?,
            Ok(false) => output::print(&format!("{source}: already here\n"))?,
            Err(problem) => {
                all_well = false;
                warn(&format!("{location}: {source} was not fetched: {problem}"));
            }
        }
    }
    for policy in &policies {
        let source = &policy.settings.source;
        match refresh(policy, due, &now) {
            Ok(Refreshed::NotDue) => {}
            Ok(Refreshed::Same(version)) => {
                output::print(&format!("{source}: version {version} is still in force\n"))?;
            }
            Ok(Refreshed::New(version)) => {
                output::print(&format!("{source}: version {version} is in force\n"))?;
            }
            Err(problem) => {
                all_well = false;
                warn(&format!("{source} was not refreshed: {problem}"));
            }
        }
    }
    Ok(if all_well { Exit::Success } else { Exit::Negative })
}

/// Fetches a pack by its digest, and returns whether it was not here yet.
pub(super) fn fetch_pack(pack: &Pack) -> Result<bool, String> {
    let digest = pack.digest.as_ref().ok_or("it is not pinned: run `hookexec bundle update`")?;
    let store = pack.store.as_ref().ok_or("no home directory is known: set HOME")?;
    if store.check_pack(digest).is_ok() {
        return Ok(false);
    }
    let bytes = transfer::pinned(&pack.source, digest)?;
    keep_pack(store, &bytes, &Archive::read(&bytes)?).map(|()| true)
}

/// Tests a pack on this machine, and puts it into the store.
pub(super) fn keep_pack(store: &Store, bytes: &[u8], archive: &Archive) -> Result<(), String> {
    if let Some(problem) = archive.manifest.too_new() {
        return Err(problem);
    }
    let (digest, directory) = (files::digest(bytes), store.directory());
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let _held = hold(directory, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
    put(archive, directory, &store.bundle(&digest))?;
    files::replace_shared(&store.archive(&digest), bytes).map_err(failed)
}

/// Fetches one policy, or with `only_due` if its time has come by the clock `now`, in seconds since
/// 1970.
pub(crate) fn refresh(
    policy: &Policy,
    only_due: bool,
    now: &dyn Fn() -> u64,
) -> Result<Refreshed, String> {
    let directory = policy.store.directory();
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let patience = if only_due { Duration::ZERO } else { PATIENCE };
    let Some(_held) = hold(directory, patience).map_err(failed)? else {
        return if only_due { Ok(Refreshed::NotDue) } else { Err(busy()) };
    };
    let mut policy = policy.clone();
    // Another process may have refreshed it meanwhile. A state that can't be read is replaced.
    policy.state = policy.store.state().unwrap_or_default();
    if only_due && !policy.is_due(now()) {
        return Ok(Refreshed::NotDue);
    }
    // If this process is killed, the next one waits as after a failure.
    policy.state.about = policy.settings.about();
    policy.state.next = now() + wait(&policy, policy.state.failures + 1).as_secs();
    policy.store.write(&policy.state).map_err(failed)?;

    let fetched = fetch(&policy, now);
    let state = &mut policy.state;
    let result = match fetched {
        Ok(new) => {
            let is_new = new.is_some();
            if let Some(in_force) = new {
                state.in_force = Some(in_force);
            }
            (state.failures, state.failed_at) = (0, 0);
            state.problem.clear();
            let version = state.in_force.as_mut().map_or(0, |in_force| {
                in_force.confirmed = now();
                in_force.version
            });
            Ok(if is_new { Refreshed::New(version) } else { Refreshed::Same(version) })
        }
        Err(problem) => {
            state.failures = state.failures.saturating_add(1);
            state.failed_at = now();
            state.problem.clone_from(&problem);
            Err(problem)
        }
    };
    policy.state.next = now() + wait(&policy, policy.state.failures).as_secs();
    policy.store.write(&policy.state).map_err(failed)?;
    if result.is_ok() {
        remove_others(directory, &policy.state);
    }
    result
}

/// Returns the bundle to put in force; `None` if the source has the one that is.
fn fetch(policy: &Policy, now: &dyn Fn() -> u64) -> Result<Option<InForce>, String> {
    let settings = &policy.settings;
    let current = policy.current();
    // Files that were changed are fetched anew.
    let sound = current.filter(|in_force| policy.store.check(in_force).is_ok());
    let known = sound.map(|in_force| in_force.tag.as_str()).filter(|tag| !tag.is_empty());
    let Some(pulled) = transfer::pull(&settings.source, known)? else {
        let unasked = "the source says that nothing has changed, and was not asked that";
        return known.map(|_| None).ok_or_else(|| unasked.to_owned());
    };
    let key = signature::verify(&pulled.archive, &pulled.signature, &settings.keys)?;
    let archive = Archive::read(&pulled.archive)?;
    let manifest = &archive.manifest;
    if let Some(problem) = manifest.too_new() {
        return Err(problem);
    }
    let digest = files::digest(&pulled.archive);
    // The key counts no more than the source: with another key the versions go on.
    let before = policy.state.in_force.as_ref();
    let before = before.filter(|it| it.source == settings.source.to_string());
    if let Some(before) = before {
        let (own, other) = (before.version, manifest.version);
        if other < own {
            return Err(format!(
                "the source has version {other}, and {own} is in force: to go back, build the old \
                 directory with a version above {own}"
            ));
        }
        if other == own && digest != before.digest {
            return Err(format!(
                "the source has another version {own} than the one in force: build it with a version \
                 above {own}"
            ));
        }
    }
    let store = &policy.store;
    let is_there = before.is_some_and(|it| it.digest == digest && store.check(it).is_ok());
    if !is_there {
        put(&archive, store.directory(), &store.bundle(&digest))?;
    }
    let since = before.filter(|it| it.digest == digest).map_or_else(now, |it| it.since);
    Ok(Some(InForce {
        source: settings.source.to_string(),
        key,
        version: manifest.version,
        digest,
        manifest: files::digest(&archive.manifest_bytes),
        tag: pulled.tag,
        since,
        confirmed: now(),
    }))
}

/// Tests a bundle on this machine, and puts its files into the directory `place`.
fn put(archive: &Archive, directory: &Path, place: &Path) -> Result<(), String> {
    // Not in the directory for temporary files, from which some machines execute nothing.
    let scratch = Scratch::new(directory).map_err(|error| error.to_string())?;
    let results = unpacked::test(archive, scratch.path()).map_err(|error| error.to_string())?;
    let cases = results.files.iter().flat_map(|file| &file.cases);
    if let Some(case) = cases.clone().find(|case| !case.passed) {
        let failed = cases.filter(|case| !case.passed).count();
        return Err(format!("its test case `{}` fails here ({failed} in all)", case.name));
    }
    let ready = scratch.path().join("ready");
    let moved = unpacked::unpack(archive, &ready).and_then(|()| {
        if place.exists() {
            fs::rename(place, scratch.path().join("old"))?;
        }
        fs::rename(&ready, place)
    });
    moved.map_err(|error| format!("can't unpack into {}: {error}", place.display()))
}

/// Removes what is neither in force nor was in force before: hooks that run may need that still.
fn remove_others(directory: &Path, state: &State) {
    let Ok(entries) = directory.read_dir() else { return };
    let is_id = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let in_force = state.in_force.as_ref().map(|it| it.digest.as_str()).unwrap_or_default();
    let mut others = Vec::new();
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // Only what a refresh made: the directory may hold files of its owner, too.
        if name.strip_prefix(SCRATCH).is_some_and(|id| is_id(id, 32)) {
            // A process that was killed left it.
            let _ = fs::remove_dir_all(path);
        } else if is_id(&name, DIRECTORY_NAME)
            && path.join(MANIFEST).is_file()
            && !in_force.starts_with(&*name)
            && let Ok(modified) = path.metadata().and_then(|it| it.modified())
        {
            others.push((modified, path));
        }
    }
    others.sort();
    for (_, path) in others.iter().rev().skip(1) {
        let _ = fs::remove_dir_all(path);
    }
}

/// Returns how long to wait after so many failures. Chance keeps many machines apart.
///
/// A registry that fails all machines at once is asked three times as often as before, at most, and
/// gets them all back within one `refresh`.
fn wait(policy: &Policy, failures: u32) -> Duration {
    let refresh = policy.settings.refresh;
    let wait = match failures {
        0 => refresh,
        failures => {
            let first = if policy.state.in_force.is_some() { refresh / 4 } else { FIRST_WAIT };
            let doubled = first.saturating_mul(1 << (failures - 1).min(20));
            doubled.min(refresh).min(LONGEST_WAIT)
        }
    };
    around(wait)
}

/// Says that another process holds the lock.
fn busy() -> String {
    format!("another process has refreshed it for {PATIENCE:?}")
}

/// Makes the directory of a policy or of packs, and returns its lock; `None` when another process holds
/// it for longer than `patience`.
fn hold(directory: &Path, patience: Duration) -> std::io::Result<Option<File>> {
    files::private_directory(directory).and_then(|()| system::share(directory))?;
    let mut held = lock(directory)?;
    if held.is_none() && !patience.is_zero() {
        warn(&format!("another process refreshes {}: waiting for it", directory.display()));
    }
    let until = Instant::now() + patience;
    while held.is_none() && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
        held = lock(directory)?;
    }
    Ok(held)
}

/// Returns the lock of a policy; `None` when another process holds it.
pub(super) fn lock(directory: &Path) -> std::io::Result<Option<File>> {
    files::try_lock(&directory.join("lock"))
}
