//! The whole command, from its start to its end.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::command::{COMMAND, hook};
use crate::measure::{Finding, ratio, timed};
use crate::programs::{Linking, compile};
use crate::{Options, raw, support};

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let directory = tempfile::tempdir().unwrap();
    let json = serde_json::to_vec(&support::input(2_000)).unwrap();
    let empty = compile(directory.path(), "empty", Linking::Dynamic);
    let run = |program: &Path, arguments: &[&str]| program_run(program, arguments, &json);

    for (count, target) in [(1, None), (100, Some(1.6)), (1000, None)] {
        let work = format!("whole CLI, nothing matches, {count} hooks / an empty Rust program");
        options.add(findings, &work, |samples| {
            let file = directory.path().join(format!("{count}.yaml"));
            fs::write(&file, support::hooks_file(count)).unwrap();
            let cli = || run(hookexec(), &["run", "pre_tool_use", "--config", path(&file)]);
            ratio(&work, target, samples, || run(&empty, &[]), cli)
        });
    }

    let file = directory.path().join("command.yaml");
    let text =
        format!("pre_tool_use:\n  - hooks: [{{ type: command, command: {} }}]\n", hook(COMMAND));
    fs::write(&file, text).unwrap();
    for (linking, target) in [(Linking::Static, Some(1.1)), (Linking::Dynamic, None)] {
        let work = format!("whole CLI, one command hook / a minimal program, linked {linking:?}");
        options.add(findings, &work, |samples| {
            let minimal = compile(directory.path(), "minimal", linking);
            let cli = || run(hookexec(), &["run", "pre_tool_use", "--config", path(&file)]);
            ratio(&work, target, samples, || run(&minimal, &[COMMAND]), cli)
        });
    }
}

fn hookexec() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_hookexec"))
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Returns how long a program takes from its start to its end.
fn program_run(program: &Path, arguments: &[&str], input: &[u8]) -> Duration {
    let mut command = Command::new(program);
    command.args(arguments);
    timed(|| raw::run(vec![command], input))
}
