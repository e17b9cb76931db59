//! Small programs to compare with, compiled when the benchmark starts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compiles `benches/process/programs/NAME.rs`, optimised, and returns its file.
pub(crate) fn compile(directory: &Path, name: &str, linking: Linking) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches/process/programs")
        .join(name)
        .with_extension("rs");
    let program = directory.join(format!("{name}-{linking:?}"));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "-O", "-C", "strip=symbols"]);
    if let Linking::Static = linking {
        command.args(["-C", "target-feature=+crt-static"]);
    }
    let status = command.arg("-o").arg(&program).arg(source).stdin(Stdio::null()).status();
    assert!(status.expect("rustc runs").success(), "{name} compiles");
    program
}

/// How a program finds the C library.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Linking {
    /// As cargo does when nothing is said.
    Dynamic,
    /// The library is in the program: nothing is left to do when it starts.
    Static,
}
