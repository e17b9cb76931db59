//! What a tool does, as far as its kinds, its name and its host tell.

use crate::wire::Input;

/// Names of tools that run commands, where no kind says so.
const SHELLS: [&str; 12] = [
    "shell",
    "bash",
    "sh",
    "zsh",
    "powershell",
    "terminal",
    "exec",
    "run_shell_command",
    "local_shell",
    "run_terminal_cmd",
    "execute_command",
    "exec_command",
];
/// Names of tools that only read, where no kind says so.
const READERS: [&str; 11] = [
    "read",
    "read_file",
    "readfile",
    "read_many_files",
    "view_file",
    "list_directory",
    "list_dir",
    "ls",
    "glob",
    "grep",
    "notebookread",
];
/// Names of tools that only write, where no kind says so.
const WRITERS: [&str; 4] = ["write", "write_file", "writefile", "create_file"];

/// Returns whether everything the tool is given may be a command.
pub(super) fn runs_commands(input: &Input) -> bool {
    input.tool_kinds.iter().any(|kind| kind == "shell") || is_named(input, &SHELLS)
}

/// Returns whether it is certain that the tool writes nothing.
pub(super) fn only_reads(input: &Input) -> bool {
    input.tool_read_only == Some(true)
        || is_only(input, &["read", "list", "glob", "grep"], &READERS)
}

/// Returns whether it is certain that the tool shows nothing of what was there.
pub(super) fn only_writes(input: &Input) -> bool {
    !only_reads(input) && is_only(input, &["write"], &WRITERS)
}

/// A tool of several kinds is what all of them are; only without a kind its name is believed.
fn is_only(input: &Input, kinds: &[&str], names: &[&str]) -> bool {
    match &*input.tool_kinds {
        [] => is_named(input, names),
        known => known.iter().all(|kind| kinds.contains(&kind.as_str())),
    }
}

fn is_named(input: &Input, names: &[&str]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(input.tool()))
}
