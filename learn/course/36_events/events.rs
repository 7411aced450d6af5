//! Events: let one stream wait for another.
//!
//! This exercise is host code. A stream is a queue: its work runs in order. Work in different streams may run at the
//! same time, or in any order, unless an event orders it. Here two kernels may overlap, and a third needs the results
//! of both:
//!
//! ```text
//! stream 0   square(x → squares) ─────────────→ add(squares, doubles → y)
//! stream 1   double(x → doubles) ──→ event ─ ─ ─ ↑
//! ```
//!
//! | call | does |
//! |---|---|
//! | `streams[i].launch(config, kernel)?` | adds a kernel to the stream, and returns at once |
//! | `streams[i].record()?` | returns an event: all work that was added to this stream so far |
//! | `streams[i].wait(&event)?` | lets all later work of this stream begin after the event |
//!
//! A wait of a stream costs the host no time: all of this only adds work to queues.
//!
//! The simulator does all work as soon as it is added, so the result is right as it stands. A GPU need not do it in
//! this order. The report shows two launches that nothing orders.

use cuda_std::{Global, GlobalMut};
use learn::*;

use super::{add, double, square};

/// Computes `y[i] = x[i]² + 2·x[i]` for every `i` by three kernels in two streams.
pub fn run(
    device: &Device,
    x: Global<u32>,
    [squares, doubles, y]: [GlobalMut<u32>; 3],
    config: LaunchConfig,
) -> Result<(), Error> {
    device.streams(2, |streams| {
        // Your code begins here.
        streams[0].launch(config, square(x, squares))?;
        streams[1].launch(config, double(x, doubles))?;
        streams[0].launch(config, add(squares, doubles, y))?;
        // Your code ends here.
        Ok(())
    })
}
