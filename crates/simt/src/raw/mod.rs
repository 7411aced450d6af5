//! Checks accesses through pointers and slices. The simulator knows only the address of such an access.
//!
//! A view stores its bounds, but the simulator must look up a pointer's address. If the address is in memory of the
//! launch, global or shared, the simulator reports the access to the watcher like an access through a view. The
//! simulator does not report an access to other memory of the process, such as a thread's own variables. An access to
//! unmapped memory is a fault. The simulator checks no access outside of a kernel.
//!
//! These functions only check and report accesses. The kernel itself makes each access, as a plain Rust access.

mod buffer;
mod escaped;
pub(crate) mod escaped_calls;
// Its parts that the signal handler calls are unused where there is none.
#[cfg_attr(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))), allow(dead_code))]
pub(crate) mod guard;
pub(crate) mod known;
mod lookup;
mod mapped;
pub(crate) mod notes;
pub(crate) mod retained;
pub(crate) mod strays;

use std::panic::Location;

use crate::block::Block;
use crate::current::current;
use crate::faults::FaultKind;
use crate::observe::notify_pieces;
use crate::region::{self, Space};
use crate::source::Line;
use crate::watch::{Access, is_watching};

pub use escaped::{entered, entered_operator, escaped, escaped_value, retained, returned};
pub use escaped_calls::Callee;
pub use guard::exposing;
pub use lookup::is_on_stack;

pub use crate::watch::is_watching as is_followed;

/// The kind of access through a pointer or slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The access reads the memory.
    Read,
    /// The access writes the memory.
    Write,
    /// The access borrows the memory mutably, which counts as a write.
    Borrow,
    /// The access reads the memory and then writes it.
    Update,
}

impl Use {
    #[inline(always)]
    fn writes(self) -> bool {
        self != Self::Read
    }

    fn accesses(self) -> &'static [Access] {
        match self {
            Self::Read => &[Access::Load],
            Self::Write => &[Access::Store],
            Self::Borrow => &[Access::Borrow],
            Self::Update => &[Access::Load, Access::Store],
        }
    }
}

/// The way in which a kernel obtained the address of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// The address comes from a raw pointer, which may point outside its buffer.
    Pointer,
    /// The address comes from an indexed slice. The index has been checked against the bounds.
    Slice,
}

/// Checks an access that the current thread is about to make to `bytes` bytes at `address`, and notifies the watcher.
/// The address must be a multiple of `align`. An invalid access is a fault at the caller's line.
#[inline]
#[track_caller]
pub fn touch(address: usize, bytes: usize, align: usize, what: Use, through: Through) {
    touch_at((address, bytes, align), what, through, Location::caller());
}

/// Checks an access like [`touch`]. Faults and reports name `at` as the source line of the access.
#[inline]
pub fn touch_at(
    (address, bytes, align): (usize, usize, usize),
    what: Use,
    through: Through,
    at: &'static Location<'static>,
) {
    let Some(block) = current() else { return };
    if bytes == 0 {
        return;
    }
    let is_plain = !is_watching()
        && address.is_multiple_of(align)
        && (through == Through::Slice || !block.strays.is_used())
        && block.grid().regions.iter().any(|region| {
            let offset = address.wrapping_sub(region.start);
            offset < region.bytes && bytes <= region.bytes - offset && (region.is_writable || !what.writes())
        });
    if !is_plain {
        examine(block, (address, bytes, align), what, through, at);
    }
}

/// Reports that the current thread may read `value` (its address, size and alignment) through a reference that was
/// passed to the kernel. Later reads through this reference are not reported. If `value` has more than 64 bytes, only a
/// block's first thread reports the read.
#[inline]
#[track_caller]
pub fn referred(value: (usize, usize, usize)) {
    const FEW_BYTES: usize = 64;
    if is_watching()
        && let Some(block) = current()
    {
        guard::leave_open(block, value.0);
        if value.1 <= FEW_BYTES || block.thread().linear() == 0 {
            touch_at(value, Use::Read, Through::Slice, Location::caller());
        }
    }
}

/// Checks an atomic access through a raw pointer like [`touch`], but does not notify the watcher. The atomic access
/// itself notifies the watcher.
#[track_caller]
pub fn check_atomic(address: usize, bytes: usize, what: Use) {
    if let Some(block) = current()
        && let Err(kind) = lookup::find(block, (address, bytes, bytes), what, Through::Pointer)
        && !std::thread::panicking()
    {
        block.raise(*kind, Location::caller())
    }
}

#[cold]
#[inline(never)]
fn examine(block: &Block, (address, bytes, align): (usize, usize, usize), what: Use, through: Through, at: Line) {
    if std::thread::panicking() {
        return;
    }
    block.note_seen(at);
    match lookup::find(block, (address, bytes, align), what, through) {
        Ok(Some((space, start))) => {
            if is_watching() {
                guard::reach(block, at);
                guard::report(block, (address, bytes), what.writes());
                notify_pieces(block, space, what.accesses(), (start, bytes), at);
            }
        }
        Ok(None) => {}
        Err(kind) => block.raise(*kind, at),
    }
}

/// Notes that the kernel offset a pointer from the address `from` to the address `to`. If `to` is outside of the buffer
/// that contains `from`, an access at `to` is out of bounds, even if other memory is there.
#[inline]
pub fn moved(from: usize, to: usize) {
    if let Some(block) = current() {
        let stays = !block.strays.is_used()
            && block.grid().regions.iter().any(|region| {
                from.wrapping_sub(region.start) < region.bytes && to.wrapping_sub(region.start) < region.bytes
            });
        if !stays {
            lookup::note_move(block, from, to);
        }
    }
}

/// Ends the launch with a fault at the caller's line. The fault is an out-of-bounds access to element `index` of a
/// slice of `len` elements that begins at address `start`. Does nothing outside of a kernel.
#[cold]
#[track_caller]
pub fn out_of_slice(start: usize, index: usize, len: usize) {
    let Some(block) = current() else { return };
    let arena = &block.context.arena;
    let (space, (array, element_type)) = match start.wrapping_sub(arena.base().addr()) {
        offset if offset < arena.len() => (Space::Shared, arena.array_of_view(offset, len)),
        _ => (Space::Global, (region::name_of_view(block.grid().regions, start), None)),
    };
    block.raise(FaultKind::OutOfBounds { space, array, element_type, index, len }, Location::caller())
}
