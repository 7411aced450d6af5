//! The static variables that kernel crates declare in device memory, and a simulator's memory for these variables.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::allocation::{Allocation, OutOfMemory};
use crate::memory_map::MemoryMap;
use crate::region::Region;

/// A static variable that a kernel crate declares in device memory. The address of this value identifies the variable,
/// so each value must be a separate `static`.
#[derive(Debug)]
pub struct DeviceStatic {
    /// The name of the variable in the source.
    pub name: &'static str,
    /// The symbol of the variable in the PTX.
    pub symbol: &'static str,
    /// The path of the module that declares the variable, as `module_path!()` returns it.
    pub module: &'static str,
    /// The length of the variable in bytes.
    pub bytes: usize,
    /// The size of an element of the variable in bytes.
    pub element: usize,
    /// `true` if kernels may write the variable.
    pub is_writable: bool,
    initial: *const u8,
}

// SAFETY: the initial value is immutable.
unsafe impl Send for DeviceStatic {}
// SAFETY: the initial value is immutable.
unsafe impl Sync for DeviceStatic {}

impl DeviceStatic {
    /// Describes a static variable of `bytes` bytes. Its initial value is a copy of the bytes at `initial`.
    ///
    /// # Safety
    /// `initial` must be valid for reads of `bytes` bytes, and these bytes must never change.
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

/// A simulator's memory for static variables, which clones of the simulator share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Statics(Arc<RwLock<HashMap<usize, (Allocation, &'static DeviceStatic)>>>);

impl Statics {
    /// Returns the address of the static variable `of`, and allocates its memory on the first call. `map`, if any,
    /// tracks the initialised bytes of this memory.
    pub(crate) fn address(&self, of: &'static DeviceStatic, map: Option<&MemoryMap>) -> Result<*mut u8, OutOfMemory> {
        let key = std::ptr::from_ref(of).addr();
        if let Some((memory, _)) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(memory.as_ptr());
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another worker may have allocated the memory meanwhile.
        if let Some((memory, _)) = all.get(&key) {
            return Ok(memory.as_ptr());
        }
        let memory = match map {
            Some(map) => Allocation::tracked(of.bytes, map)?,
            None => Allocation::new(of.bytes)?,
        };
        // SAFETY: the memory has `of.bytes` bytes and is not shared yet. `DeviceStatic::new` requires that the initial
        // value also has `of.bytes` bytes.
        unsafe { of.initial.copy_to_nonoverlapping(memory.as_ptr(), of.bytes) };
        memory.note_written(0, of.bytes);
        let address = memory.as_ptr();
        all.insert(key, (memory, of));
        Ok(address)
    }

    /// Returns all static variables whose memory is allocated, in the form of regions of a launch.
    pub(crate) fn regions(&self) -> Vec<Region> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().map(region).collect()
    }

    /// Returns the static variable whose memory contains `address`, in the form of a region.
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
