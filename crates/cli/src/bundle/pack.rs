//! Packs on this machine.

use hookexec::internal::policy::Store;
use hookexec::internal::{Pack, files};

use super::archive::Archive;
use super::refresh::{PATIENCE, busy, hold, put};
use super::transfer;

/// Fetches a pack by its digest, and returns whether it was not here yet.
pub(super) fn fetch(pack: &Pack) -> Result<bool, String> {
    let digest = pack.digest.as_ref().ok_or("it is not pinned: run `hookexec bundle update`")?;
    let store = pack.store.as_ref().ok_or("no home directory is known: set HOME")?;
    if store.check_pack(digest).is_ok() {
        return Ok(false);
    }
    let bytes = transfer::pinned(&pack.source, digest)?;
    keep(store, &bytes, &Archive::read(&bytes)?).map(|()| true)
}

/// Tests a pack on this machine, and puts it into the store.
pub(super) fn keep(store: &Store, bytes: &[u8], archive: &Archive) -> Result<(), String> {
    if let Some(problem) = archive.manifest.too_new() {
        return Err(problem);
    }
    let (digest, directory) = (files::digest(bytes), store.directory());
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let _held = hold(directory, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
    put(archive, directory, &store.bundle(&digest))?;
    files::replace_shared(&store.archive(&digest), bytes).map_err(failed)
}
