//! Simulated devices.

use crate::tensor_map::EncodeMaps;
use simt::bulk::Tiling;
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use simt::Simulator;

use crate::backend::Backend;
use crate::error::Error;
use crate::objects::Allocated;
use crate::reporting;
use crate::simulated_memory::{MemoryLimit, NAME};

/// The simulator as a device. The work of a call is done when the call returns.
#[derive(Clone)]
pub(crate) struct SimulatedDevice {
    pub(crate) simulator: Simulator,
    /// The time at which the device's clock started.
    pub(crate) start: Instant,
    /// The limit of the device's memory, or `None` if there is no limit.
    pub(crate) limit: Option<Arc<MemoryLimit>>,
    /// The memory that buffers have given up, by its address, with its size in bytes.
    pub(crate) released: Arc<Mutex<HashMap<usize, (Allocated, usize)>>>,
}

impl SimulatedDevice {
    pub(crate) fn new(simulator: Simulator) -> Self {
        let simulator = simulator.with_own_statics().with_reporter(reporting::report);
        Self { simulator, start: Instant::now(), limit: None, released: Arc::default() }
    }

    /// Limits the device's memory to `bytes` bytes.
    pub(crate) fn with_memory(self, bytes: Option<usize>) -> Self {
        Self { limit: bytes.map(MemoryLimit::new), ..self }
    }

    /// Returns `other` as a simulated device, or an error if it is a GPU.
    pub(crate) fn same_kind<'b>(&self, other: &'b dyn Backend) -> Result<&'b Self, Error> {
        let wrong = || Error::WrongDevice { what: "a copy".to_owned(), device: NAME.to_owned() };
        (other as &dyn Any).downcast_ref().ok_or_else(wrong)
    }

    /// Reports to the checker that the host has copied bytes from memory of `source`. The copied bytes count as
    /// initialised if the original bytes do.
    pub(crate) fn note_copied_from(&self, source: &Simulator, to: usize, from: usize, bytes: usize) {
        if source.is_written(from, bytes) {
            return self.simulator.note_written(to, bytes);
        }
        for offset in (0..bytes).filter(|offset| source.is_written(from + offset, 1)) {
            self.simulator.note_written(to + offset, 1);
        }
    }

    /// Reports to the checker that the host has written `bytes` bytes from `start` on.
    pub(crate) fn note_written(&self, start: usize, bytes: usize) {
        self.simulator.note_written(start, bytes);
    }
}

impl EncodeMaps for SimulatedDevice {
    fn encode_map(&self, tiling: &Tiling, _data_type: u32) -> Result<[u64; 16], Error> {
        Ok(tiling.words())
    }
}
