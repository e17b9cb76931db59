//! Signatures of bundles, as minisign makes them: of the archive's bytes, in a file beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use minisign_verify::{PublicKey, Signature};

use crate::error::{CommandError, OrCommandError as _};

/// What is behind the archive's name in that of its signature.
pub(crate) const ENDING: &str = ".minisig";
/// The largest signature, in bytes; one takes some 300.
pub(crate) const MAX_SIGNATURE: u64 = 4 << 10;

/// Returns where the signature of an archive is.
pub(crate) fn beside(archive: &Path) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push(ENDING);
    path.into()
}

/// Returns which of `keys`, each of them the text of a public key, signed `bytes`.
pub(crate) fn verify(bytes: &[u8], signature: &[u8], keys: &[String]) -> Result<String, String> {
    let signature = std::str::from_utf8(signature).ok().and_then(|it| Signature::decode(it).ok());
    let signature = signature.ok_or("its signature is not one of minisign")?;
    for key in keys {
        let public = PublicKey::from_base64(key)
            .map_err(|_| format!("`{key}` is not a public key of minisign"))?;
        if public.verify(bytes, &signature, false).is_ok() {
            return Ok(key.to_owned());
        }
    }
    Err("its signature is not that of the key: it was changed, or another key signed it".to_owned())
}

/// Returns the public key that a user named: its text, or a file that `minisign -G` wrote.
pub(crate) fn key_of(named: &str) -> Result<String, CommandError> {
    if PublicKey::from_base64(named).is_ok() {
        return Ok(named.to_owned());
    }
    let text = std::fs::read_to_string(named)
        .or_usage(format_args!("`{named}` is not a public key, and can't be read as a file"))?;
    let key = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match PublicKey::from_base64(key) {
        Ok(_) => Ok(key.to_owned()),
        Err(_) => Err(CommandError::usage(format!("{named} holds no public key of minisign"))),
    }
}

/// Signs the archive at `path` with the secret key in a file. The program `minisign` asks for the key's
/// password at the terminal, or reads it from stdin.
pub(crate) fn sign(path: &Path, key: &Path) -> Result<(), CommandError> {
    let mut command = Command::new("minisign");
    command.arg("-S").arg("-s").arg(key).arg("-m").arg(path).arg("-x").arg(beside(path));
    let status = command
        .status()
        .or_usage("can't start `minisign`")
        .map_err(|error| error.hint("install minisign; machines that only verify don't need it"))?;
    if status.success() {
        return Ok(());
    }
    Err(CommandError::usage("`minisign` did not sign the bundle; it says above why"))
}
