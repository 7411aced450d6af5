//! Allocations of simulated global memory.

use std::alloc::Layout;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use crate::memory_map::{MemoryMap, Written};
use crate::raw::known::{REDZONE, note_live, retire};

/// Bytes of a page of memory.
pub(crate) const PAGE: usize = 4096;

/// Allocations begin at a multiple of this, as on a device.
const ALIGNMENT: usize = 256;
/// What fresh memory is filled with.
const PATTERN: u8 = 0xA5;
/// The capacity where the machine does not tell its own.
const DEFAULT_CAPACITY: usize = 8 << 30;

/// The address of an allocation without bytes: a multiple of [`ALIGNMENT`].
const NO_BYTES: NonZeroUsize = NonZeroUsize::new(ALIGNMENT).unwrap();

/// Bytes in use by all allocations of the process.
static USED: AtomicUsize = AtomicUsize::new(0);

/// The memory asked for is more than what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {requested} bytes asked for, {available} bytes available")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: usize,
    /// Bytes that were left.
    pub available: usize,
}

/// Global memory, given back when dropped.
///
/// Begins at a multiple of 256 bytes, filled with `0xA5` so that what a kernel reads before anything was written is
/// visibly wrong.
#[derive(Debug)]
pub struct Allocation {
    start: NonNull<u8>,
    bytes: usize,
    tracked: Option<(MemoryMap, Arc<Written>)>,
}

// SAFETY: an allocation owns its memory as a Vec does, and gives only raw pointers to it.
unsafe impl Send for Allocation {}
// SAFETY: as above; whoever accesses the memory through the pointer answers for that.
unsafe impl Sync for Allocation {}

impl Allocation {
    /// Allocates `bytes` bytes; 0 is allowed.
    ///
    /// # Errors
    /// [`OutOfMemory`] if all allocations of the process together would exceed [`capacity`], or the system gives no
    /// memory.
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
        // SAFETY: the layout's size is not 0.
        match NonNull::new(unsafe { std::alloc::alloc(layout) }) {
            Some(base) => {
                // SAFETY: the layout has as many bytes before the first.
                let start = unsafe { base.add(REDZONE) };
                // SAFETY: this many bytes have just been allocated there.
                unsafe { start.write_bytes(PATTERN, bytes) };
                note_live(start.as_ptr().addr(), bytes);
                Ok(Self { start, bytes, tracked: None })
            }
            None => Err(out_of_memory(USED.fetch_sub(bytes, Ordering::Relaxed))),
        }
    }

    /// As [`new`](Self::new); `map` is told what of it has been written, and its pages are nobody else's.
    pub(crate) fn tracked(bytes: usize, map: &MemoryMap) -> Result<Self, OutOfMemory> {
        let mut allocation = Self::aligned(bytes, PAGE)?;
        if bytes > 0 {
            let written = map.add(allocation.as_ptr().addr(), bytes);
            allocation.tracked = Some((map.clone(), written));
        }
        Ok(allocation)
    }

    /// Notes that `bytes` bytes from the byte `first` on are about to be written, or have been, by the host. What
    /// kernels write is noted as they do.
    pub fn note_written(&self, first: usize, bytes: usize) {
        if let Some((_, written)) = &self.tracked {
            written.set(self.as_ptr().addr() + first, bytes);
        }
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the length is 0.
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
            // SAFETY: allocated in `new` with the same layout, and not freed since.
            unsafe { retire(self.as_ptr().addr(), base, layout, self.tracked.is_some()) };
            USED.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// The memory for `bytes` bytes, with nobody's around them: an access beside them is beside them.
fn layout(bytes: usize, alignment: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(2 * REDZONE)?, alignment).ok()
}

/// Bytes that all allocations of the process may have together: the machine's physical memory, or what the process's
/// control group may have if that is less.
pub fn capacity() -> usize {
    static CAPACITY: OnceLock<usize> = OnceLock::new();
    *CAPACITY.get_or_init(|| {
        let physical = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
        let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
        [physical, group].into_iter().flatten().min().unwrap_or(DEFAULT_CAPACITY)
    })
}

/// Bytes in use by all allocations of the process.
pub fn used() -> usize {
    USED.load(Ordering::Relaxed)
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn total_memory(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::total_memory;

    #[test]
    fn total_memory_is_read() {
        let text = "MemTotal:       16303488 kB\nMemFree:          253676 kB\n";
        assert_eq!(total_memory(text), Some(16303488 * 1024));
        assert_eq!(total_memory("MemFree: 1 kB\n"), None);
        assert_eq!(total_memory("MemTotal: much\n"), None);
    }
}
