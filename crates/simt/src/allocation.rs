//! Allocations of simulated global memory.

use std::alloc::Layout;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use crate::free_memory::available;
use crate::memory_map::{MemoryMap, Written};
use crate::raw::known::{REDZONE, note_live, retire};

/// The size of a page in bytes.
pub(crate) const PAGE: usize = 4096;

/// The alignment of allocations in bytes, the same as on a GPU.
const ALIGNMENT: usize = 256;
/// The byte with which new allocations are filled.
const PATTERN: u8 = 0xA5;
/// The capacity of simulated global memory in bytes if the size of the free memory is unknown.
const DEFAULT_CAPACITY: usize = 8 << 30;

/// The address of every allocation of zero bytes. The address is a multiple of [`ALIGNMENT`].
const NO_BYTES: NonZeroUsize = NonZeroUsize::new(ALIGNMENT).unwrap();

/// The number of bytes in use by all allocations of the process.
static USED: AtomicUsize = AtomicUsize::new(0);

/// The error of an allocation that is larger than the remaining memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {requested} bytes requested, {available} bytes available")]
pub struct OutOfMemory {
    /// The number of bytes that the allocation requested.
    pub requested: usize,
    /// The number of bytes that were still available.
    pub available: usize,
}

/// An allocation of simulated global memory, which is freed when the value is dropped.
///
/// The allocation is aligned to 256 bytes and filled with `0xA5`, so that reads of uninitialised memory return visibly
/// wrong values.
#[derive(Debug)]
pub struct Allocation {
    start: NonNull<u8>,
    bytes: usize,
    tracked: Option<(MemoryMap, Arc<Written>)>,
}

// SAFETY: an allocation owns its memory as a `Vec` does, and only hands out raw pointers to it.
unsafe impl Send for Allocation {}
// SAFETY: an allocation only hands out raw pointers, and each access through them is `unsafe` and has its own
// conditions.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` bytes of simulated global memory. `bytes` may be 0.
    ///
    /// # Errors
    /// [`OutOfMemory`] if all allocations of the process together would exceed [`capacity`], or if the system has no
    /// memory left.
    pub fn new(bytes: usize) -> Result<Self, OutOfMemory> {
        Self::aligned(bytes, ALIGNMENT)
    }

    fn aligned(bytes: usize, alignment: usize) -> Result<Self, OutOfMemory> {
        let out_of_memory = |used: usize| OutOfMemory { requested: bytes, available: capacity().saturating_sub(used) };
        let layout = layout(bytes, alignment).ok_or_else(|| out_of_memory(used()))?;
        let reserve = |used: usize| used.checked_add(bytes).filter(|&total| total <= capacity());
        USED.try_update(Ordering::Relaxed, Ordering::Relaxed, reserve).map_err(out_of_memory)?;
        if bytes == 0 {
            return Ok(Self { start: NonNull::without_provenance(NO_BYTES), bytes, tracked: None });
        }
        // SAFETY: the layout's size is not 0, because it includes two red zones.
        match NonNull::new(unsafe { std::alloc::alloc(layout) }) {
            Some(base) => {
                // SAFETY: the layout includes `REDZONE` bytes before the first byte.
                let start = unsafe { base.add(REDZONE) };
                // SAFETY: `bytes` bytes were just allocated at `start`.
                unsafe { start.write_bytes(PATTERN, bytes) };
                note_live(start.as_ptr().addr(), bytes);
                Ok(Self { start, bytes, tracked: None })
            }
            None => Err(out_of_memory(USED.fetch_sub(bytes, Ordering::Relaxed))),
        }
    }

    /// Allocates `bytes` bytes like [`new`](Self::new). `map` records which of these bytes are initialised. The
    /// allocation shares no page with other memory.
    pub(crate) fn tracked(bytes: usize, map: &MemoryMap) -> Result<Self, OutOfMemory> {
        let mut allocation = Self::aligned(bytes, PAGE)?;
        if bytes > 0 {
            let written = map.add(allocation.as_ptr().addr(), bytes);
            allocation.tracked = Some((map.clone(), written));
        }
        Ok(allocation)
    }

    /// Records that the host writes `bytes` bytes of the allocation, from byte `first` on. The simulator records writes
    /// by kernels as they happen.
    pub fn note_written(&self, first: usize, bytes: usize) {
        if let Some((_, written)) = &self.tracked {
            written.set(self.as_ptr().addr() + first, bytes);
        }
    }

    /// Returns a pointer to the first byte of the allocation.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the length of the allocation in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Returns `true` if the allocation has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some((map, _)) = &self.tracked {
            map.remove(self.as_ptr().addr());
        }
        if let Some(layout) = layout(self.bytes, if self.tracked.is_some() { PAGE } else { ALIGNMENT })
            && self.bytes > 0
        {
            let base = self.start.as_ptr().wrapping_sub(REDZONE);
            // SAFETY: `new` allocated it with the same layout, and it was not freed since.
            unsafe { retire(self.as_ptr().addr(), base, layout, self.tracked.is_some()) };
            USED.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// Returns the layout of `bytes` bytes with an unused red zone before and after them.
fn layout(bytes: usize, alignment: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(2 * REDZONE)?, alignment).ok()
}

/// Returns the maximum number of bytes of all allocations of the process together. This is half of the memory that is
/// free when the process first calls this function. The other half is for the host's copies of the data, and for the
/// simulator's records of accesses.
pub fn capacity() -> usize {
    static CAPACITY: OnceLock<usize> = OnceLock::new();
    *CAPACITY.get_or_init(|| {
        let free = available().map(|free| usize::try_from(free / 2).unwrap_or(usize::MAX));
        free.map_or(DEFAULT_CAPACITY, |free| free.saturating_add(used()))
    })
}

/// Returns the number of bytes in use by all allocations of the process.
pub fn used() -> usize {
    USED.load(Ordering::Relaxed)
}
