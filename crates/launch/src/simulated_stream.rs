//! Streams of simulated devices.

use std::sync::Arc;

use cuda_std::{Call, LaunchConfig, Params};

use crate::backend::{Backend, BackendStream};
use crate::completion::Completion;
use crate::error::Error;
use crate::objects::BackendEvent;
use crate::simulated_device::SimulatedDevice;
use crate::simulated_memory::{copy_all, load_all, store_all};

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
        // SAFETY: `BackendStream::copy` requires valid, aligned addresses. Elements that streams copy have no padding.
        unsafe { copy_all(to, from, bytes, element) };
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
