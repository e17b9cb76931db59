//! The whole command, from its start to its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::command::{COMMAND, hook};
use crate::measure::{Finding, ratio, timed};
use crate::programs::{Linking, can_link, compile};
use crate::{Options, raw, support};

pub(crate) fn measure(options: &Options, findings: &mut Vec<Finding>) {
    let directory = tempfile::tempdir().unwrap();
    let json = serde_json::to_vec(&support::input(2_000)).unwrap();
    let empty = compile(directory.path(), "empty", Linking::Dynamic);
    let hookexec = hookexec();
    // Hooks of whoever measures do not count.
    let home = directory.path();
    let run = |program: &Path, arguments: &[&str]| program_run(program, arguments, home, &json);

    for (count, target) in [(1, None), (100, Some(1.3)), (1000, Some(4.0))] {
        let work = format!("whole CLI, nothing matches, {count} hooks / an empty Rust program");
        options.add(findings, &work, |samples| {
            let file = directory.path().join(format!("{count}.yaml"));
            fs::write(&file, support::hooks_file(count)).unwrap();
            let cli = || run(&hookexec, &["run", "pre_tool_use", "--config", path(&file)]);
            ratio(&work, target, samples, || run(&empty, &[]), cli)
        });
    }

    let cargos = Path::new(env!("CARGO_BIN_EXE_hookexec"));
    if hookexec != cargos {
        let work = "whole CLI, nothing matches, 1 hook: the build of cargo / the one named";
        options.add(findings, work, |samples| {
            let file = directory.path().join("1.yaml");
            fs::write(&file, support::hooks_file(1)).unwrap();
            let arguments = ["run", "pre_tool_use", "--config", path(&file)];
            let (named, cargos) = (|| run(&hookexec, &arguments), || run(cargos, &arguments));
            ratio(work, Some(1.2), samples, named, cargos)
        });
    }

    let file = directory.path().join("command.yaml");
    let text =
        format!("pre_tool_use:\n  - hooks: [{{ type: command, command: {} }}]\n", hook(COMMAND));
    fs::write(&file, text).unwrap();
    let linkings = [(Linking::Static, Some(1.1)), (Linking::Musl, None), (Linking::Dynamic, None)];
    for (linking, target) in linkings.into_iter().filter(|(linking, _)| can_link(*linking)) {
        let work = format!("whole CLI, one command hook / a minimal program, linked {linking:?}");
        options.add(findings, &work, |samples| {
            let minimal = compile(directory.path(), "minimal", linking);
            let cli = || run(&hookexec, &["run", "pre_tool_use", "--config", path(&file)]);
            ratio(&work, target, samples, || run(&minimal, &[COMMAND]), cli)
        });
    }
}

/// Returns the program that is measured: `BENCH_HOOKEXEC`, or the one that cargo built along with this.
pub(crate) fn hookexec() -> PathBuf {
    let named = std::env::var_os("BENCH_HOOKEXEC").map(PathBuf::from);
    let program = named.unwrap_or_else(|| env!("CARGO_BIN_EXE_hookexec").into());
    assert!(program.is_file(), "there is no program {} (BENCH_HOOKEXEC)", program.display());
    program
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

/// Returns how long a program takes from its start to its end.
fn program_run(program: &Path, arguments: &[&str], home: &Path, input: &[u8]) -> Duration {
    let mut command = Command::new(program);
    command.args(arguments).env("HOME", home);
    command.env_remove("XDG_CONFIG_HOME");
    timed(|| raw::run(vec![command], input))
}
