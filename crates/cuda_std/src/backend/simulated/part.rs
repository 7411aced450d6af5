//! Parts that exceed their view, made on the host.
//!
//! # Design
//!
//! `part` returns a view, not a `Result`, because kernels call it too. On the host, a part that exceeds its view is
//! therefore a view of no device. The launch or copy that it is passed to returns the error, which it finds here by the
//! view's identity.

extern crate std;

use core::panic::Location;
use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

use simt::{memory, thread};

use super::Owner;

/// A part that exceeds its view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartOutOfRange {
    /// The first element of the part.
    pub start: usize,
    /// The number of elements of the part.
    pub len: usize,
    /// The number of elements of the view.
    pub view_len: usize,
    /// The source line that made the part.
    pub location: &'static Location<'static>,
}

/// The parts that exceed their view, each once. If there are too many, the last one is replaced.
static PARTS: Mutex<Vec<PartOutOfRange>> = Mutex::new(Vec::new());
const MAX_PARTS: usize = 1024;

/// Returns the identity of a view of the `len` elements from `start` on of a view of `view_len` elements, which has
/// fewer elements. In a kernel this is a fault of the thread.
#[cold]
#[track_caller]
pub fn part_out_of_range(view: usize, [start, len]: [usize; 2], view_len: usize) -> Owner {
    if thread::is_simulated() {
        memory::out_of_bounds(view, start.saturating_add(len.saturating_sub(1)), view_len);
    }
    let part = PartOutOfRange { start, len, view_len, location: Location::caller() };
    let mut parts = PARTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = parts.iter().position(|known| *known == part);
    let number = known.unwrap_or_else(|| {
        parts.truncate(MAX_PARTS - 1);
        parts.push(part);
        parts.len() - 1
    });
    Owner::part(number as u32)
}

/// Returns the part with this number.
pub(super) fn find(number: u32) -> Option<PartOutOfRange> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner).get(number as usize).copied()
}
