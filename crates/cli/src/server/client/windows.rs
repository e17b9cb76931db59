//! On Windows a server has no socket at which it could be asked.

use std::path::Path;
use std::time::Instant;

use super::{NoVerdict, Question};
use hookexec::wire::Verdict;

/// Fails.
///
/// # Errors
/// Always.
#[expect(clippy::unused_async, reason = "the other system waits")]
pub(crate) async fn exchange(path: &Path, _line: &[u8]) -> Result<Vec<u8>, String> {
    Err(no_socket(path))
}

/// Fails.
///
/// # Errors
/// Always.
#[expect(clippy::unused_async, reason = "the other system waits")]
pub(crate) async fn verdict(
    path: &Path,
    _question: Question<'_>,
    _project: &Path,
    _until: Option<Instant>,
) -> Result<Verdict, NoVerdict> {
    Err(NoVerdict::Failed(no_socket(path)))
}

/// Fails.
///
/// # Errors
/// Always.
#[expect(clippy::unused_async, reason = "the other system waits")]
pub(crate) async fn ping(path: &Path, _project: &Path) -> Result<(), NoVerdict> {
    Err(NoVerdict::Failed(no_socket(path)))
}

fn no_socket(path: &Path) -> String {
    let path = path.display();
    format!("no server can be asked at {path}: sockets are not available on Windows")
}
