//! Counts what the memory system of a GPU would do for a launch.
//!
//! # Design
//!
//! A profiled launch keeps each lane's events between two warp operations or barriers and then replays the warp. An
//! event's position (the iterations of its loops, and its place in them) decides which lanes make an access together:
//! `flow` has the method. The counts are compared with an H200's own counters in `docs/counters.md`.

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
