//! hvdlint finds the training loops of TensorFlow programs and checks what keeps them from training on many
//! GPUs with Horovod.

pub mod analysis;
pub mod api;
pub mod checks;
pub mod cli;
pub mod commands;
pub mod finding;
pub mod program;
pub mod project;
pub mod report;
pub mod semantic;
pub mod suppression;
pub mod syntax;
