//! Small programs to compare with, compiled when the benchmark starts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MUSL: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-musl"
} else {
    "x86_64-unknown-linux-musl"
};

/// Compiles `benches/process/programs/NAME.rs`, optimised, and returns its file.
pub(crate) fn compile(directory: &Path, name: &str, linking: Linking) -> PathBuf {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("benches/process/programs")
        .join(name)
        .with_extension("rs");
    let program = directory.join(format!("{name}-{linking:?}"));
    let mut command = rustc();
    command.args(["--edition", "2024", "-O", "-C", "strip=symbols"]);
    match linking {
        Linking::Dynamic => &mut command,
        Linking::Static => command.args(["-C", "target-feature=+crt-static"]),
        Linking::Musl => command.args(["--target", MUSL]),
    };
    let status = command.arg("-o").arg(&program).arg(source).stdin(Stdio::null()).status();
    assert!(status.expect("rustc runs").success(), "{name} compiles");
    program
}

/// Returns whether programs can be linked so; musl has to be installed (`rustup target add`).
pub(crate) fn can_link(linking: Linking) -> bool {
    let asked = || rustc().args(["--print", "target-libdir", "--target", MUSL]).output();
    let is_directory = |path: &[u8]| Path::new(String::from_utf8_lossy(path).trim()).is_dir();
    !matches!(linking, Linking::Musl) || asked().is_ok_and(|answer| is_directory(&answer.stdout))
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// How a program finds the C library.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Linking {
    /// As cargo does when nothing is said.
    Dynamic,
    /// The library is in the program: nothing is left to do when it starts.
    Static,
    /// The same with a library that does less at the start: as the command is released.
    Musl,
}
