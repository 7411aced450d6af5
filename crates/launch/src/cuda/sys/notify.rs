//! Functions of this crate that the driver calls.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{CUstream, Code};
use crate::completion::Completion;

/// Makes the driver complete `completion` when everything enqueued in `stream` is done or has failed. The driver's
/// thread does so, and later work of the stream waits for it.
///
/// # Safety
/// The stream must exist in the current context.
pub(in crate::cuda) unsafe fn notify(stream: CUstream, completion: Arc<Completion>) -> Result<(), Code> {
    let data = Arc::into_raw(completion);
    // SAFETY: the caller guarantees the stream. The driver calls the function once, with this pointer.
    let result = unsafe { call!(cuStreamAddCallback(stream, complete, data.cast_mut().cast(), 0)) };
    if result.is_err() {
        // SAFETY: the pointer is that of `into_raw`, and the driver does not use it after a failure.
        drop(unsafe { Arc::from_raw(data) });
    }
    result
}

/// Completes the [`Completion`] at `data` with the driver's `code`.
///
/// # Safety
/// `data` must be a pointer of `Arc::into_raw` that is not used otherwise.
unsafe extern "system" fn complete(_stream: CUstream, code: u32, data: *mut c_void) {
    // SAFETY: the caller guarantees the pointer.
    let completion = unsafe { Arc::from_raw(data.cast_const().cast::<Completion>()) };
    // A waker that panics must not unwind into the driver.
    let _ = catch_unwind(AssertUnwindSafe(|| completion.complete(code)));
}
