//! Statics of kernel crates: each simulator has memory of its own for them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::allocation::{Allocation, OutOfMemory};
use crate::memory_map::MemoryMap;
use crate::region::Region;

/// A static that a kernel crate declares in device memory. It is known by its address: each needs a `static` of its
/// own.
#[derive(Debug)]
pub struct DeviceStatic {
    /// Its name in the source.
    pub name: &'static str,
    /// Its name in the PTX.
    pub symbol: &'static str,
    /// The path of the module that declares it, as `module_path!()` gives it.
    pub module: &'static str,
    /// Its length in bytes.
    pub bytes: usize,
    /// The size of an element in bytes.
    pub element: usize,
    /// Whether kernels may write it.
    pub is_writable: bool,
    initial: *const u8,
}

// SAFETY: the initial value is a static that nobody changes.
unsafe impl Send for DeviceStatic {}
// SAFETY: as above.
unsafe impl Sync for DeviceStatic {}

impl DeviceStatic {
    /// A static of `bytes` bytes that begins as a copy of those at `initial`.
    ///
    /// # Safety
    /// `initial` must be valid for reading so many bytes, which nobody ever changes.
    pub const unsafe fn new(
        (name, symbol, module): (&'static str, &'static str, &'static str),
        initial: *const u8,
        bytes: usize,
        element: usize,
        is_writable: bool,
    ) -> Self {
        Self { name, symbol, module, bytes, element, is_writable, initial }
    }
}

/// The memory of a simulator's statics. A clone is of the same memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statics(Arc<RwLock<HashMap<usize, (Allocation, &'static DeviceStatic)>>>);

impl Statics {
    /// The address of `of`, which first gets its memory if it has none; `map`, if any, is told what of it has been
    /// written.
    pub(crate) fn address(&self, of: &'static DeviceStatic, map: Option<&MemoryMap>) -> Result<*mut u8, OutOfMemory> {
        let key = std::ptr::from_ref(of).addr();
        if let Some((memory, _)) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(memory.as_ptr());
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another worker may have been first.
        if let Some((memory, _)) = all.get(&key) {
            return Ok(memory.as_ptr());
        }
        let memory = match map {
            Some(map) => Allocation::tracked(of.bytes, map)?,
            None => Allocation::new(of.bytes)?,
        };
        // SAFETY: the memory has as many bytes, and nobody else has it yet; the initial value is `new`'s word.
        unsafe { of.initial.copy_to_nonoverlapping(memory.as_ptr(), of.bytes) };
        memory.note_written(0, of.bytes);
        let address = memory.as_ptr();
        all.insert(key, (memory, of));
        Ok(address)
    }

    /// All that have memory, as what a launch is given.
    pub(crate) fn regions(&self) -> Vec<Region> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().map(region).collect()
    }

    /// The one whose memory holds `address`.
    pub(crate) fn at(&self, address: usize) -> Option<Region> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.values().map(region).find(|region| address.wrapping_sub(region.start) < region.bytes)
    }
}

fn region((memory, of): &(Allocation, &'static DeviceStatic)) -> Region {
    Region {
        name: of.name,
        start: memory.as_ptr().addr(),
        bytes: of.bytes,
        element: of.element,
        is_writable: of.is_writable,
    }
}
