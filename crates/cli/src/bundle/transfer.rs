//! Moves bundles between this machine and where they are kept.

use hookexec::internal::files;
use hookexec::internal::policy::Source;

use super::archive::MAX_ARCHIVE;
use super::signature::{self, MAX_SIGNATURE};
use crate::error::CommandError;

/// The parts of a bundle as they were pulled. Nothing of them is checked yet.
pub(super) struct Pulled {
    pub(super) archive: Vec<u8>,
    pub(super) signature: Vec<u8>,
    /// What tells this version at the source from another.
    pub(super) tag: String,
}

/// Returns the bundle at `source`; `None` if it is still the one with the tag `known`.
pub(super) fn pull(source: &Source, known: Option<&str>) -> Result<Option<Pulled>, String> {
    match source {
        Source::File(path) => {
            let read = |path: &std::path::Path, most| {
                files::read_regular(path, most)
                    .map_err(|error| format!("can't read {}: {error}", path.display()))
            };
            let archive = read(path, MAX_ARCHIVE)?;
            let tag = format!("sha256:{}", files::digest(&archive));
            if known == Some(&*tag) {
                return Ok(None);
            }
            let signature = read(&signature::beside(path), MAX_SIGNATURE)?;
            Ok(Some(Pulled { archive, signature, tag }))
        }
        #[cfg(feature = "http")]
        Source::Https(address) => super::registry::download(address, known),
        #[cfg(feature = "http")]
        Source::Oci(reference) => super::registry::Registry::new(reference).pull(known),
        #[cfg(not(feature = "http"))]
        Source::Https(_) | Source::Oci(_) => Err(NO_HTTP.to_owned()),
    }
}

/// Returns the archive with this digest. A registry is asked for the archive itself, whatever its tag
/// leads to now.
pub(super) fn pinned(source: &Source, digest: &str) -> Result<Vec<u8>, String> {
    let archive = match source {
        #[cfg(feature = "http")]
        Source::Oci(reference) => super::registry::Registry::new(reference).archive(digest)?,
        other => pull(other, None)?.map(|pulled| pulled.archive).unwrap_or_default(),
    };
    let found = files::digest(&archive);
    (found == digest).then_some(archive).ok_or_else(|| {
        format!(
            "the source has sha256:{found} now: `hookexec bundle update` shows what would change"
        )
    })
}

/// Stores a bundle in a registry, and returns the digest that it has there.
pub(super) fn push(
    target: &Source,
    archive: &[u8],
    signature: &[u8],
    version: u64,
) -> Result<String, CommandError> {
    match target {
        #[cfg(feature = "http")]
        Source::Oci(reference) => super::registry::Registry::new(reference)
            .push(archive, signature, version)
            .map_err(CommandError::negative),
        #[cfg(not(feature = "http"))]
        Source::Oci(_) => {
            let _ = (archive, signature, version);
            Err(CommandError::usage(NO_HTTP))
        }
        Source::Https(_) | Source::File(_) => {
            Err(CommandError::usage("a bundle is pushed to `oci://HOST/REPOSITORY:TAG`")
                .hint("copy the bundle and its `.minisig` to any other place"))
        }
    }
}

#[cfg(not(feature = "http"))]
const NO_HTTP: &str = "this hookexec was built without HTTP: use `file:///PATH`";
