//! Fetches a policy, and puts it in force.
//!
//! A version takes the place of the one in force by the rename of `state.json`, after everything else
//! is done. If anything fails before, the old one stays in force.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookexec::config::Source;
use hookexec_files::files;
use hookexec_files::platform::system;
use minisign_verify::{PublicKey, Signature};
#[cfg(feature = "http")]
use {
    hookexec_remote::tls_for,
    ureq::{Body, http::Response},
};

use super::archive::{Archive, MAX_ARCHIVE};
use super::{InForce, OrFailure as _, Policy, PolicyFailure, State, archive, now};

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
    let Some(fetched) = fetch(&settings.source, known)? else { return Ok(None) };
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

/// The largest signature, in bytes; one takes some 300.
const MAX_SIGNATURE: u64 = 4 << 10;
/// The ending of a signature's name, behind the archive's name.
const ENDING: &str = "minisig";

/// A policy as it came. Nothing of it is checked yet.
struct Fetched {
    archive: Vec<u8>,
    signature: Vec<u8>,
    /// The `ETag` of the archive, or its digest.
    tag: String,
}

impl Fetched {
    /// Returns which of `keys` signed the archive.
    fn signed_by(&self, keys: &[String]) -> Result<String, PolicyFailure> {
        let signature = String::from_utf8_lossy(&self.signature);
        let signature =
            Signature::decode(&signature).or_failure("its signature is not one of minisign")?;
        for key in keys {
            let Ok(public) = PublicKey::from_base64(key) else {
                let problem = format!("`{key}` is not a public key of minisign");
                return Err(PolicyFailure::refused(problem));
            };
            if public.verify(&self.archive, &signature, false).is_ok() {
                return Ok(key.clone());
            }
        }
        let problem =
            "its signature is not that of the key: it was changed, or another key signed it";
        Err(PolicyFailure::refused(problem))
    }
}

/// Returns where the signature of the archive at `path` is.
pub fn signature_of(path: &Path) -> PathBuf {
    path.with_added_extension(ENDING)
}

/// Returns the policy at `source`; `None` if it is still the one with the tag `known`.
fn fetch(source: &Source, known: Option<&str>) -> Result<Option<Fetched>, PolicyFailure> {
    let Some(path) = source.path().map(Path::new) else {
        return download(&source.to_string(), known);
    };
    let archive = files::read_regular(path, MAX_ARCHIVE)
        .or_failure(format_args!("can't read {}", path.display()))?;
    let tag = format!("sha256:{}", files::digest(&archive));
    if known == Some(&*tag) {
        return Ok(None);
    }
    let path = signature_of(path);
    let signature = files::read_regular(&path, MAX_SIGNATURE)
        .or_failure(format_args!("can't read {}", path.display()))?;
    Ok(Some(Fetched { archive, signature, tag }))
}

#[cfg(not(feature = "http"))]
fn download(_: &str, _: Option<&str>) -> Result<Option<Fetched>, PolicyFailure> {
    Err(PolicyFailure::refused("this hookexec was built without HTTP: use `file:///PATH`"))
}

#[cfg(feature = "http")]
fn download(address: &str, known: Option<&str>) -> Result<Option<Fetched>, PolicyFailure> {
    let archive = get(address, known)?;
    // Without a condition this answer is a failure: it has no content.
    if known.is_some() && archive.status() == 304 {
        return Ok(None);
    }
    let tag = archive.headers().get("etag").cloned();
    let tag = tag.as_ref().and_then(|tag| tag.to_str().ok()).unwrap_or_default();
    let archive = content(address, archive, MAX_ARCHIVE)?;
    let address = format!("{address}.{ENDING}");
    let signature = content(&address, get(&address, None)?, MAX_SIGNATURE)?;
    Ok(Some(Fetched { archive, signature, tag: tag.to_owned() }))
}

#[cfg(feature = "http")]
fn get(address: &str, known: Option<&str>) -> Result<Response<Body>, PolicyFailure> {
    let config = ureq::Agent::config_builder()
        .https_only(true)
        .tls_config(tls_for(address))
        .timeout_global(Some(std::time::Duration::from_mins(1)))
        .user_agent(concat!("hookexec/", env!("CARGO_PKG_VERSION")));
    let mut request = config.build().new_agent().get(address);
    if let Some(known) = known {
        request = request.header("if-none-match", known);
    }
    request.call().or_failure(format_args!("GET {address}"))
}

#[cfg(feature = "http")]
fn content(address: &str, response: Response<Body>, most: u64) -> Result<Vec<u8>, PolicyFailure> {
    let body = response.into_body().into_with_config().limit(most);
    body.read_to_vec().or_failure(format_args!("GET {address}"))
}
