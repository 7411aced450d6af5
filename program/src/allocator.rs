//! The program's allocator, which ends the program with one error if the system has no more memory.
//!
//! Rust aborts a program whose small allocations fail, and prints no remedy.

use std::alloc::{GlobalAlloc, Layout, System};

/// Larger allocations may fail. They are arrays whose size the user chooses, and their errors name that size.
const LARGEST: usize = 64 << 20;

const MESSAGE: &[u8] = b"error: the system has no more memory for this program: end other ones, or raise `ulimit -v`\n";

/// The system's allocator. If an allocation of up to 64 MiB fails, it prints an error and ends the program with exit
/// code 1.
#[derive(Debug)]
pub struct Allocator;

impl Allocator {
    #[inline]
    fn given(place: *mut u8, bytes: usize) -> *mut u8 {
        if place.is_null() && bytes <= LARGEST { end() } else { place }
    }
}

/// Ends the program. Destructors may allocate, and do not run. The next run removes temporary files.
#[cold]
#[inline(never)]
fn end() -> ! {
    // SAFETY: the message is valid for its length, and neither function needs more memory.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(1)
    }
}

// SAFETY: each method passes its arguments to the system's allocator and returns the result, or does not return.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what the system's allocator requires.
        Self::given(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        Self::given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as for `alloc`.
        Self::given(unsafe { System.realloc(place, layout, bytes) }, bytes)
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as for `alloc`.
        unsafe { System.dealloc(place, layout) }
    }
}
