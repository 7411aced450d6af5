//! Shares memory and events between simulated devices of one process.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::backend::Ipc;
use crate::error::Error;
use crate::objects::{BackendEvent, HANDLE_BYTES, Opened};
use crate::simulated_device::SimulatedDevice;

/// Maps the number of each shared piece of memory to its address and its size in bytes.
static SHARED: LazyLock<Mutex<HashMap<u64, (usize, usize)>>> = LazyLock::new(Mutex::default);

/// Returns the handle for `number`. It contains the process id, so that the handles of different processes differ.
fn handle(number: u64) -> [u8; HANDLE_BYTES] {
    let mut handle = [0; HANDLE_BYTES];
    handle[..8].copy_from_slice(&number.to_le_bytes());
    handle[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    handle
}

/// Shares the `bytes` bytes from `start` on and returns their handle.
fn share(start: usize, bytes: usize) -> [u8; HANDLE_BYTES] {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let number = shared.len() as u64 + 1;
    shared.insert(number, (start, bytes));
    handle(number)
}

fn open(wanted: &[u8; HANDLE_BYTES]) -> Result<(usize, usize), Error> {
    let refused = || Error::NotSupported { what: "memory of other processes", device: "the simulator".to_owned() };
    let shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let number = wanted.first_chunk().map_or(0, |&number| u64::from_le_bytes(number));
    shared.get(&number).filter(|_| handle(number) == *wanted).copied().ok_or_else(refused)
}

/// All work of a call is done when the call returns, so these functions need not wait for events.
impl Ipc for SimulatedDevice {
    unsafe fn memory_handle(&self, start: *const u8, bytes: usize) -> Result<[u8; HANDLE_BYTES], Error> {
        Ok(share(start.expose_provenance(), bytes))
    }

    fn open_memory(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Opened, Error> {
        let (start, bytes) = open(handle)?;
        Ok(Opened { start: std::ptr::with_exposed_provenance(start), bytes, _owner: Box::new(()) })
    }

    unsafe fn copy_opened(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: `Ipc::copy_opened` requires that the bytes exist, without overlap.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        self.note_written(to.addr(), bytes);
        Ok(())
    }

    fn shared_event(&self) -> Result<(BackendEvent, [u8; HANDLE_BYTES]), Error> {
        Ok((BackendEvent::new(0, ()), share(0, 0)))
    }

    unsafe fn record_in(&self, _moment: &BackendEvent) -> Result<(), Error> {
        Ok(())
    }

    fn open_event(&self, handle: &[u8; HANDLE_BYTES]) -> Result<BackendEvent, Error> {
        open(handle).map(|_| BackendEvent::new(0, ()))
    }
}
