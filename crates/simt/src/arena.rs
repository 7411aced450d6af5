//! A block's shared memory.

use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};

use crate::order::scramble;

/// Bytes of shared memory that a block may have: 227 KiB, the most of any device so far.
pub(crate) const LIMIT: usize = 227 * 1024;
/// Every region begins at a multiple of this.
const ALIGNMENT: usize = 16;

/// A static allocation of the current block: which site, and where.
struct Region {
    site: *const (),
    bytes: usize,
    address: u32,
}

/// Shared memory: the dynamic region first, from address 0, then the static ones in the order in which the block's
/// threads first come to them. Memory is handed out filled with a pattern, so that what a kernel reads before it
/// writes it is visibly wrong.
#[derive(Default)]
pub(crate) struct Arena {
    bytes: OnceCell<Box<[UnsafeCell<u128>]>>,
    /// Bytes handed out: what lies beyond cannot be accessed.
    len: Cell<usize>,
    dynamic: Cell<u32>,
    pattern: Cell<u8>,
    regions: RefCell<Vec<Region>>,
}

/// More shared memory is needed than a block may have.
pub(crate) struct Exceeded {
    pub(crate) needed: usize,
}

impl Arena {
    /// Prepares for another block, with `dynamic` bytes of dynamic memory.
    pub(crate) fn begin(&self, dynamic: u32, seed: u64) {
        self.regions.borrow_mut().clear();
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

    /// Bytes handed out.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    /// The address of the `bytes` that belong to `site`. `hint` is an index under which the site may have been
    /// found before; the second result is the one to try next time.
    ///
    /// # Errors
    /// [`Exceeded`] when that takes the block over the limit.
    pub(crate) fn region(&self, site: *const (), bytes: usize, hint: usize) -> Result<(u32, usize), Exceeded> {
        let mut regions = self.regions.borrow_mut();
        let is_it = |region: &Region| region.site == site && region.bytes == bytes;
        let known = match regions.get(hint) {
            Some(region) if is_it(region) => Some(hint),
            _ => regions.iter().position(is_it),
        };
        if let Some(index) = known {
            return Ok((regions[index].address, index));
        }
        let start = self.len.get().next_multiple_of(ALIGNMENT);
        let needed = start.saturating_add(bytes);
        if needed > LIMIT {
            return Err(Exceeded { needed });
        }
        let address = self.extend(bytes) as u32;
        regions.push(Region { site, bytes, address });
        Ok((address, regions.len() - 1))
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
            let zeroed = vec![0_u128; LIMIT / 16].into_boxed_slice();
            // SAFETY: UnsafeCell<u128> has the layout of u128.
            unsafe { Box::from_raw(Box::into_raw(zeroed) as *mut [UnsafeCell<u128>]) }
        });
        words.as_ptr() as *mut u8
    }
}
