//! A pool of freed memory, which later allocations of the same size reuse.
//!
//! The driver's calls to allocate and to free take longer than a small kernel, and freeing waits for all launches. Work
//! that uses pooled memory is in the device's own stream, or has ended when the memory is freed. The next owner's work
//! is therefore ordered after that work without waiting.
//!
//! # Design
//!
//! The blocks of a context are pooled by size. The memory and contents of a workspace (`Device::workspace`) are reused
//! only for a later workspace of the same type and length. That workspace need not clear the flags again.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Freed memory of one context, stored by size. Workspaces are stored by size and by the type for which their contents
/// are kept.
#[derive(Default)]
pub(super) struct Pool(Mutex<Free>);

#[derive(Default)]
struct Free {
    addresses: HashMap<Size, Vec<u64>>,
    bytes: usize,
}

/// The size of a piece of memory, and for a workspace the owner type. Both decide which requests the memory can serve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Size {
    bytes: usize,
    /// The owner type of a workspace, or `None` for other memory. A later workspace of the same owner type gets the
    /// contents.
    pub(super) workspace: Option<TypeId>,
}

impl Size {
    /// The units to which small and large sizes are rounded up, as in the driver: 512 bytes and 2 MiB.
    const GRAINS: [usize; 2] = [512, 2 << 20];

    /// Returns the size for a request of at least `bytes` bytes. A workspace has exactly `bytes` bytes, because its
    /// next user relies on every word of it.
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

    /// Removes memory of this size from the pool and returns it, or `None` if the pool has none.
    pub(super) fn take(&self, size: Size) -> Option<u64> {
        let mut free = self.free();
        let address = free.addresses.get_mut(&size)?.pop()?;
        free.bytes -= size.bytes;
        Some(address)
    }

    /// Adds memory to the pool. Returns false, without adding it, if the pool would then have more than `max` bytes.
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

    /// Empties the pool and returns the addresses of its memory, which the caller must free.
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
        assert!(!pool.keep(large, 9, 1 << 20), "memory beyond the maximum is kept");
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
        // A workspace of another length would have words that no launch has set, so it is not reused.
        assert_eq!([99, 101].map(|bytes| pool.take(Size::new(bytes, scan.workspace))), [None, None]);
        assert_eq!(pool.take(scan), Some(1));
        assert!(pool.keep(scan, 1, 1024) && pool.keep(of(None), 2, 1024));
        let mut all = pool.take_all();
        all.sort_unstable();
        assert_eq!((all, pool.bytes(), pool.take(scan)), (vec![1, 2], 0, None));
    }
}
