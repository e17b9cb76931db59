//! Gets a policy from where it is kept.

use std::path::{Path, PathBuf};

use hookexec::config::Source;
use hookexec_files::files;
use minisign_verify::{PublicKey, Signature};
#[cfg(feature = "http")]
use {
    hookexec_remote::tls_for,
    ureq::{Body, http::Response},
};

use super::archive::MAX_ARCHIVE;
use super::{OrFailure as _, PolicyFailure};

/// The largest signature, in bytes; one takes some 300.
const MAX_SIGNATURE: u64 = 4 << 10;
/// The ending of a signature's name, behind the archive's name.
const ENDING: &str = "minisig";

/// A policy as it came. Nothing of it is checked yet.
pub(super) struct Fetched {
    pub(super) archive: Vec<u8>,
    signature: Vec<u8>,
    /// The `ETag` of the archive, or its digest.
    pub(super) tag: String,
}

impl Fetched {
    /// Returns which of `keys` signed the archive.
    pub(super) fn signed_by(&self, keys: &[String]) -> Result<String, PolicyFailure> {
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
pub(super) fn fetch(
    source: &Source,
    known: Option<&str>,
) -> Result<Option<Fetched>, PolicyFailure> {
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
