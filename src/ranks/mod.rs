//! Ranks: whether all processes of a distributed program stay in step, and equal.

pub mod misused_horovod_api;
pub mod rank_not_called;
pub mod wrong_horovod_module;
