# Tasks of this repository; `just` lists them.

_default:
    @just --list --unsorted

# Everything that has to pass: what the CI runs
check:
    bash .ci/run

# All tests
test:
    cargo test

# Formats the code
format:
    cargo fmt

# Lints, as strict as the CI
lint:
    cargo clippy --all-targets -- -D warnings

# Rewrites the generated files: schema/ and the tables in docs/
generate:
    UPDATE=1 cargo test --test cli generated

# The documentation of the library
docs:
    RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --open

# Licences, advisories, sources and banned crates (needs cargo-deny)
deny:
    cargo deny check
