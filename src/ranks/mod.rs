//! Ranks: whether all processes of a distributed program stay in step, and equal.

pub mod broadcast_without_effect;
pub mod gradients_not_averaged;
pub mod misused_horovod_api;
pub mod rank_not_called;
pub mod wrong_horovod_module;
