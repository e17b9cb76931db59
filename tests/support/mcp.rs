//! What tests of MCP hooks share: the server of `mcp_guard.py`, which needs the official SDK.

use std::path::{Path, PathBuf};

use hookexec::wire::HookStatus;
use hookexec::{Decision, Verdict};

/// Returns the Python that has the SDK, and the program of the server; `None`, and says so, where
/// `python3 tests/hosts/frameworks.py --install` has not put it.
#[allow(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub(crate) fn server() -> Option<[PathBuf; 2]> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/frameworks/python/bin/python");
    let has_sdk = std::process::Command::new(&python)
        .args(["-c", "import mcp.server, uvicorn"])
        .output()
        .is_ok_and(|done| done.status.success());
    if !has_sdk {
        eprintln!("skipped: the MCP SDK is not installed: tests/hosts/frameworks.py --install");
        return None;
    }
    Some([python, root.join("tests/support/mcp_guard.py")])
}

/// The only hook has failed for this cause, and its failure denied.
#[track_caller]
pub(crate) fn failed(verdict: &Verdict, cause: &str) {
    assert_eq!(verdict.decision, Some(Decision::Deny), "{verdict:#?}");
    assert_eq!(verdict.hooks[0].status, HookStatus::Failed, "{verdict:#?}");
    let message = verdict.message.as_deref().unwrap();
    assert!(message.contains(cause), "{message}");
}
