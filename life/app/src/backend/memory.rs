//! Checks the host's free memory before a board is allocated.

use program::memory::{TooLittleMemory, available};
use units::Bytes;

/// The advice that messages about too large boards give.
pub const REMEDY: &str = "use a smaller board with --size";

/// Returns the number of bytes of a board with one bit per cell.
pub fn board_bytes((width, height): (usize, usize)) -> u64 {
    (width.div_ceil(32) as u64).saturating_mul(4).saturating_mul(height as u64)
}

/// Checks that the host has at least `needed` bytes free for a board of this size.
///
/// # Errors
/// [`TooLittleMemory`] if the host has too little free memory. The message contains the needed and the free bytes.
pub fn check_host((width, height): (usize, usize), needed: u64) -> anyhow::Result<()> {
    let Some(free) = available().filter(|&free| needed > free) else { return Ok(()) };
    let (needed, free) = (Bytes(needed), Bytes(free));
    let message = format!("a board of {width}x{height} needs {needed} of memory, but only {free} are free: {REMEDY}");
    Err(TooLittleMemory(message).into())
}
