//! Loads and stores of 1 to 16 bytes that are atomic in Rust's sense, so that they never cause a data race on the host.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use bytemuck::Pod;

/// Loads the value at `ptr` by one atomic load, or by two for 16 bytes.
///
/// # Safety
/// `ptr` must point to a `T` that is only accessed atomically, and be aligned to its size: 1, 2, 4, 8 or 16.
#[inline(always)]
pub(crate) unsafe fn load_ordered<T: Pod>(ptr: *const T, order: Ordering) -> T {
    let ptr = ptr.cast_mut();
    // SAFETY: the caller guarantees memory and alignment; each arm accesses as many bytes as `T` has.
    unsafe {
        match size_of::<T>() {
            1 => bytemuck::cast(AtomicU8::from_ptr(ptr.cast()).load(order)),
            2 => bytemuck::cast(AtomicU16::from_ptr(ptr.cast()).load(order)),
            4 => bytemuck::cast(AtomicU32::from_ptr(ptr.cast()).load(order)),
            8 => bytemuck::cast(AtomicU64::from_ptr(ptr.cast()).load(order)),
            _ => {
                let halves: *mut u64 = ptr.cast();
                let low = AtomicU64::from_ptr(halves).load(order);
                let high = AtomicU64::from_ptr(halves.add(1)).load(order);
                bytemuck::cast([low, high])
            }
        }
    }
}

/// Stores `value` at `ptr` by one atomic store, or by two for 16 bytes.
///
/// # Safety
/// The caller must meet the conditions of [`load_ordered`].
#[inline(always)]
pub(crate) unsafe fn store_ordered<T: Pod>(ptr: *mut T, value: T, order: Ordering) {
    // SAFETY: the caller guarantees memory and alignment; each arm accesses as many bytes as `T` has.
    unsafe {
        match size_of::<T>() {
            1 => AtomicU8::from_ptr(ptr.cast()).store(bytemuck::cast(value), order),
            2 => AtomicU16::from_ptr(ptr.cast()).store(bytemuck::cast(value), order),
            4 => AtomicU32::from_ptr(ptr.cast()).store(bytemuck::cast(value), order),
            8 => AtomicU64::from_ptr(ptr.cast()).store(bytemuck::cast(value), order),
            _ => {
                let [low, high]: [u64; 2] = bytemuck::cast(value);
                let halves: *mut u64 = ptr.cast();
                AtomicU64::from_ptr(halves).store(low, order);
                AtomicU64::from_ptr(halves.add(1)).store(high, order);
            }
        }
    }
}
