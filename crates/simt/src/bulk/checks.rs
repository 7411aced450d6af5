//! The checks of a bulk copy's addresses, size and coordinates when it begins.

use std::panic::Location;

use super::tiling::{CHUNK, MAX_DIMENSIONS, Outside, Tiling};
use crate::block::Block;
use crate::current::expect_current;
use crate::faults::FaultKind;
use crate::faults::bulk::BulkFault;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, Touch};

/// Reports a fault if no box of `tiling` begins at the coordinates `at`. The simulator does not prefetch.
#[track_caller]
pub fn prefetch(tiling: &Tiling, at: [i32; MAX_DIMENSIONS]) {
    check_box(expect_current("bulk::prefetch"), tiling, at, false, Location::caller());
}

/// Reports a fault if the hardware refuses a box of `tiling` at `coordinates`.
pub(super) fn check_box(block: &Block, tiling: &Tiling, coordinates: [i32; MAX_DIMENSIONS], is_stored: bool, at: Line) {
    if let Some(fault) = tiling.refusal(coordinates, is_stored) {
        block.raise(FaultKind::BulkCopy(fault), at);
    }
}

/// Reports a fault if a copy of `outside` cannot begin at `address` of the shared memory of `owner`.
pub(super) fn check(block: &Block, owner: &Block, outside: &Outside, address: usize, at: Line) {
    let raise = |fault: BulkFault| block.raise(FaultKind::BulkCopy(fault), at);
    let (bytes, alignment) = (outside.bytes(), outside.alignment());
    if bytes == 0 || !bytes.is_multiple_of(CHUNK) {
        raise(BulkFault::Bytes { bytes });
    }
    if let Outside::Linear { address, .. } = outside
        && !address.is_multiple_of(CHUNK)
    {
        raise(BulkFault::Misaligned { space: Space::Global, address: *address, alignment: CHUNK });
    }
    if !address.is_multiple_of(alignment) {
        raise(BulkFault::Misaligned { space: Space::Shared, address, alignment });
    }
    let (len, extent) = (owner.context.arena.len(), outside.extent());
    if extent > len || address > len - extent {
        let (array, element_type) = (None, None);
        block.raise(
            FaultKind::OutOfBounds { space: Space::Shared, array, element_type, index: address + extent, len },
            at,
        );
    }
    if owner.membership.has_ended.get() {
        let touch = Touch { space: Space::Shared, access: Access::AsyncWrite, address, bytes: CHUNK, at };
        block.check_owner(owner, &touch);
    }
}
