//! The table of loaded kernels, which is searched without a lock and without a call of the driver.
//!
//! # Design
//!
//! A launch allocates nothing and takes no lock to find its kernel. The key in the table is the address of the kernel's
//! description, and entries are never removed. A launch makes two calls of the driver. The first returns the current
//! context, which other code may have changed; the second launches the kernel.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::KernelInfo;

use super::context::Context;
use super::sys::{self, CUfunction};
use crate::error::Error;

/// The number of bytes of shared memory that a block may use without raising the kernel's limit.
const DEFAULT_SHARED_BYTES: u32 = 48 * 1024;

/// The number of slots in a table, a power of two.
const SLOTS: usize = 1 << 10;
const TRIES: usize = 8;

/// A kernel that can be launched as long as its module is loaded.
pub(super) struct LoadedKernel {
    pub(super) key: Key,
    pub(super) function: CUfunction,
    /// The maximum number of threads per block.
    pub(super) max_threads: u32,
    pub(super) static_shared: u32,
    /// True if the PTX has placeholders for tables, but the launch passed no tables.
    pub(super) lacks_tables: bool,
    /// True if the kernel's code waits for the previous launch, so that the kernel may start while that launch runs.
    pub(super) waits: bool,
    /// The kernel's limit of dynamic shared memory per block. The limit only grows, under the lock of the modules.
    pub(super) dynamic_shared: AtomicU32,
}

// SAFETY: any thread in which the context is current may use the function's handle.
unsafe impl Send for LoadedKernel {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for LoadedKernel {}

impl LoadedKernel {
    /// Returns true if the kernel's current limit allows `bytes` bytes of dynamic shared memory per block.
    pub(super) fn allows_dynamic_shared(&self, bytes: u32) -> bool {
        bytes <= self.dynamic_shared.load(Ordering::Relaxed)
            || bytes.saturating_add(self.static_shared) <= DEFAULT_SHARED_BYTES
    }

    /// Raises the kernel's limit to `bytes` bytes. The caller must hold the lock of the modules.
    pub(super) fn allow_dynamic_shared(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        bytes: u32,
    ) -> Result<(), Error> {
        if self.allows_dynamic_shared(bytes) {
            return Ok(());
        }
        // SAFETY: the function's module is loaded as long as `self` exists.
        unsafe { sys::allow_dynamic_shared(self.function, bytes) }.map_err(|code| {
            let what = || format!("allow `{}` {bytes} bytes of dynamic shared memory per block", kernel.name);
            context.error(code, what, "use at most the bytes that `max_dynamic_shared` returns")
        })?;
        self.dynamic_shared.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// The key of a loaded kernel: the address of its description, and the address and length of the tables with which it
/// was compiled. A kernel whose description has several addresses is loaded several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    kernel: usize,
    tables: (usize, usize),
}

impl Key {
    #[inline]
    pub(super) fn new(kernel: &'static KernelInfo, tables: &'static [u8]) -> Self {
        let tables = if tables.is_empty() { (0, 0) } else { (tables.as_ptr().addr(), tables.len()) };
        Self { kernel: std::ptr::from_ref(kernel).addr(), tables }
    }
}

/// A hash table of the loaded kernels.
///
/// A slot is set once and never emptied, so that a look-up needs no lock. A kernel for which no slot is free is added
/// to the next table.
pub(super) struct KernelTable {
    slots: Box<[OnceLock<LoadedKernel>]>,
    next: OnceLock<Box<KernelTable>>,
}

impl KernelTable {
    pub(super) fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| OnceLock::new()).collect(), next: OnceLock::new() }
    }

    /// Returns the kernel with this key, or `None` if it is not loaded.
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<&LoadedKernel> {
        for slot in slots(key) {
            let loaded = self.slots[slot].get()?;
            if loaded.key == key {
                return Some(loaded);
            }
        }
        self.next.get()?.find(key)
    }

    /// Adds `kernel`. The caller must be the only one that inserts, and the kernel must not be in the table.
    pub(super) fn insert(&self, kernel: LoadedKernel) -> &LoadedKernel {
        match slots(kernel.key).find(|&slot| self.slots[slot].get().is_none()) {
            Some(slot) => self.slots[slot].get_or_init(|| kernel),
            None => self.next.get_or_init(|| Box::new(Self::new())).insert(kernel),
        }
    }
}

/// Returns the slots in which the kernel with this key may be, in the order in which they are tried.
#[inline]
fn slots(key: Key) -> impl Iterator<Item = usize> {
    // Descriptions are aligned to 8 bytes. The product's upper bits depend on all bits of the address.
    let address = key.kernel as u64 >> 3 ^ (key.tables.0 as u64) << 1;
    let first = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SLOTS.ilog2())) as usize;
    (first..first + TRIES).map(|slot| slot % SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_however_many_there_are() {
        let description = |_| -> &'static KernelInfo { Box::leak(Box::new(KernelInfo::new("k", "m", "k.rs", 1))) };
        let kernels: Vec<_> = (0..3 * SLOTS).map(description).map(|kernel| Key::new(kernel, &[])).collect();
        let table = KernelTable::new();
        for (i, &kernel) in kernels.iter().enumerate() {
            assert!(table.find(kernel).is_none());
            let inserted = table.insert(LoadedKernel {
                key: kernel,
                function: std::ptr::null_mut(),
                max_threads: i as u32,
                static_shared: 0,
                lacks_tables: false,
                waits: false,
                dynamic_shared: AtomicU32::new(0),
            });
            assert_eq!(inserted.max_threads, i as u32);
        }
        for (i, &kernel) in kernels.iter().enumerate() {
            assert_eq!(table.find(kernel).map(|loaded| loaded.max_threads), Some(i as u32));
        }
    }
}
