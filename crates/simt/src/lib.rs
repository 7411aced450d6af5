//! A SIMT simulator: runs a kernel's threads on the CPU and reports its faults.
mod allocation;
mod arena;
mod barrier;
mod block;
mod crew;
mod diagnosis;
mod fault;
mod fibre;
mod geometry;
mod grid;
pub mod memory;
mod observe;
mod order;
mod output;
mod panic;
mod rendezvous;
pub mod shared;
mod simulator;
pub mod thread;
mod validation;
pub mod warp;
mod worker;

pub use fault::{Activity, Fault, FaultKind, SourceLocation, Space, Whereabouts};
pub use geometry::{Dim3, KernelInfo, LaunchConfig};
pub use simulator::{LaunchStats, Simulator};
