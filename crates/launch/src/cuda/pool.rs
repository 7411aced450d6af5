//! Memory that was freed and is kept for the next allocation of its size.
//!
//! The driver takes longer to allocate and to free than a small kernel runs, and frees nothing before all launches are
//! done. What uses a GPU's memory is asked of the device's own stream, or has ended when the memory is freed; so
//! whoever gets it next comes after that, without waiting.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Freed memory, by its size and by what is in it.
#[derive(Default)]
pub(super) struct Pool(Mutex<Free>);

#[derive(Default)]
struct Free {
    addresses: HashMap<Size, Vec<u64>>,
    bytes: usize,
}

/// Which requests a piece of memory can serve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Size {
    bytes: usize,
    /// The owner type; a workspace is reused only by it, contents unchanged.
    pub(super) workspace: Option<TypeId>,
}

impl Size {
    /// The driver rounds sizes up as well: small ones to 512 bytes, others to its pages.
    const GRAINS: [usize; 2] = [512, 2 << 20];

    /// Of at least `bytes` bytes. A workspace has exactly as many, since its next user relies on all words being as
    /// they were left.
    pub(super) fn new(bytes: usize, workspace: Option<TypeId>) -> Self {
        if workspace.is_some() {
            return Self { bytes, workspace };
        }
        let grain = Self::GRAINS[usize::from(bytes >= Self::GRAINS[1])];
        // More than the last multiple of a grain is refused by the driver.
        Self { bytes: bytes.checked_next_multiple_of(grain).unwrap_or(bytes), workspace }
    }

    pub(super) fn bytes(self) -> usize {
        self.bytes
    }
}

impl Pool {
    fn free(&self) -> MutexGuard<'_, Free> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory of that size, if there is some.
    pub(super) fn take(&self, size: Size) -> Option<u64> {
        let mut free = self.free();
        let address = free.addresses.get_mut(&size)?.pop()?;
        free.bytes -= size.bytes;
        Some(address)
    }

    /// Keeps memory, unless there would be more than `most` bytes in all.
    pub(super) fn keep(&self, size: Size, address: u64, most: usize) -> bool {
        let mut free = self.free();
        let fits = free.bytes.saturating_add(size.bytes) <= most;
        if fits {
            free.bytes += size.bytes;
            free.addresses.entry(size).or_default().push(address);
        }
        fits
    }

    /// Bytes that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.free().bytes
    }

    /// All that is kept, which is then the caller's.
    pub(super) fn take_all(&self) -> Vec<u64> {
        let Free { addresses, .. } = std::mem::take(&mut *self.free());
        addresses.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_out_again_to_who_asks_for_as_much() {
        let pool = Pool::default();
        let [small, large] = [1, 4 << 20].map(|bytes| Size::new(bytes, None));
        assert_eq!((small.bytes(), Size::new(512, None)), (512, small));
        assert_eq!(Size::new((2 << 20) + 1, None), large);
        assert!(pool.keep(small, 7, 1 << 20) && pool.keep(small, 8, 1 << 20));
        assert!(!pool.keep(large, 9, 1 << 20), "more than the most");
        assert_eq!((pool.bytes(), pool.take(large)), (1024, None));
        assert_eq!([pool.take(small), pool.take(small), pool.take(small)], [Some(8), Some(7), None]);
        assert_eq!(pool.bytes(), 0);
    }

    #[test]
    fn a_workspace_is_nobody_elses() {
        let pool = Pool::default();
        let of = |workspace| Size::new(100, workspace);
        let (scan, sum) = (of(Some(TypeId::of::<u8>())), of(Some(TypeId::of::<u16>())));
        assert!(pool.keep(scan, 1, 1024));
        assert_eq!([pool.take(sum), pool.take(of(None))], [None, None]);
        // Of another length it has words that no launch has left.
        assert_eq!([99, 101].map(|bytes| pool.take(Size::new(bytes, scan.workspace))), [None, None]);
        assert_eq!(pool.take(scan), Some(1));
        assert!(pool.keep(scan, 1, 1024) && pool.keep(of(None), 2, 1024));
        let mut all = pool.take_all();
        all.sort_unstable();
        assert_eq!((all, pool.bytes(), pool.take(scan)), (vec![1, 2], 0, None));
    }
}
