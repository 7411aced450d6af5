//! The measurements that `host bench` makes, and the recording of their results.

pub mod recording;
pub mod subject;
pub mod sweep;

pub use recording::{Clocks, Machine, MeasuredPoint, PeersAbout, Recording};
pub use subject::{Scope, Subject};
pub use sweep::{Rungs, Sweep, sweeps};
