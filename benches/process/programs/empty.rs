//! The least that a Rust program can do: what starting any program costs.

fn main() {}
