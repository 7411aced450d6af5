//! Overlap: copies beside kernels.
//!
//! This exercise is host code. A vector goes to the GPU, a kernel squares it in place, and it comes back. The GPU can
//! do all three at the same time, but a vector as a whole must wait for each. Cut into pieces that alternate between
//! two streams, one piece is copied while another is computed:
//!
//! ```text
//! one stream    up 0   kernel 0   down 0   up 1   kernel 1   down 1
//!
//! stream 0      up 0   kernel 0   down 0   up 2     kernel 2   …
//! stream 1             up 1     kernel 1   down 1   up 3       …
//! ```
//!
//! The check calls your code for each piece. `streams` has two streams. In each, work runs in the order in which it is
//! added; nothing orders work of different streams.
//!
//! | call | adds to the stream |
//! |---|---|
//! | `stream.upload(x, from)?` | a copy to the device, of `from` to `x` |
//! | `stream.launch(config, square(x))?` | the kernel, which squares `x` |
//! | `stream.download(x, into)?` | a copy to the host, of `x` to `into` |
//!
//! Budget: two pieces that follow each other must be able to overlap. As it stands, no two pieces can.

use cuda_std::GlobalMut;
use learn::*;

use super::square;

/// Squares the elements of `from` in the memory `x` of the device, and copies them to `into`: the piece number `piece`.
/// All of them have the same length.
pub fn enqueue<'scope>(
    streams: &'scope [Stream<'scope, '_>],
    piece: usize,
    (from, x, into): (&'scope [u32], GlobalMut<'scope, u32>, &'scope mut [u32]),
) -> Result<(), Error> {
    let config = LaunchConfig::new(1, 64);
    // Your code begins here.
    let stream = &streams[0];
    stream.upload(x, from)?;
    stream.launch(config, square(x))?;
    stream.download(x, into)?;
    // Your code ends here.
    Ok(())
}
