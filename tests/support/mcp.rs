//! The MCP server of `mcp_guard.py`, which needs the official SDK.

use std::path::{Path, PathBuf};

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
