//! The allocator of the command, around the work. In a crate of its own, as there: a compiler that
//! sees both puts calls of the allocator in their places, where they can not be counted.

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() {
    hookexec_counts::main();
}
