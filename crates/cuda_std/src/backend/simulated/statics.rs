//! Statics in the simulator. Each simulated device has its own copy of each static.

use core::marker::PhantomData;

use simt::DeviceStatic;
use simt::memory;

use super::Owner;
use super::memory::global_load;
use crate::DeviceCopy;

/// The address of a static of a kernel crate.
pub struct StaticPlace<T: 'static> {
    info: DeviceStatic,
    elements: PhantomData<fn() -> T>,
}

impl<T: DeviceCopy> StaticPlace<T> {
    /// Creates the address of the static described by `info`.
    pub const fn new(info: DeviceStatic) -> Self {
        Self { info, elements: PhantomData }
    }

    /// Returns the host's description of the static.
    pub fn info(&'static self) -> &'static DeviceStatic {
        &self.info
    }

    #[inline]
    #[track_caller]
    pub fn pointer(&'static self) -> *const T {
        memory::static_address(&self.info).cast()
    }
}

/// Returns a placeholder that names no device, because a kernel accesses only statics of its own device.
#[inline(always)]
pub fn static_owner() -> Owner {
    Owner::simulated(u32::MAX)
}

/// # Safety
/// `pointer` must be valid for an access of `T`.
#[inline(always)]
#[track_caller]
pub unsafe fn constant_load<T: DeviceCopy>(pointer: *const T) -> T {
    // SAFETY: the caller guarantees a valid pointer.
    unsafe { global_load(pointer) }
}
