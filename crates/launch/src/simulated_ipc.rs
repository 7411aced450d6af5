//! Memory and events of simulated devices that others of the same process open.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::backend::HANDLE_BYTES;
use crate::backend::{Ipc, Moment, Opened};
use crate::error::Error;
use crate::simulated::SimulatedDevice;

/// What was given: where it begins, and how many bytes it has, by number.
static GIVEN: Mutex<Option<HashMap<u64, (usize, usize)>>> = Mutex::new(None);

/// The handle of what was given under a number, which no other process has.
fn handle(number: u64) -> [u8; HANDLE_BYTES] {
    let mut handle = [0; HANDLE_BYTES];
    handle[..8].copy_from_slice(&number.to_le_bytes());
    handle[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    handle
}

/// Gives what is of so many bytes from `start` on.
fn give(start: usize, bytes: usize) -> [u8; HANDLE_BYTES] {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let given = given.get_or_insert_default();
    let number = given.len() as u64 + 1;
    given.insert(number, (start, bytes));
    handle(number)
}

fn open(wanted: &[u8; HANDLE_BYTES]) -> Result<(usize, usize), Error> {
    let refused = || Error::NotSupported { what: "memory of other processes", device: "the simulator".to_owned() };
    let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let number = wanted.first_chunk().map_or(0, |&number| u64::from_le_bytes(number));
    given
        .as_ref()
        .and_then(|given| given.get(&number))
        .filter(|_| handle(number) == *wanted)
        .copied()
        .ok_or_else(refused)
}

/// All is done when a call returns, so that there is nothing to wait for.
impl Ipc for SimulatedDevice {
    unsafe fn memory_handle(&self, start: *const u8, bytes: usize) -> Result<[u8; HANDLE_BYTES], Error> {
        Ok(give(start.expose_provenance(), bytes))
    }

    fn open_memory(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Opened, Error> {
        let (start, bytes) = open(handle)?;
        Ok(Opened { start: std::ptr::with_exposed_provenance(start), bytes, _owner: Box::new(()) })
    }

    unsafe fn copy_opened(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: the caller's word.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        self.note_written(to.addr(), bytes);
        Ok(())
    }

    fn shared_event(&self) -> Result<(Moment, [u8; HANDLE_BYTES]), Error> {
        Ok((Moment::new(0, ()), give(0, 0)))
    }

    unsafe fn record_in(&self, _moment: &Moment) -> Result<(), Error> {
        Ok(())
    }

    fn open_event(&self, handle: &[u8; HANDLE_BYTES]) -> Result<Moment, Error> {
        open(handle).map(|_| Moment::new(0, ()))
    }
}
