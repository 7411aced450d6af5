//! A map of all simulated global memory of the process, which finds the allocation of any address. Launches use the map
//! for addresses outside of the arrays that were passed to them.

use std::alloc::Layout;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The size in bytes of the unused zones before and after each allocation.
pub(crate) const REDZONE: usize = 4096;
/// The maximum number of bytes of freed memory that the process does not reuse yet, so that the simulator finds later
/// accesses to this memory.
const MAX_FREED_BYTES: usize = 16 << 20;

static MEMORY: Mutex<Memory> = Mutex::new(Memory { live: BTreeMap::new(), freed: VecDeque::new(), freed_bytes: 0 });

struct Memory {
    /// The length in bytes of each allocation, without the zones around it. The key is the allocation's address.
    live: BTreeMap<usize, usize>,
    /// The freed memory that is not reused yet, the oldest first.
    freed: VecDeque<Freed>,
    freed_bytes: usize,
}

/// Freed memory to which a kernel may still have a pointer. Dropping this value returns the memory to the system.
struct Freed {
    base: *mut u8,
    layout: Layout,
}

// SAFETY: the value owns the memory, which is not accessed any more.
unsafe impl Send for Freed {}

impl Drop for Freed {
    fn drop(&mut self) {
        // SAFETY: `retire` requires the base and the layout of the allocation.
        unsafe { std::alloc::dealloc(self.base, self.layout) };
    }
}

/// The memory to which an address belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// A live allocation or the zones around it: the allocation's address, and its length in bytes.
    Live(usize, usize),
    /// Memory of an allocation that was freed.
    Freed,
}

fn memory() -> MutexGuard<'static, Memory> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers an allocation of `bytes` bytes at `start`.
pub(crate) fn note_live(start: usize, bytes: usize) {
    memory().live.insert(start, bytes);
}

/// Frees the allocation at `start`, whose memory with the zones begins at `base` and has the layout `layout`. If
/// `is_kept` is true, this function returns the memory to the system only later, so that it is not reused for a while.
///
/// # Safety
/// The memory at `base` must have been allocated with `layout` and must not be used after this call.
pub(crate) unsafe fn retire(start: usize, base: *mut u8, layout: Layout, is_kept: bool) {
    let freed = Freed { base, layout };
    let mut memory = memory();
    memory.live.remove(&start);
    if is_kept && layout.size() <= MAX_FREED_BYTES {
        memory.freed_bytes += layout.size();
        memory.freed.push_back(freed);
        while memory.freed_bytes > MAX_FREED_BYTES
            && let Some(oldest) = memory.freed.pop_front()
        {
            memory.freed_bytes -= oldest.layout.size();
        }
    }
}

/// Returns the kind of memory to which `address` belongs, if known.
pub(super) fn look_up(address: usize) -> Option<Known> {
    let memory = memory();
    let before = memory.live.range(..=address.saturating_add(REDZONE)).next_back();
    if let Some((&start, &bytes)) = before
        && address < start.saturating_add(bytes).saturating_add(REDZONE)
    {
        return Some(Known::Live(start, bytes));
    }
    let is_in = |freed: &Freed| address.wrapping_sub(freed.base.addr()) < freed.layout.size();
    memory.freed.iter().any(is_in).then_some(Known::Freed)
}
