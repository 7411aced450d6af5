//! Freed memory that is kept for the next allocation of its size.
//!
//! The driver's calls to allocate and to free take longer than a small kernel, and freeing waits for all launches. Work
//! that uses pooled memory is in the device's own stream, or has ended when the memory is freed. The next owner's work
//! is therefore ordered after it without waiting.
//!
//! # Design
//!
//! Blocks are kept by size, per context. A workspace (`Device::workspace`) is given only to the next request of the
//! same kind and length, with its contents: flags in it need not be cleared again.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Freed memory, by its size and, for workspaces, by the type that owns its contents.
#[derive(Default)]
pub(super) struct Pool(Mutex<Free>);

#[derive(Default)]
struct Free {
    addresses: HashMap<Size, Vec<u64>>,
    bytes: usize,
}

/// The requests that a piece of memory can serve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Size {
    bytes: usize,
    /// The owner type of a workspace, for which the contents must stay unchanged.
    pub(super) workspace: Option<TypeId>,
}

impl Size {
    /// The driver rounds sizes up in the same way: small ones to 512 bytes, others to its pages.
    const GRAINS: [usize; 2] = [512, 2 << 20];

    /// Returns the size for at least `bytes` bytes. A workspace has exactly `bytes`, because its next user relies on
    /// every word of it.
    pub(super) fn new(bytes: usize, workspace: Option<TypeId>) -> Self {
        if workspace.is_some() {
            return Self { bytes, workspace };
        }
        let grain = Self::GRAINS[usize::from(bytes >= Self::GRAINS[1])];
        // The driver refuses sizes above the last multiple of a grain.
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

    /// Takes memory of this size out of the pool, if there is any.
    pub(super) fn take(&self, size: Size) -> Option<u64> {
        let mut free = self.free();
        let address = free.addresses.get_mut(&size)?.pop()?;
        free.bytes -= size.bytes;
        Some(address)
    }

    /// Adds memory to the pool, or returns false if the pool would then have more than `max` bytes.
    pub(super) fn keep(&self, size: Size, address: u64, max: usize) -> bool {
        let mut free = self.free();
        let fits = free.bytes.saturating_add(size.bytes) <= max;
        if fits {
            free.bytes += size.bytes;
            free.addresses.entry(size).or_default().push(address);
        }
        fits
    }

    /// Returns the number of bytes in the pool.
    pub(super) fn bytes(&self) -> usize {
        self.free().bytes
    }

    /// Empties the pool and returns the addresses, which the caller must free.
    pub(super) fn take_all(&self) -> Vec<u64> {
        let Free { addresses, .. } = std::mem::take(&mut *self.free());
        addresses.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_serves_requests_of_the_same_size() {
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
    fn a_workspace_serves_its_own_kernels_only() {
        let pool = Pool::default();
        let of = |workspace| Size::new(100, workspace);
        let (scan, sum) = (of(Some(TypeId::of::<u8>())), of(Some(TypeId::of::<u16>())));
        assert!(pool.keep(scan, 1, 1024));
        assert_eq!([pool.take(sum), pool.take(of(None))], [None, None]);
        // A workspace of another length has words that no launch has left.
        assert_eq!([99, 101].map(|bytes| pool.take(Size::new(bytes, scan.workspace))), [None, None]);
        assert_eq!(pool.take(scan), Some(1));
        assert!(pool.keep(scan, 1, 1024) && pool.keep(of(None), 2, 1024));
        let mut all = pool.take_all();
        all.sort_unstable();
        assert_eq!((all, pool.bytes(), pool.take(scan)), (vec![1, 2], 0, None));
    }
}
