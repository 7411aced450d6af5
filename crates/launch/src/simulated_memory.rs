//! Memory of simulated devices, each of which may have a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simt::Simulator;
use simt::memory::{self, Allocation, OutOfMemory};

use crate::error::Error;
use crate::objects::Allocated;

/// The name of a simulated device in errors and reports.
pub(crate) const NAME: &str = "simulator";

/// The limit of a device's memory: its size and the number of bytes in use.
pub(crate) struct MemoryLimit {
    bytes: usize,
    used: AtomicUsize,
}

impl MemoryLimit {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes, used: AtomicUsize::new(0) })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn free(&self) -> usize {
        self.bytes - self.used.load(Ordering::Relaxed)
    }
}

/// A number of bytes that counts against a limit until the value is dropped.
struct Taken {
    limit: Arc<MemoryLimit>,
    bytes: usize,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.limit.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Allocates memory for the kernels of `simulator`, counted against `limit` if there is one.
pub(crate) fn allocate(
    simulator: &Simulator,
    limit: Option<&Arc<MemoryLimit>>,
    bytes: usize,
) -> Result<Allocated, Error> {
    let mut taken = None;
    if let Some(limit) = limit {
        let take = |used: usize| used.checked_add(bytes).filter(|&used| used <= limit.bytes);
        if limit.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Err(out_of_memory(OutOfMemory { requested: bytes, available: limit.free() }));
        }
        taken = Some(Taken { limit: limit.clone(), bytes });
    }
    let allocation: Allocation = simulator.allocate(bytes).map_err(out_of_memory)?;
    let start = allocation.as_ptr();
    // Exposed, because launches pass regions as addresses.
    let _ = start.expose_provenance();
    Ok(Allocated::new(Some(start), None, (allocation, taken)))
}

pub(crate) fn out_of_memory(error: OutOfMemory) -> Error {
    Error::OutOfMemory {
        requested_bytes: error.requested as u64,
        free_bytes: error.available as u64,
        device: NAME.to_owned(),
    }
}

/// Divides `$bytes` bytes into words and evaluates `$copy` for each word. A word has the greatest width, up to 8 bytes,
/// that divides `$element`, the size of an element. Kernels access the elements by words of at most this width.
macro_rules! for_each_word {
    ($bytes:ident, $element:ident, $offset:ident, $Word:ident => $copy:expr) => {{
        macro_rules! words {
            ($word:ty) => {{
                type $Word = $word;
                for $offset in (0..$bytes).step_by(size_of::<$Word>()) {
                    $copy
                }
            }};
        }
        match $element.trailing_zeros() {
            0 => words!(u8),
            1 => words!(u16),
            2 => words!(u32),
            _ => words!(u64),
        }
    }};
}

/// Copies `bytes` bytes of host memory at `from` to `to` by atomic stores, because other threads may access them too.
///
/// # Safety
/// `to` and `from` must be valid for `bytes` bytes, and those at `from` must be initialised. `to` must be aligned to
/// the elements.
pub(crate) unsafe fn store_all(to: *mut u8, from: *const u8, bytes: usize, element: usize) {
    for_each_word!(bytes, element, offset, Word => {
        // SAFETY: the words divide the elements, so that all are within both ranges and aligned in `to`.
        unsafe { memory::store(to.add(offset).cast(), from.add(offset).cast::<Word>().read_unaligned()) }
    });
}

/// Copies `bytes` bytes at `from` to host memory at `to` by atomic loads, because other threads may access them too.
///
/// # Safety
/// As for [`store_all`], except that `from` instead of `to` must be aligned to the elements.
pub(crate) unsafe fn load_all(to: *mut u8, from: *const u8, bytes: usize, element: usize) {
    for_each_word!(bytes, element, offset, Word => {
        // SAFETY: the words divide the elements, so that all are within both ranges and aligned in `from`.
        unsafe { to.add(offset).cast::<Word>().write_unaligned(memory::load(from.add(offset).cast())) }
    });
}

/// Copies `bytes` bytes at `from` to `to` by atomic loads and stores, because other threads may access them too.
///
/// # Safety
/// As for [`store_all`] and [`load_all`]: both addresses must be aligned to the elements.
pub(crate) unsafe fn copy_all(to: *mut u8, from: *const u8, bytes: usize, element: usize) {
    for_each_word!(bytes, element, offset, Word => {
        // SAFETY: the words divide the elements, so that all are within both ranges and aligned.
        unsafe { memory::store(to.add(offset).cast(), memory::load(from.add(offset).cast::<Word>())) }
    });
}
