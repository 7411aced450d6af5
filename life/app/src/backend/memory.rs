//! Checks of the host's memory before a board is allocated.

use anyhow::bail;
use program::memory::available;
use units::Bytes;

/// The remedy in messages about boards that do not fit.
pub const REMEDY: &str = "ask for a smaller board with --size";

/// Bytes of a packed board.
pub fn board_bytes((width, height): (usize, usize)) -> u64 {
    (width.div_ceil(32) as u64).saturating_mul(4).saturating_mul(height as u64)
}

/// Refuses a board of `size` for which the host needs `needed` bytes, if it has not as many.
///
/// # Errors
/// With both numbers.
pub fn check_host((width, height): (usize, usize), needed: u64) -> anyhow::Result<()> {
    match available() {
        Some(free) if needed > free => {
            bail!(
                "a board of {width}x{height} needs {} of memory, and {} are free: {REMEDY}",
                Bytes(needed),
                Bytes(free)
            )
        }
        _ => Ok(()),
    }
}
