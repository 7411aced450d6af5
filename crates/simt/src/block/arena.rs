//! A block's shared memory.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::mem::MaybeUninit;

use crate::allocation::PAGE;
use crate::order::scramble;
use crate::race::SharedPart;
use crate::region::Place;

/// Bytes of shared memory that a block may have: 227 KiB, the most of any device so far.
pub(crate) const LIMIT: usize = 227 * 1024;
/// Bytes of it that static arrays may have: 48 KiB, on every device. What is more, a launch has to ask for.
pub(crate) const STATIC_LIMIT: usize = 48 * 1024;
/// Every region begins at a multiple of this.
const ALIGNMENT: usize = 16;

/// What reports call the memory whose size the launch gives.
pub(crate) const DYNAMIC: &str = "dynamic shared memory";

/// It has pages of its own.
#[repr(align(4096))]
struct Page {
    _bytes: [u8; PAGE],
}

/// What is known of a static array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrayInfo {
    pub(crate) name: Option<&'static str>,
    /// The size of an element in bytes.
    pub(crate) element: usize,
    pub(crate) bytes: usize,
    /// The type of an element, where only the array tells it: parts of dynamic memory do.
    pub(crate) of: Option<&'static str>,
}

impl ArrayInfo {
    /// The place of `address` in the array, which begins at `start`.
    fn place(&self, start: usize, address: usize) -> Option<Place> {
        let place = Place::find(self.name, (start, self.bytes), self.element, address)?;
        Some(Place { of: self.of, ..place })
    }
}

/// A static allocation of the current block: which site, and where.
struct Region {
    site: *const (),
    array: ArrayInfo,
    address: u32,
}

/// Shared memory: the dynamic region first, from address 0, then the static ones in the order in which the block's
/// threads first come to them. Memory is handed out filled with a pattern, so that what a kernel reads before it
/// writes it is visibly wrong.
#[derive(Default)]
pub(crate) struct Arena {
    bytes: OnceCell<Box<[UnsafeCell<MaybeUninit<Page>>]>>,
    /// Bytes handed out: what lies beyond cannot be accessed.
    len: Cell<usize>,
    dynamic: Cell<u32>,
    pattern: Cell<u8>,
    regions: RefCell<Vec<Region>>,
    /// Arrays in the dynamic memory that have a name, and where each begins.
    dynamic_parts: RefCell<Vec<(ArrayInfo, usize)>>,
}

/// More shared memory is needed than a block may have, or static arrays.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    All { needed: usize },
    Static { needed: usize },
}

impl Arena {
    /// Prepares for another block, with `dynamic` bytes of dynamic memory.
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

    /// Address and length of the dynamic memory.
    pub(crate) fn dynamic(&self) -> (u32, u32) {
        (0, self.dynamic.get())
    }

    /// Gives an array at `address` in the dynamic memory its name.
    pub(crate) fn name_dynamic(&self, array: ArrayInfo, address: u32) {
        let mut parts = self.dynamic_parts.borrow_mut();
        // Texts are the same where they stand at one address, which takes less time to see than what they say.
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

    /// Where `address` is in the smallest array of dynamic memory that has a name and holds it.
    fn locate_part(&self, address: usize) -> Option<Place> {
        let parts = self.dynamic_parts.borrow();
        let place = |(array, start): &(ArrayInfo, usize)| array.place(*start, address);
        parts.iter().filter_map(place).min_by_key(|place| place.bytes)
    }

    /// Two parts of dynamic memory, of different names, that have `address` in them: the first two that overlap without
    /// one being within the other, if there are such.
    #[cold]
    pub(crate) fn overlap(&self, address: usize) -> Option<[SharedPart; 2]> {
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
        let found = pairs.iter().find(is_partial).or_else(|| pairs.first())?;
        Some(found.map(SharedPart::clone))
    }

    /// What memory is filled with that nobody has written.
    #[inline]
    pub(crate) fn pattern(&self) -> u8 {
        self.pattern.get()
    }

    /// Bytes handed out.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// The address of the `array` that belongs to `site`. `hint` is an index under which the site may have been
    /// found before; the second result is the one to try next time.
    ///
    /// # Errors
    /// [`Exceeded`] when that takes the block over a limit.
    pub(crate) fn region(&self, site: *const (), array: ArrayInfo, hint: usize) -> Result<(u32, usize), Exceeded> {
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

    /// Where `address` is, which is accessed with `bytes` bytes at once: these count as an element of dynamic memory, whose
    /// elements the arena does not know. `None` for what has not been handed out.
    #[cold]
    pub(crate) fn locate(&self, address: usize, bytes: usize) -> Option<Place> {
        let dynamic = || Place::find(Some(DYNAMIC), (0, self.dynamic.get() as usize), bytes, address);
        self.locate_part(address).or_else(dynamic).or_else(|| {
            let regions = self.regions.borrow();
            regions.iter().find_map(|region| region.array.place(region.address as usize, address))
        })
    }

    /// The array that holds `address`, and the size of its elements; of dynamic memory, all of it, in bytes.
    #[cold]
    pub(crate) fn array_at(&self, address: usize) -> Option<(Place, usize)> {
        let dynamic = Place::find(Some(DYNAMIC), (0, self.dynamic.get() as usize), 1, address).map(|place| (place, 1));
        dynamic.or_else(|| {
            self.regions.borrow().iter().find_map(|Region { array, address: start, .. }| {
                Some((array.place(*start as usize, address)?, array.element.max(1)))
            })
        })
    }

    /// The array that a view of `len` elements from `start` on shows: its name, and the type of its elements where known.
    #[cold]
    pub(crate) fn array_of_view(&self, start: usize, len: usize) -> (Option<&'static str>, Option<&'static str>) {
        // The dynamic memory that a launch has not asked for is empty, and at the address of whatever else comes first.
        if (start, len, self.dynamic.get()) == (0, 0, 0) {
            return (Some(DYNAMIC), None);
        }
        // A part that is smaller than the view is not what it shows.
        if start < self.dynamic.get() as usize {
            let place = |&(array, first): &(ArrayInfo, usize)| {
                let place = array.place(first, start)?;
                (start - first + len * array.element <= array.bytes).then_some(place)
            };
            let parts = self.dynamic_parts.borrow();
            let part = parts.iter().filter_map(place).min_by_key(|place| place.bytes);
            return part.map_or((Some(DYNAMIC), None), |part| (part.name, part.of));
        }
        // An empty part may be at an array's end, where no other begins.
        let place = self.locate(start, 1).or_else(|| self.locate(start.checked_sub(1)?, 1));
        place.map_or((None, None), |place| (place.name, place.of))
    }

    /// Hands out `bytes` more, which must fit, and gives their address.
    fn extend(&self, bytes: usize) -> usize {
        let start = self.len.get().next_multiple_of(ALIGNMENT);
        self.len.set(start + bytes);
        // SAFETY: `start + bytes` is within the arena, whose bytes are only ever accessed through raw pointers, from
        // the OS thread that runs the block.
        unsafe { self.base().add(start).write_bytes(self.pattern.get(), bytes) };
        start
    }

    /// The first byte.
    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        let words = self.bytes.get_or_init(|| {
            // Comes zeroed from the system, so that only what is used takes memory.
            let zeroed = Box::<[Page]>::new_zeroed_slice(LIMIT.div_ceil(PAGE));
            // SAFETY: the cells have the layout of what is in them.
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
        assert_eq!(arena.region((&raw const site).cast(), array, 0).ok(), Some((32, 0)));
        let place = |name, start, bytes, index| Some(Place { name: Some(name), of: None, start, bytes, index });
        // The access tells the element of dynamic memory.
        assert_eq!(arena.locate(16, 4), place(DYNAMIC, 0, 20, 4));
        assert_eq!(arena.locate(16, 2), place(DYNAMIC, 0, 20, 8));
        assert_eq!(arena.locate(20, 4), None, "the gap before the next multiple of 16");
        assert_eq!(arena.locate(32, 4), place("totals", 32, 32, 0));
        assert_eq!(arena.locate(63, 1), place("totals", 32, 32, 7));
        assert_eq!(arena.locate(64, 4), None);
        let part = ArrayInfo { name: Some("part"), element: 2, bytes: 8, of: Some("u16") };
        let in_part = place("part", 8, 8, 3).map(|place| Place { of: Some("u16"), ..place });
        arena.name_dynamic(part, 8);
        arena.name_dynamic(part, 8);
        assert_eq!(arena.locate(14, 2), in_part);
        assert_eq!(arena.locate(16, 4), place(DYNAMIC, 0, 20, 4));
        arena.name_dynamic(ArrayInfo { name: Some("all"), element: 4, bytes: 20, of: None }, 0);
        assert_eq!((arena.locate(14, 2), arena.locate(16, 4)), (in_part, place("all", 0, 20, 4)));
        assert_eq!(
            (arena.array_of_view(8, 4), arena.array_of_view(16, 1)),
            ((Some("part"), Some("u16")), (Some("all"), None))
        );
        arena.begin(20, 0);
        assert!(arena.region((&raw const site).cast(), array, 0).is_ok());
        let names = [0, 20, 32, 64, 65].map(|start| arena.array_of_view(start, 1).0);
        assert_eq!(names, [Some(DYNAMIC), Some(DYNAMIC), Some("totals"), Some("totals"), None]);
    }
}
