//! The profiler, which counts the memory requests, sectors and bank conflicts that a launch would cause on a GPU.
//!
//! # Design
//!
//! A profiled launch records each lane's events between two warp operations or barriers and then replays the warp. An
//! event's id consists of the iterations of its loops and its position in them. It decides which lanes make an access
//! together: the module `flow` describes the method. `docs/counters.md` compares the counts with an H200's own
//! counters.

mod exits;
mod flow;
mod footprint;
mod order;
mod profiler;
mod replay;
mod report;
mod request;
mod site;
#[cfg(test)]
mod structured;
mod tally;
mod trace;

pub(crate) use profiler::Profiler;
pub use report::{AccessKind, AccessProfile, BranchProfile, Profile, Profiles};
