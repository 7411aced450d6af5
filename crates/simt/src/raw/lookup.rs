//! Finds the memory to which an address belongs.

use super::buffer::Buffer;
use super::known::{self, Known};
use super::mapped::is_mapped;
use super::{Through, Use};
use crate::block::Block;
use crate::faults::FaultKind;
use crate::faults::pointer::{PointerFault, PointerProblem};
use crate::region::{self, ArrayPosition, Region, Space};

/// The lowest address at which a system maps memory.
const FIRST: usize = 4096;
/// The maximum distance in bytes between a thread's innermost frame and the top of its stack.
const STACK: usize = crate::worker::STACK_BYTES;

impl Buffer {
    /// Returns the buffer of a pointer that the kernel offsets from the address `from` to the address `to`. Prefers a
    /// buffer that contains both addresses.
    pub(super) fn of_move(block: &Block, from: usize, to: usize) -> Option<Self> {
        let mut regions = block.grid().regions.iter().map(Self::from).filter(|buffer| buffer.contains(from));
        let first = regions.next();
        match first {
            Some(first) if !first.contains(to) => regions.find(|buffer| buffer.contains(to)).or(Some(first)),
            Some(first) => Some(first),
            None => Self::of_shared(block, from),
        }
    }

    /// Returns the shared array that contains the host address `address`.
    fn of_shared(block: &Block, address: usize) -> Option<Self> {
        let arena = &block.context.arena;
        let base = arena.base().addr();
        let offset = address.checked_sub(base).filter(|&offset| offset < arena.len())?;
        let (position, element) = arena.array_at(offset)?;
        let (array, start, bytes) = (position.name, base + position.start, position.bytes);
        Some(Self { space: Space::Shared, array, start, bytes, element })
    }

    /// Returns the fault of an access to `bytes` bytes at `address`, some of which are outside of this buffer.
    fn fault(&self, address: usize, bytes: usize) -> FaultKind {
        let &Self { space, array, start, element, .. } = self;
        let len = self.bytes / element;
        if address < start {
            let elements = (start - address).div_ceil(element);
            let problem = PointerProblem::BeforeStart { array, elements, len };
            return FaultKind::Pointer(Box::new(PointerFault { address, bytes, problem }));
        }
        // An access may begin in the last element and end beyond the buffer.
        let index = ((address - start) / element).max(len);
        FaultKind::OutOfBounds { space, array, element_type: None, index, len }
    }
}

/// Finds the memory that an access targets. Returns the memory space and the address in this space for memory of the
/// launch, or `None` for other memory of the process.
///
/// # Errors
/// The fault of the access, if the access is invalid.
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
    let position = region::locate(regions, address).and_then(ArrayPosition::named);
    let (space, position) = match (position, Buffer::of_shared(block, address)) {
        (None, Some(array)) => (Space::Shared, array.array.map(|name| (name, (address - array.start) / array.element))),
        (position, _) => (Space::Global, position),
    };
    Box::new(FaultKind::Misaligned { space, element: position.map(Box::new), address, size: align })
}

/// Returns true if `address` is on the stack of the calling thread, in its frame or a caller's.
#[inline(never)]
pub fn is_on_stack(address: usize) -> bool {
    let frame = 0_u8;
    address.wrapping_sub((&raw const frame).addr()) < STACK
}

/// Finds the memory like [`find`], for an address outside of the memory that was passed to the launch.
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
    if is_on_stack(address) {
        return Ok(None);
    }
    let pointer = |problem| Err(Box::new(FaultKind::Pointer(Box::new(PointerFault { address, bytes, problem }))));
    match known::look_up(address) {
        Some(Known::Live(start, len)) => {
            // If parts of this allocation were passed to the launch, the fault names the part nearest to the address.
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

/// Notes that the current thread has offset a pointer from the address `from` to the address `to`.
#[cold]
#[inline(never)]
pub(super) fn note_move(block: &Block, from: usize, to: usize) {
    let thread = block.thread().linear();
    // If views overlap, the view that contains both addresses is the origin.
    let origin = block.strays.origin(thread, from).or_else(|| Buffer::of_move(block, from, to));
    block.strays.note(thread, to, origin.filter(|origin| !origin.contains(to)));
}
