#!/usr/bin/env bash
# Runs the engine's tests for ARM under qemu, on another processor. Each of the test programs may take
# 20 minutes. Needs cargo-zigbuild and qemu; `release/platforms.sh` installs them and calls this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Left out, by words of the names of tests:
left_out=(
    # They start themselves or an example, which are ARM programs: the system can't start these.
    processes_that_write_at_once_do_not_mix_their_records
    processes_that_count_at_once_count_each_thing_once
    the_children_of_a_killed_host_see_the_end_of_their_input
    the_limit_in_rust_counts_the_calls_of_each_turn
    # They have 4 seconds to write 10 MiB, and a minute for long texts, which is too short here.
    a_child_that_stops_reading_holds_nobody_beyond_the_deadline
    long_texts_take_linear_time
    # qemu does not let a process adopt orphans (`PR_SET_CHILD_SUBREAPER`).
    a_storm_of_dispatches_and_deaths_gets_every_verdict_right_and_leaves_nothing
)
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER="timeout 1200 qemu-aarch64-static"
cargo-zigbuild test --package hookexec --target aarch64-unknown-linux-musl --lib --tests \
    --no-fail-fast -- "${left_out[@]/#/--skip=}"
