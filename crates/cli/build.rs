//! Links the command at a fixed address on Linux with glibc, as `just release` does with musl.
//!
//! At another address the system adds it to 17,000 pointers in the program at each start: 28 % of
//! the instructions of a start, and 82 page faults. Flags of the user's that name a relocation model
//! decide instead: `RUSTFLAGS=-Crelocation-model=pie` brings the random address back.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |key: &str| std::env::var(key).unwrap_or_default();
    let is_glibc =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    let is_chosen = variable("CARGO_ENCODED_RUSTFLAGS").contains("relocation-model");
    if is_glibc && !is_static && !is_chosen {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
