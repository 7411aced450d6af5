//! Streams of simulated devices.

use std::sync::Arc;

use cuda_std::{Call, LaunchConfig, Params};
use simt::memory;

use crate::backend::{Backend, BackendEvent, BackendStream};
use crate::error::Error;
use crate::finished::Completion;
use crate::simulated::SimulatedDevice;

/// Divides `$bytes` bytes into words and evaluates `$copy` for each word. A word has the greatest width, up to 8 bytes,
/// that divides `$element`, the size of an element. Kernels access the elements by words of at most this width.
macro_rules! for_each_word {
    ($bytes:ident, $element:ident, $offset:ident, $Word:ident => $copy:expr) => {{
        macro_rules! words {
            ($word:ty) => {{
                type $Word = $word;
                for $offset in (0..$bytes).step_by(size_of::<$Word>()) {
                    $copy
                }
            }};
        }
        match $element.trailing_zeros() {
            0 => words!(u8),
            1 => words!(u16),
            2 => words!(u32),
            _ => words!(u64),
        }
    }};
}

/// Copies `bytes` bytes of host memory at `from` to `to` by atomic stores, because other threads may access them too.
///
/// # Safety
/// `to` and `from` must be valid for `bytes` bytes, and those at `from` must be initialised. `to` must be aligned to
/// the elements.
pub(crate) unsafe fn store_all(to: *mut u8, from: *const u8, bytes: usize, element: usize) {
    for_each_word!(bytes, element, offset, Word => {
        // SAFETY: the words divide the elements, so that all are within both ranges and aligned in `to`.
        unsafe { memory::store(to.add(offset).cast(), from.add(offset).cast::<Word>().read_unaligned()) }
    });
}

/// Copies `bytes` bytes at `from` to host memory at `to` by atomic loads, because other threads may access them too.
///
/// # Safety
/// As for [`store_all`], except that `from` instead of `to` must be aligned to the elements.
pub(crate) unsafe fn load_all(to: *mut u8, from: *const u8, bytes: usize, element: usize) {
    for_each_word!(bytes, element, offset, Word => {
        // SAFETY: the words divide the elements, so that all are within both ranges and aligned in `from`.
        unsafe { to.add(offset).cast::<Word>().write_unaligned(memory::load(from.add(offset).cast())) }
    });
}

/// A stream that executes work as soon as it is enqueued.
pub(crate) struct SimulatedStream(pub(crate) SimulatedDevice);

impl BackendStream for SimulatedStream {
    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) -> Result<(), Error> {
        // SAFETY: `BackendStream::upload` requires valid, aligned addresses. Elements that streams copy have no
        // padding.
        unsafe { store_all(to, from, bytes, element) };
        self.0.simulator.note_written(to.addr(), bytes);
        Ok(())
    }

    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) -> Result<(), Error> {
        // SAFETY: `BackendStream::download` requires valid, aligned addresses. Elements that streams copy have no
        // padding.
        unsafe { load_all(to, from, bytes, element) };
        Ok(())
    }

    unsafe fn copy(
        &self,
        (to, target): (*mut u8, &dyn Backend),
        (from, source): (*const u8, &dyn Backend),
        bytes: usize,
        element: usize,
    ) -> Result<(), Error> {
        let (target, source) = (self.0.same_kind(target)?, self.0.same_kind(source)?);
        for_each_word!(bytes, element, offset, Word => {
            // SAFETY: `BackendStream::copy` requires valid, aligned addresses. The words divide the elements, so that
            // all are within both ranges and aligned. Elements that streams copy have no padding.
            unsafe { memory::store(to.add(offset).cast(), memory::load(from.add(offset).cast::<Word>())) }
        });
        target.note_copied_from(&source.simulator, to.addr(), from.addr(), bytes);
        Ok(())
    }

    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: `BackendStream::zero` has the same requirements.
        unsafe { self.0.zero(start, bytes) }
    }

    unsafe fn copy_buffer(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: `BackendStream::copy_buffer` has the same requirements.
        unsafe { self.0.copy(to, from, bytes) }
    }

    unsafe fn launch(
        &self,
        _device: &dyn Backend,
        config: LaunchConfig,
        call: &Call<'_>,
        params: &Params,
    ) -> Result<(), Error> {
        // SAFETY: `BackendStream::launch` has the same requirements.
        unsafe { self.0.launch(config, call, params) }
    }

    fn record(&self) -> Result<BackendEvent, Error> {
        self.0.record()
    }

    unsafe fn wait(&self, _moment: &BackendEvent) -> Result<(), Error> {
        Ok(())
    }

    fn notify(&self, completion: Arc<Completion>) -> Result<(), Error> {
        self.0.notify(completion)
    }

    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }
}
