//! The profiler, which counts the memory requests, sectors and bank conflicts that a launch would cause on a GPU.
//!
//! # Design
//!
//! A profiled launch records each lane's events between two warp operations or barriers and then replays the warp. The
//! id of an event consists of the iterations of the loops around it and its position in these loops. Lanes make an
//! access together if their events have the same id. The module `flow` describes the method. `docs/counters.md`
//! compares the counts with an H200's own counters.

mod copies;
mod exits;
mod flow;
mod footprint;
mod order;
mod products;
mod profiler;
mod replay;
mod report;
mod request;
mod site;
mod steps;
#[cfg(test)]
mod structured;
mod tally;
mod trace;

pub(crate) use copies::BarrierOfBlock;
pub use copies::{BulkDirection, BulkProfile, BytesInFlight};
pub use products::{Factors, ProductInstruction, ProductProfile};
pub(crate) use profiler::Profiler;
pub use report::{AccessProfile, BranchProfile, Profile, Profiles};
pub use site::AccessKind;
pub use steps::{AccessedArray, WarpAccess, WarpStep};
