//! hvdlint finds the training loops of TensorFlow programs and checks what keeps them from training on many
//! GPUs with Horovod.

pub mod api;
pub mod finding;
pub mod project;
pub mod syntax;
