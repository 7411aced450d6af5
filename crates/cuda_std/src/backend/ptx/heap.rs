//! The allocator of kernels that use Rust's crate `alloc`: the device's heap.
//!
//! # Design
//!
//! `cuda_builder` compiles `alloc` and sets `cuda_builder_alloc` only if a crate of the kernels needs it. Other kernels
//! have no allocator, so that their PTX does not depend on this file.

use core::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    /// Returns `bytes` bytes of the device's heap, aligned to [`ALIGNMENT`], or null if the heap is full.
    fn malloc(bytes: usize) -> *mut u8;
    /// Gives back what `malloc` has returned.
    fn free(memory: *mut u8);
}

/// The alignment of `malloc`'s results.
const ALIGNMENT: usize = 16;

/// The device's heap, which all kernels of a context share. An allocation is a generic pointer to global memory. It
/// lives until a kernel frees it or the context is destroyed.
pub struct DeviceHeap;

#[cfg(cuda_builder_alloc)]
#[global_allocator]
static HEAP: DeviceHeap = DeviceHeap;

// SAFETY: `malloc` returns memory that no other allocation overlaps, or null. `dealloc` frees the pointer that `malloc`
// returned: with a larger alignment, it is stored immediately before the allocation.
unsafe impl GlobalAlloc for DeviceHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            // SAFETY: any size is allowed.
            return unsafe { malloc(layout.size()) };
        }
        // A `Layout` ensures that size and alignment together do not overflow.
        // SAFETY: any size is allowed.
        let start = unsafe { malloc(layout.size() + layout.align()) };
        if start.is_null() {
            return start;
        }
        // `start` is a multiple of `ALIGNMENT`, so that the offset is between `ALIGNMENT` and the larger alignment.
        let offset = layout.align() - (start.addr() & (layout.align() - 1));
        // SAFETY: the allocation has `layout.size()` bytes from `offset` on, and at least `ALIGNMENT` bytes before it.
        unsafe {
            let aligned = start.add(offset);
            aligned.cast::<*mut u8>().sub(1).write(start);
            aligned
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let start = if layout.align() <= ALIGNMENT {
            memory
        } else {
            // SAFETY: `alloc` has stored the start of the allocation here.
            unsafe { memory.cast::<*mut u8>().sub(1).read() }
        };
        // SAFETY: `malloc` has returned `start`, and the caller guarantees that it was not freed.
        unsafe { free(start) };
    }
}
