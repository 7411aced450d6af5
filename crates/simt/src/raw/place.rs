//! What an address belongs to.

use super::buffer::Buffer;
use super::known::{self, Known};
use super::mapped::is_mapped;
use super::{Through, Use};
use crate::block::Block;
use crate::fault::FaultKind;
use crate::pointer_fault::{PointerFault, PointerProblem};
use crate::region::{self, Region, Space};

/// Addresses below belong to nobody on any system.
const FIRST: usize = 4096;
/// A thread's stack is at most so far above its innermost frame.
const STACK: usize = crate::worker::STACK_BYTES;

impl Buffer {
    /// The one that a pointer is moved in or out of, from `from` to `to`.
    pub(super) fn of_move(block: &Block, from: usize, to: usize) -> Option<Self> {
        let mut regions = block.grid().regions.iter().map(Self::from).filter(|buffer| buffer.contains(from));
        let first = regions.next();
        match first {
            Some(first) if !first.contains(to) => regions.find(|buffer| buffer.contains(to)).or(Some(first)),
            Some(first) => Some(first),
            None => Self::of_shared(block, from),
        }
    }

    /// The shared array that holds the host's `address`.
    fn of_shared(block: &Block, address: usize) -> Option<Self> {
        let arena = &block.context.arena;
        let base = arena.base().addr();
        let offset = address.checked_sub(base).filter(|&offset| offset < arena.len())?;
        let (place, element) = arena.array_at(offset)?;
        let (array, start, bytes) = (place.name, base + place.start, place.bytes);
        Some(Self { space: Space::Shared, array, start, bytes, element })
    }

    /// Why an access of `bytes` bytes at `address` is outside of it.
    fn fault(&self, address: usize, bytes: usize) -> FaultKind {
        let &Self { space, array, start, element, .. } = self;
        let len = self.bytes / element;
        if address < start {
            let elements = (start - address).div_ceil(element);
            let problem = PointerProblem::BeforeStart { array, elements, len };
            return FaultKind::Pointer(Box::new(PointerFault { address, bytes, problem }));
        }
        // An access may begin in the last element and end beyond.
        let index = ((address - start) / element).max(len);
        FaultKind::OutOfBounds { space, array, element_type: None, index, len }
    }
}

/// Finds what an access goes to: memory of the launch, with the address there, or other memory of the process.
///
/// # Errors
/// Why it goes wrong.
pub(super) fn find(
    block: &Block,
    (address, bytes, align): (usize, usize, usize),
    what: Use,
    through: Through,
) -> Result<Option<(Space, usize)>, Box<FaultKind>> {
    let pointer = |problem| Err(Box::new(FaultKind::Pointer(Box::new(PointerFault { address, bytes, problem }))));
    if address < FIRST {
        return pointer(PointerProblem::Null);
    }
    if through == Through::Pointer
        && let Some(origin) = block.strays.origin(block.thread().linear(), address)
    {
        return Err(Box::new(origin.fault(address, bytes)));
    }
    if !address.is_multiple_of(align) {
        return Err(misaligned(block, address, align));
    }
    let regions = || block.grid().regions.iter().filter(|region| address.wrapping_sub(region.start) < region.bytes);
    let found = if let Some(first) = regions().next() {
        let holds = |region: &&Region| Buffer::from(*region).holds(address, bytes);
        let Some(holder) = regions().find(holds) else {
            return Err(Box::new(Buffer::from(first).fault(address, bytes)));
        };
        if what.writes() && !regions().any(|region| region.is_writable) {
            let index = (address - holder.start) / holder.element.max(1);
            return pointer(PointerProblem::ReadOnly { array: holder.name, index });
        }
        Some((Space::Global, address))
    } else {
        elsewhere(block, address, bytes)?
    };
    Ok(found)
}

fn misaligned(block: &Block, address: usize, align: usize) -> Box<FaultKind> {
    let regions = block.grid().regions;
    let place = region::locate(regions, address).and_then(|place| Some((place.name?, place.index)));
    let (space, place) = match (place, Buffer::of_shared(block, address)) {
        (None, Some(array)) => (Space::Shared, array.array.map(|name| (name, (address - array.start) / array.element))),
        (place, _) => (Space::Global, place),
    };
    Box::new(FaultKind::Misaligned { space, element: place.map(Box::new), address, size: align })
}

/// The same for an address in nothing that the launch was given.
fn elsewhere(block: &Block, address: usize, bytes: usize) -> Result<Option<(Space, usize)>, Box<FaultKind>> {
    let arena = &block.context.arena;
    let offset = address.wrapping_sub(arena.base().addr());
    if offset < crate::block::arena::LIMIT {
        return match Buffer::of_shared(block, address) {
            Some(array) if array.holds(address, bytes) => Ok(Some((Space::Shared, offset))),
            Some(array) => Err(Box::new(array.fault(address, bytes))),
            None => {
                let (space, len) = (Space::Shared, arena.len());
                Err(Box::new(FaultKind::OutOfBounds { space, array: None, element_type: None, index: offset, len }))
            }
        };
    }
    let frame = 0_u8;
    if address.wrapping_sub((&raw const frame).addr()) < STACK {
        return Ok(None);
    }
    let pointer = |problem| Err(Box::new(FaultKind::Pointer(Box::new(PointerFault { address, bytes, problem }))));
    match known::look_up(address) {
        Some(Known::Live(start, len)) => {
            // Beside what the launch was given of the buffer, the nearest part of that is meant.
            let distance = |region: &&Region| {
                let end = region.start.saturating_add(region.bytes);
                if address < region.start { region.start - address } else { address - end }
            };
            let is_of_it = |region: &&Region| region.start.wrapping_sub(start) < len && region.bytes > 0;
            match block.grid().regions.iter().filter(is_of_it).min_by_key(distance) {
                Some(region) => Err(Box::new(Buffer::from(region).fault(address, bytes))),
                None => {
                    let whole = Buffer { space: Space::Global, array: None, start, bytes: len, element: 1 };
                    if whole.holds(address, bytes) {
                        Ok(Some((Space::Global, address)))
                    } else {
                        Err(Box::new(whole.fault(address, bytes)))
                    }
                }
            }
        }
        Some(Known::Freed) => pointer(PointerProblem::Freed),
        None if is_mapped(address, bytes) => Ok(None),
        None => pointer(PointerProblem::Nowhere),
    }
}

/// Notes that the current thread has moved a pointer from `from` to `to`.
#[cold]
#[inline(never)]
pub(super) fn note_move(block: &Block, from: usize, to: usize) {
    let thread = block.thread().linear();
    // Views may overlap: whichever holds both is meant.
    let origin = block.strays.origin(thread, from).or_else(|| Buffer::of_move(block, from, to));
    block.strays.note(thread, to, origin.filter(|origin| !origin.contains(to)));
}
