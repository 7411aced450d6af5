//! Counts what the memory system of a GPU would do for a launch.

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
