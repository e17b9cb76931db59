# Tasks of this repository; `just` lists them.

_default:
    @just --list --unsorted

# Everything that has to pass: what the CI runs
check:
    bash .ci/run

# All tests; installs the programs that they need
test:
    ./test

# Builds the command for every system in docs/platforms.md, and runs what can be run on Linux
platforms:
    bash release/platforms.sh

# Real coding agents, offline; `just agents --install` gets them from the npm registry first
agents *ARGS:
    cargo build
    python3 tests/agents/real/run.py {{ARGS}}

# Formats the code
format:
    cargo fmt

# Lints, as strict as the CI
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# Rewrites the generated files: schema/ and the tables in docs/
generate:
    UPDATE=1 cargo test generated
    UPDATE=1 cargo test --test faults

# The documentation of the library
docs:
    RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --open

# The site of the documentation, in target/site/html; installs mdBook into target/tools when it is missing
site:
    bash release/site.sh

# The command as it is released for Linux: one file that needs no library, in two builds; see the script
release target="x86_64-unknown-linux-musl":
    bash release/build.sh {{target}}

# Every package in dist/, installed and used as a test; `--built` takes what is in target/
packages *ARGS:
    bash release/packages.sh {{ARGS}}

# Whether the packages can be published: packs each, and compiles what is packed
crates:
    cargo publish --dry-run --workspace

# Instructions, system calls, allocations and page faults, beside the committed baseline; `--update` writes it
counts *arguments:
    python3 benches/counts/counts.py {{arguments}}

# What the engine costs beside the programs that hooks run; compile time is long, measure on a quiet machine.
# `just bench peers --install` first gets the guards of others that it compares with, into target/peers
bench *words:
    cargo bench --bench process -- {{words}}

# The pure parts under criterion
bench-pure *arguments:
    cargo bench --bench pure -- {{arguments}}

# A hundred thousand dispatches, with hooks killed at random; HOOKEXEC_SEED=n repeats a run
soak dispatches="100000":
    HOOKEXEC_SOAK={{dispatches}} cargo test --test soak -- --nocapture

# Texts of shell oddities in every installed shell: none runs what the reader does not find; HOOKEXEC_FUZZ_SEED=n makes others
fuzz-commands texts="200000":
    HOOKEXEC_FUZZ_TEXTS={{texts}} cargo test no_shell_runs_what_the_reader_does_not_find -- --nocapture

# Lists of `cd`, tests, loops and exits in real shells: none is where a rule does not see it
fuzz-places lists="30000":
    HOOKEXEC_FUZZ_LISTS={{lists}} cargo test -p hookexec-builtins no_shell_is_in_the_project -- --nocapture

# Licences, advisories, sources and banned crates (needs cargo-deny)
deny:
    cargo deny check

# Feeds one target (see fuzz/fuzz_targets) made-up input for so many seconds; needs a nightly compiler and cargo-fuzz
fuzz target seconds="60":
    mkdir -p fuzz/corpus/{{target}}
    cargo +nightly fuzz run {{target}} fuzz/corpus/{{target}} tests/seeds/{{target}} -- -max_total_time={{seconds}} -timeout=10 -rss_limit_mb=2048 -max_len=8192
