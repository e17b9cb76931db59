//! The `hookexec` command.

fn main() {}
