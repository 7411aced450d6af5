//! The rung `textbook`, which takes a launch per step.

use cuda_std::{Element, Ladder};
use gpu::by_key::tuning::THREADS;
use gpu::by_key::{ByKey, ByKeyElement, ByKeyRung, RunKey, mark_runs};
use gpu::operator::{Operator, Sum};
use gpu::scan::ScanRung;
use launch::{Buffer, Call, Device, Held, LaunchConfig, Queue, Resources};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::{ScanKind, Scanner};

/// Checks that the rung is built for keys of type `K`, values of type `T` and the operator `O`.
///
/// # Errors
/// [`AlgorithmError::NotBuilt`] if it is not.
pub fn check<K: RunKey, T: ByKeyElement<O>, O: Operator<T>>(rung: ByKeyRung) -> Result<(), AlgorithmError> {
    if rung == ByKeyRung::LookBack || T::HAS_TEXTBOOK && size_of::<K>() == 4 {
        return Ok(());
    }
    let [key, value] = [std::any::type_name::<K>(), std::any::type_name::<T>()];
    let offered = "sums of u32 and i32 by keys of 4 bytes: use the rung look_back for others".to_owned();
    Err(capabilities::refused(rung.rung(), format!("{value} by {key}"), offered))
}

/// The storage of the rung.
pub(super) struct Textbook<T: Element> {
    /// 1 for each element that begins a run, and 0 for each other one.
    marks: Buffer<u64>,
    /// The inclusive scan of the marks: the number of each element's run.
    runs: Buffer<u64>,
    scanner: Scanner<u64, Sum>,
    /// The values before and after a step.
    steps: [Buffer<T>; 2],
}

impl<T: Element> Textbook<T> {
    pub(super) fn new(device: &Device, len: usize) -> Result<Self, AlgorithmError> {
        let scanner = Scanner::new(device, ScanRung::LookBack, len)?;
        let (marks, runs) = (device.alloc(len)?, device.alloc(len)?);
        Ok(Self { marks, runs, scanner, steps: [device.alloc(len)?, device.alloc(len)?] })
    }

    pub(super) fn run<K: RunKey, O: Operator<T>>(
        &mut self,
        queue: Queue<'_>,
        arguments: ByKey<'_, K, T>,
    ) -> Result<(), AlgorithmError>
    where
        T: ByKeyElement<O>,
    {
        let Self { marks, runs, scanner, steps: [before, after] } = self;
        let len = arguments.keys.len();
        let blocks = len.div_ceil(THREADS as usize).clamp(1, i32::MAX as usize) as u32;
        let launch = |call: Option<Call<'_>>| {
            let not_built = || capabilities::not_built(ByKeyRung::Textbook, &capabilities::of_operator::<T, O>());
            Ok::<_, AlgorithmError>(queue.launch(LaunchConfig::new(blocks, THREADS), call.ok_or_else(not_built)?)?)
        };
        launch(mark_runs(arguments.keys, marks.view_mut()))?;
        scanner.scan_in(queue, ScanKind::Inclusive, marks, runs)?;
        let mut distance = 1;
        while distance < len {
            let from = if distance == 1 { arguments.values } else { before.view() };
            launch(T::step(runs.view(), distance as u64, from, after.view_mut()))?;
            std::mem::swap(before, after);
            distance *= 2;
        }
        let scanned = if len > 1 { before.view() } else { arguments.values };
        launch(T::store(arguments, runs.view(), scanned))
    }

    /// Returns the number of bytes of the storage.
    pub(super) fn bytes(&self) -> u64 {
        let Self { marks, runs, scanner, steps: [before, after] } = self;
        let steps = (before.len() + after.len()) * size_of::<T>();
        (8 * (marks.len() + runs.len()) + steps) as u64 + scanner.temporary_bytes()
    }
}

impl<T: Element> Resources for Textbook<T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        let Self { marks, runs, scanner, steps: [before, after] } = self;
        marks.hold(held);
        runs.hold(held);
        scanner.hold(held);
        before.hold(held);
        after.hold(held);
    }
}
