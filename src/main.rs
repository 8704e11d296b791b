//! The command line program: everything is in the library.

use std::process::ExitCode;

/// The analysis makes many small objects; this allocator is made for that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hvdlint::commands::main()
}
