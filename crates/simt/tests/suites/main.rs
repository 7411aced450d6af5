//! The simulator's tests in one program, which is linked once. Tests that count resources of a whole process are in
//! other programs.

#[path = "../common/mod.rs"]
mod common;

mod barriers;
mod cluster_faults;
mod clusters;
mod cooperative;
mod faults;
mod geometry;
mod holds;
#[cfg(feature = "serde")]
mod json;
mod launching;
mod litmus;
mod meeting_faults;
mod order;
mod profile_divergence;
mod profiles;
mod progress;
mod races;
mod races_at_random;
mod races_between_blocks;
mod races_of_atomics;
mod races_of_widths;
mod schedules;
mod scopes;
mod shared_memory;
mod synchronisations;
mod tensor_arithmetic;
mod uninitialised;
mod warps;
