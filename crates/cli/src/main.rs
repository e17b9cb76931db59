//! The `hookexec` command.
#![forbid(unsafe_code)]

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    hookexec_cli::main()
}
