//! The kernels that were loaded, found without a lock and without asking the driver.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::KernelInfo;
use cust::sys::CUfunction;

use super::context::Context;
use super::sys;
use crate::error::Error;

/// Shared memory that a block has without being allowed more.
const DEFAULT_SHARED_BYTES: u32 = 48 * 1024;

/// Places of a table, a power of two, and how many of them one kernel may stand in.
const PLACES: usize = 1 << 10;
const TRIES: usize = 8;

/// A kernel that can be launched while its module is loaded.
pub(super) struct LoadedKernel {
    key: Key,
    pub(super) function: CUfunction,
    /// Threads that a block may have.
    pub(super) max_threads: u32,
    pub(super) static_shared: u32,
    /// Whether it still has stand-ins for tables, which nobody gave.
    pub(super) lacks_tables: bool,
    /// Whether it waits for the launches before, and so may begin while they run.
    pub(super) waits: bool,
    /// Dynamic shared memory that a block may have. It only grows, by whoever has the modules' lock.
    dynamic_shared: AtomicU32,
}

// SAFETY: a function is a handle that any thread may use in which its context is current.
unsafe impl Send for LoadedKernel {}
// SAFETY: as above.
unsafe impl Sync for LoadedKernel {}

impl LoadedKernel {
    pub(super) fn new(
        key: Key,
        function: CUfunction,
        max_threads: u32,
        static_shared: u32,
        dynamic_shared: u32,
    ) -> Self {
        let dynamic_shared = AtomicU32::new(dynamic_shared);
        Self { key, function, max_threads, static_shared, lacks_tables: false, waits: false, dynamic_shared }
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Whether a block may have that much dynamic shared memory already.
    pub(super) fn allows_dynamic_shared(&self, bytes: u32) -> bool {
        bytes <= self.dynamic_shared.load(Ordering::Relaxed)
            || bytes.saturating_add(self.static_shared) <= DEFAULT_SHARED_BYTES
    }

    /// Lets a block have that much. The caller has the modules' lock.
    pub(super) fn allow_dynamic_shared(
        &self,
        context: &Context,
        kernel: &'static KernelInfo,
        bytes: u32,
    ) -> Result<(), Error> {
        if self.allows_dynamic_shared(bytes) {
            return Ok(());
        }
        // SAFETY: the module is loaded.
        unsafe { sys::allow_dynamic_shared(self.function, bytes) }.map_err(|code| {
            let what = || format!("give a block of `{}` {bytes} bytes of dynamic shared memory", kernel.name);
            context.error(code, what, "see what `max_dynamic_shared` gives")
        })?;
        self.dynamic_shared.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// A kernel, by the address of its description, of which it may have several, and the tables that it was compiled with,
/// by theirs: what has several addresses is loaded several times.
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

/// The kernels that are loaded.
///
/// A place is filled once and never emptied, so that looking one up takes no lock. What finds no place stands in the
/// next table.
pub(super) struct KernelTable {
    places: Box<[OnceLock<LoadedKernel>]>,
    next: OnceLock<Box<KernelTable>>,
}

impl KernelTable {
    pub(super) fn new() -> Self {
        Self { places: (0..PLACES).map(|_| OnceLock::new()).collect(), next: OnceLock::new() }
    }

    /// The kernel of `key`, if it is loaded.
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<&LoadedKernel> {
        for place in places(key) {
            let loaded = self.places[place].get()?;
            if loaded.key == key {
                return Some(loaded);
            }
        }
        self.next.get()?.find(key)
    }

    /// Gives `kernel` a place. The caller is the only one who does, and has found it to have none.
    pub(super) fn insert(&self, kernel: LoadedKernel) -> &LoadedKernel {
        match places(kernel.key).find(|&place| self.places[place].get().is_none()) {
            Some(place) => self.places[place].get_or_init(|| kernel),
            None => self.next.get_or_init(|| Box::new(Self::new())).insert(kernel),
        }
    }
}

/// Where a kernel may stand, the first place first.
#[inline]
fn places(key: Key) -> impl Iterator<Item = usize> {
    // Descriptions lie at multiples of 8; the product's upper bits depend on all of the address.
    let address = key.kernel as u64 >> 3 ^ (key.tables.0 as u64) << 1;
    let first = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES.ilog2())) as usize;
    (first..first + TRIES).map(|place| place % PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_however_many_there_are() {
        let description = |_| -> &'static KernelInfo { Box::leak(Box::new(KernelInfo::new("k", "m", "k.rs", 1))) };
        let kernels: Vec<_> = (0..3 * PLACES).map(description).map(|kernel| Key::new(kernel, &[])).collect();
        let table = KernelTable::new();
        for (i, &kernel) in kernels.iter().enumerate() {
            assert!(table.find(kernel).is_none());
            let inserted = table.insert(LoadedKernel::new(kernel, std::ptr::null_mut(), i as u32, 0, 0));
            assert_eq!(inserted.max_threads, i as u32);
        }
        for (i, &kernel) in kernels.iter().enumerate() {
            assert_eq!(table.find(kernel).map(|loaded| loaded.max_threads), Some(i as u32));
        }
    }
}
