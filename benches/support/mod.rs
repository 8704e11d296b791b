//! What all benchmarks run in: the program's allocator, and threads that have the stack that it gives them.

use rayon::ThreadPoolBuilder;

/// Long chains of operators make deep trees.
pub const STACK: usize = 16 << 20;

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the benchmarks that the command line names on this many threads; 0 is as many as there are cores.
pub fn run(threads: usize) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build_global();
    pool.expect("the pool is built once, before it is used");
    divan::main();
}
