//! All global memory that the process has allocated, to look up addresses outside of the arrays that a launch was
//! given.

use std::alloc::Layout;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes before and after each allocation that are nobody's.
pub(crate) const REDZONE: usize = 4096;
/// The most bytes of freed memory that are kept, so that nobody else gets them and who still accesses them is found
/// out.
const KEPT: usize = 16 << 20;

static MEMORY: Mutex<Memory> = Mutex::new(Memory { live: BTreeMap::new(), freed: VecDeque::new(), freed_bytes: 0 });

struct Memory {
    /// The length in bytes of each allocation, by its address, without the zones around it.
    live: BTreeMap<usize, usize>,
    /// The oldest first.
    freed: VecDeque<Freed>,
    freed_bytes: usize,
}

/// Memory that the kernel could still have a pointer to. It is given to the system when it is dropped.
struct Freed {
    base: *mut u8,
    layout: Layout,
}

// SAFETY: it owns the memory, and nobody accesses it.
unsafe impl Send for Freed {}

impl Drop for Freed {
    fn drop(&mut self) {
        // SAFETY: who retires memory gives the base and the layout that it was allocated with.
        unsafe { std::alloc::dealloc(self.base, self.layout) };
    }
}

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It lies in an allocation, or in the zones around it: where that begins, and its length in bytes.
    Live(usize, usize),
    /// It lies in an allocation that has been freed.
    Freed,
}

fn memory() -> MutexGuard<'static, Memory> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes an allocation.
pub(crate) fn note_live(start: usize, bytes: usize) {
    memory().live.insert(start, bytes);
}

/// Frees the allocation at `start`, sooner or later: `layout` is that of all the memory from `base` on. Where `is_kept`
/// it is kept for a while.
///
/// # Safety
/// The memory must have been allocated so, and nobody may use it any more.
pub(crate) unsafe fn retire(start: usize, base: *mut u8, layout: Layout, is_kept: bool) {
    let freed = Freed { base, layout };
    let mut memory = memory();
    memory.live.remove(&start);
    if is_kept && layout.size() <= KEPT {
        memory.freed_bytes += layout.size();
        memory.freed.push_back(freed);
        while memory.freed_bytes > KEPT
            && let Some(oldest) = memory.freed.pop_front()
        {
            memory.freed_bytes -= oldest.layout.size();
        }
    }
}

/// What is known of `address`.
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
