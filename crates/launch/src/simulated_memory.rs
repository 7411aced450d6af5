//! Memory of simulated devices, each of which may have a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simt::Simulator;
use simt::memory::{Allocation, OutOfMemory};

use crate::backend::Allocated;
use crate::error::Error;

/// The name of a simulated device in errors and reports.
pub(crate) const NAME: &str = "simulator";

/// The limit of a device's memory: its size and the number of bytes in use.
pub(crate) struct MemoryLimit {
    bytes: usize,
    used: AtomicUsize,
}

impl MemoryLimit {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes, used: AtomicUsize::new(0) })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn free(&self) -> usize {
        self.bytes - self.used.load(Ordering::Relaxed)
    }
}

/// A number of bytes that counts against a limit until the value is dropped.
struct Taken {
    limit: Arc<MemoryLimit>,
    bytes: usize,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.limit.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Allocates memory for the kernels of `simulator`, counted against `limit` if there is one.
pub(crate) fn allocate(
    simulator: &Simulator,
    limit: Option<&Arc<MemoryLimit>>,
    bytes: usize,
) -> Result<Allocated, Error> {
    let mut taken = None;
    if let Some(limit) = limit {
        let take = |used: usize| used.checked_add(bytes).filter(|&used| used <= limit.bytes);
        if limit.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Err(out_of_memory(OutOfMemory { requested: bytes, available: limit.free() }));
        }
        taken = Some(Taken { limit: limit.clone(), bytes });
    }
    let allocation: Allocation = simulator.allocate(bytes).map_err(out_of_memory)?;
    let start = allocation.as_ptr();
    // Exposed, because launches pass regions as addresses.
    let _ = start.expose_provenance();
    Ok(Allocated::new(Some(start), None, (allocation, taken)))
}

pub(crate) fn out_of_memory(error: OutOfMemory) -> Error {
    Error::OutOfMemory {
        requested_bytes: error.requested as u64,
        free_bytes: error.available as u64,
        device: NAME.to_owned(),
    }
}
