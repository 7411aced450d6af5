//! The shared memory of a block.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::mem::MaybeUninit;

use crate::allocation::PAGE;
use crate::faults::FaultKind;
use crate::faults::race::Element;
use crate::order::scramble;
use crate::region::{ArrayPosition, DYNAMIC, SharedPart};

/// The maximum shared memory of a block in bytes: 227 KiB, the maximum of all CUDA devices so far.
pub(crate) const LIMIT: usize = 227 * 1024;
/// The maximum size of a block's static arrays in bytes: 48 KiB, as on every device. Larger arrays must be in dynamic
/// shared memory.
pub(crate) const STATIC_LIMIT: usize = 48 * 1024;
/// The alignment of every shared array in bytes.
const ALIGNMENT: usize = 16;

/// A page of the arena. Its alignment makes the arena page-aligned.
#[repr(align(4096))]
struct Page {
    _bytes: [u8; PAGE],
}

/// The description of a shared array: its name, size and element type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrayInfo {
    pub(crate) name: Option<&'static str>,
    /// The size of an element in bytes.
    pub(crate) element: usize,
    pub(crate) bytes: usize,
    /// The name of the element type, if the array is a part of dynamic shared memory.
    pub(crate) of: Option<&'static str>,
}

impl ArrayInfo {
    /// Returns the position of `address` in this array, which begins at `start`. Returns `None` if `address` is outside
    /// of the array.
    fn position(&self, start: usize, address: usize) -> Option<ArrayPosition> {
        let position = ArrayPosition::find(self.name, (start, self.bytes), self.element, address)?;
        Some(ArrayPosition { of: self.of, ..position })
    }
}

/// The source site that declares a static shared array, and the name of the instance of the function around it.
type InstanceSite = (*const (), &'static str);

/// A static shared array of the current block: its source site and its address.
struct Region {
    site: InstanceSite,
    array: ArrayInfo,
    address: u32,
}

/// The shared memory of a block. The dynamic region comes first, at address 0. The static arrays follow in the order in
/// which the block's threads first use them. New memory is filled with a pattern, so that reads of uninitialised memory
/// return visibly wrong values.
#[derive(Default)]
pub(crate) struct Arena {
    bytes: OnceCell<Box<[UnsafeCell<MaybeUninit<Page>>]>>,
    /// The number of bytes of shared memory allocated so far. An access to an address at or above this number is a
    /// fault.
    len: Cell<usize>,
    dynamic: Cell<u32>,
    pattern: Cell<u8>,
    regions: RefCell<Vec<Region>>,
    /// The named arrays in dynamic shared memory, each with its address.
    dynamic_parts: RefCell<Vec<(ArrayInfo, usize)>>,
}

/// The error of a block that needs more shared memory, or more static shared memory, than is allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    All { needed: usize },
    Static { needed: usize },
}

impl From<Exceeded> for FaultKind {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::All { needed } => Self::SharedMemory { needed, limit: LIMIT },
            Exceeded::Static { needed } => Self::StaticSharedMemory { needed, limit: STATIC_LIMIT },
        }
    }
}

impl Element {
    /// Returns the element at `address` of a block's shared memory, for an access of `bytes` bytes.
    pub(crate) fn in_shared(arena: &Arena, address: usize, bytes: usize) -> Self {
        let position = arena.locate(address, bytes);
        match position.and_then(|position| Some((position.name?, position.of, position.index))) {
            Some((array, element_type, index)) => Self { array: Some(array), element_type, index, address },
            None => Self { array: None, element_type: None, index: address, address },
        }
    }
}

impl Arena {
    /// Resets the arena for another block with `dynamic` bytes of dynamic memory.
    pub(crate) fn begin(&self, dynamic: u32, seed: u64) {
        self.regions.borrow_mut().clear();
        self.dynamic_parts.borrow_mut().clear();
        self.len.set(0);
        self.dynamic.set(dynamic);
        self.pattern.set(if seed == 0 { 0xA5 } else { scramble(seed) as u8 | 0x81 });
        if dynamic > 0 {
            self.extend(dynamic as usize);
        }
    }

    /// Returns the address and the length of the block's dynamic shared memory in bytes.
    pub(crate) fn dynamic(&self) -> (u32, u32) {
        (0, self.dynamic.get())
    }

    /// Registers a named array at `address` in dynamic shared memory.
    pub(crate) fn name_dynamic(&self, array: ArrayInfo, address: u32) {
        let mut parts = self.dynamic_parts.borrow_mut();
        // Names are compared by address, which is faster than comparing the texts.
        let is_same = |a: Option<&str>, b: Option<&str>| a.map(std::ptr::from_ref) == b.map(std::ptr::from_ref);
        let is_it = |(other, start): &(ArrayInfo, usize)| {
            (*start, other.bytes, other.element) == (address as usize, array.bytes, array.element)
                && is_same(other.name, array.name)
                && is_same(other.of, array.of)
        };
        if !parts.iter().any(is_it) {
            parts.push((array, address as usize));
        }
    }

    /// Returns the position of `address` in the smallest named array of dynamic memory that contains `address`.
    fn locate_part(&self, address: usize) -> Option<ArrayPosition> {
        let parts = self.dynamic_parts.borrow();
        let position = |(array, start): &(ArrayInfo, usize)| array.position(*start, address);
        parts.iter().filter_map(position).min_by_key(|position| position.bytes)
    }

    /// Returns two named arrays in dynamic memory that have different names and both contain `address`. Prefers two
    /// arrays that overlap without one containing the other. If `may_contain` is false, returns no others.
    #[cold]
    pub(crate) fn overlap(&self, address: usize, may_contain: bool) -> Option<[SharedPart; 2]> {
        let parts = self.dynamic_parts.borrow();
        let part = |&(array, start): &(ArrayInfo, usize)| {
            let end = start + array.bytes;
            (start..end).contains(&address).then_some(SharedPart {
                name: array.name?,
                element_type: array.of,
                start,
                end,
            })
        };
        let mut parts: Vec<SharedPart> = parts.iter().filter_map(part).collect();
        parts.sort_by_key(|part| part.start);
        let pairs =
            parts.iter().enumerate().flat_map(|(i, part)| parts[i + 1..].iter().map(move |other| [part, other]));
        let pairs: Vec<_> = pairs.filter(|[part, other]| part.name != other.name).collect();
        let is_partial = |[part, other]: &&[&SharedPart; 2]| part.start < other.start && part.end < other.end;
        let found = pairs.iter().find(is_partial).or_else(|| pairs.first().filter(|_| may_contain))?;
        Some(found.map(SharedPart::clone))
    }

    /// Returns the byte with which uninitialised shared memory is filled.
    #[inline]
    pub(crate) fn pattern(&self) -> u8 {
        self.pattern.get()
    }

    /// Returns the number of bytes of shared memory allocated so far.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// Returns the address of the static shared array declared at `site`, and allocates `array` on the first call.
    /// `hint` is a guess of the array's index in the arena. The second result is the actual index, which is the hint
    /// for the next call.
    ///
    /// # Errors
    /// [`Exceeded`] if the array needs more shared memory than the block has left.
    pub(crate) fn region(&self, site: InstanceSite, array: ArrayInfo, hint: usize) -> Result<(u32, usize), Exceeded> {
        let mut regions = self.regions.borrow_mut();
        let bytes = array.bytes;
        let is_it = |region: &Region| region.site == site && region.array.bytes == bytes;
        let known = match regions.get(hint) {
            Some(region) if is_it(region) => Some(hint),
            _ => regions.iter().position(is_it),
        };
        if let Some(index) = known {
            return Ok((regions[index].address, index));
        }
        let start = self.len.get().next_multiple_of(ALIGNMENT);
        let needed = start.saturating_add(bytes);
        let needed_static = needed - (self.dynamic.get() as usize).next_multiple_of(ALIGNMENT);
        if needed_static > STATIC_LIMIT {
            return Err(Exceeded::Static { needed: needed_static });
        }
        if needed > LIMIT {
            return Err(Exceeded::All { needed });
        }
        let address = self.extend(bytes) as u32;
        regions.push(Region { site, array, address });
        Ok((address, regions.len() - 1))
    }

    /// Returns the address in `other`, the arena of a block of the same launch, of the array element that has the
    /// address `address` in this arena. A block allocates its static arrays in the order of their first use, so that an
    /// array may have different addresses in two blocks.
    ///
    /// # Errors
    /// [`Exceeded`] if `other` has no memory left for the array.
    pub(crate) fn address_in(&self, other: &Self, address: u32) -> Result<u32, Exceeded> {
        if std::ptr::eq(self, other) {
            return Ok(address);
        }
        let regions = self.regions.borrow();
        let offset = |region: &Region| address.checked_sub(region.address);
        let is_in = |region: &Region| offset(region).is_some_and(|offset| (offset as usize) < region.array.bytes);
        // An empty view may begin at the end of its array.
        let ends = |region: &Region| offset(region).is_some_and(|offset| offset as usize == region.array.bytes);
        let find = |is: &dyn Fn(&Region) -> bool| regions.iter().position(is);
        let Some(index) = find(&is_in).or_else(|| find(&ends)) else { return Ok(address) };
        let Region { site, array, address: start } = regions[index];
        Ok(other.region(site, array, index)?.0 + (address - start))
    }

    /// Returns the array and the element at the shared address `address`, or `None` if the address is not allocated. In
    /// unnamed dynamic memory, whose element type is unknown, the `bytes` accessed bytes count as one element.
    #[cold]
    pub(crate) fn locate(&self, address: usize, bytes: usize) -> Option<ArrayPosition> {
        let dynamic = || ArrayPosition::find(Some(DYNAMIC), (0, self.dynamic.get() as usize), bytes, address);
        self.locate_part(address).or_else(dynamic).or_else(|| {
            let regions = self.regions.borrow();
            regions.iter().find_map(|region| region.array.position(region.address as usize, address))
        })
    }

    /// Returns the array that contains `address`, and the size of the array's elements. Dynamic memory counts as one
    /// array of bytes.
    #[cold]
    pub(crate) fn array_at(&self, address: usize) -> Option<(ArrayPosition, usize)> {
        let dynamic = ArrayPosition::find(Some(DYNAMIC), (0, self.dynamic.get() as usize), 1, address)
            .map(|position| (position, 1));
        dynamic.or_else(|| {
            self.regions.borrow().iter().find_map(|Region { array, address: start, .. }| {
                Some((array.position(*start as usize, address)?, array.element.max(1)))
            })
        })
    }

    /// Returns the array that contains a view of `len` elements from `start` on: the array's name, if it has one, and
    /// its element type, if known.
    #[cold]
    pub(crate) fn array_of_view(&self, start: usize, len: usize) -> (Option<&'static str>, Option<&'static str>) {
        // If a launch has no dynamic memory, its view is empty and has the address of the first static array.
        if (start, len, self.dynamic.get()) == (0, 0, 0) {
            return (Some(DYNAMIC), None);
        }
        // A part that is smaller than the view is not the viewed array.
        if start < self.dynamic.get() as usize {
            let position = |&(array, first): &(ArrayInfo, usize)| {
                let position = array.position(first, start)?;
                (start - first + len * array.element <= array.bytes).then_some(position)
            };
            let parts = self.dynamic_parts.borrow();
            let part = parts.iter().filter_map(position).min_by_key(|position| position.bytes);
            return part.map_or((Some(DYNAMIC), None), |part| (part.name, part.of));
        }
        // An empty view may start at an array's end, where no other array begins.
        let position = self.locate(start, 1).or_else(|| self.locate(start.checked_sub(1)?, 1));
        position.map_or((None, None), |position| (position.name, position.of))
    }

    /// Allocates `bytes` more bytes of shared memory and returns their address. The caller must check that they fit.
    fn extend(&self, bytes: usize) -> usize {
        let start = self.len.get().next_multiple_of(ALIGNMENT);
        self.len.set(start + bytes);
        // SAFETY: `start + bytes` is within the arena. Its bytes are only accessed through raw pointers, from the OS
        // thread that runs the block.
        unsafe { self.base().add(start).write_bytes(self.pattern.get(), bytes) };
        start
    }

    /// Returns a pointer to the first byte of the arena.
    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        let words = self.bytes.get_or_init(|| {
            // The system returns zeroed pages, which take memory only when they are used.
            let zeroed = Box::<[Page]>::new_zeroed_slice(LIMIT.div_ceil(PAGE));
            // SAFETY: `UnsafeCell<MaybeUninit<Page>>` has the layout of `Page`.
            unsafe { Box::from_raw(Box::into_raw(zeroed) as *mut [UnsafeCell<MaybeUninit<Page>>]) }
        });
        words.as_ptr() as *mut u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_in_its_array() {
        let arena = Arena::default();
        arena.begin(20, 0);
        let site = 0_u8;
        let array = ArrayInfo { name: Some("totals"), element: 4, bytes: 32, of: None };
        let totals = ((&raw const site).cast(), "");
        assert_eq!(arena.region(totals, array, 0).ok(), Some((32, 0)));
        let position =
            |name, start, bytes, index| Some(ArrayPosition { name: Some(name), of: None, start, bytes, index });
        // In unnamed dynamic memory, the accessed bytes count as one element.
        assert_eq!(arena.locate(16, 4), position(DYNAMIC, 0, 20, 4));
        assert_eq!(arena.locate(16, 2), position(DYNAMIC, 0, 20, 8));
        assert_eq!(arena.locate(20, 4), None, "the gap before the next multiple of 16");
        assert_eq!(arena.locate(32, 4), position("totals", 32, 32, 0));
        assert_eq!(arena.locate(63, 1), position("totals", 32, 32, 7));
        assert_eq!(arena.locate(64, 4), None);
        let part = ArrayInfo { name: Some("part"), element: 2, bytes: 8, of: Some("u16") };
        let in_part = position("part", 8, 8, 3).map(|position| ArrayPosition { of: Some("u16"), ..position });
        arena.name_dynamic(part, 8);
        arena.name_dynamic(part, 8);
        assert_eq!(arena.locate(14, 2), in_part);
        assert_eq!(arena.locate(16, 4), position(DYNAMIC, 0, 20, 4));
        arena.name_dynamic(ArrayInfo { name: Some("all"), element: 4, bytes: 20, of: None }, 0);
        assert_eq!((arena.locate(14, 2), arena.locate(16, 4)), (in_part, position("all", 0, 20, 4)));
        assert_eq!(
            (arena.array_of_view(8, 4), arena.array_of_view(16, 1)),
            ((Some("part"), Some("u16")), (Some("all"), None))
        );
        arena.begin(20, 0);
        assert!(arena.region(totals, array, 0).is_ok());
        let names = [0, 20, 32, 64, 65].map(|start| arena.array_of_view(start, 1).0);
        assert_eq!(names, [Some(DYNAMIC), Some(DYNAMIC), Some("totals"), Some("totals"), None]);
    }
}
