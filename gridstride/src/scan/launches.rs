//! The launches of each rung of scan.

use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut};
use gpu::operator::Operator;
use gpu::scan::{
    BLOCK_ELEMENTS, PIPELINED_THREADS, RING_BYTES, ScanElement, ScanRung, THREADS, down_sweep_nodes, head_of,
    scan_down_sweep, scan_naive_block, scan_naive_step, scan_shifted_copy, scan_up_sweep, up_sweep_nodes,
};
use launch::{Buffer, Call, Element, Error, LaunchConfig, Queue};

use super::{ScanKind, plan, tile};
use crate::capabilities;
use crate::error::AlgorithmError;

/// The largest number of blocks in a grid. The threads loop over the elements in steps of the grid's size.
const MAX_BLOCKS: usize = i32::MAX as usize;

/// The arguments of a scan of `x` into `y` on `queue`. Both views must have the same length, which must not be 0.
pub(super) struct Launches<'a, T: Element, O> {
    pub queue: Queue<'a>,
    pub kind: ScanKind,
    pub x: Global<'a, T>,
    pub y: GlobalMut<'a, T>,
    pub operator: PhantomData<O>,
}

impl<T: ScanElement<O>, O: Operator<T>> Launches<'_, T, O> {
    fn launch(
        queue: Queue<'_>,
        rung: ScanRung,
        config: LaunchConfig,
        call: Option<Call<'_>>,
    ) -> Result<(), AlgorithmError> {
        let not_built = || capabilities::not_built(rung, &capabilities::of_operator::<T, O>());
        Ok(queue.launch(config, call.ok_or_else(not_built)?)?)
    }

    pub fn one_block(self) -> Result<(), AlgorithmError> {
        let block = self.x.len().next_multiple_of(32).min(BLOCK_ELEMENTS) as u32;
        let call = scan_naive_block::if_built::<T, O>(self.x, self.y, self.kind.shift());
        Self::launch(self.queue, ScanRung::NaiveBlock, LaunchConfig::new(1, block), call)
    }

    /// Launches the steps of the naive rung, which combine elements at the distances 1, 2, 4 and so on. The last step
    /// writes `y`. If there are two or more steps, `other` must not be `None`.
    pub fn naive(self, mut other: Option<&mut Buffer<T>>) -> Result<(), AlgorithmError> {
        let Self { queue, kind, x, y, .. } = self;
        let n = y.len();
        let launch = |x: Global<'_, T>, y: GlobalMut<'_, T>, distance, shift| {
            let call = scan_naive_step::if_built::<T, O>(x, y, distance, shift);
            Self::launch(queue, ScanRung::Naive, grid(n), call)
        };
        // A scan of a single element takes one step, which copies the element.
        let steps = n.next_power_of_two().ilog2().max(1);
        for step in 0..steps {
            let writes_y = (steps - 1 - step).is_multiple_of(2);
            let (distance, shift) = (1 << step, if step == 0 { kind.shift() } else { 0 });
            match (&mut other, writes_y) {
                (_, true) if step == 0 => launch(x, y, distance, shift)?,
                (Some(other), false) if step == 0 => launch(x, other.view_mut(), distance, shift)?,
                (Some(other), true) => launch(other.view(), y, distance, shift)?,
                (Some(other), false) => {
                    // SAFETY: these are the elements of `y`, and no kernel writes them while this one reads them.
                    let y = unsafe { Global::from_raw_parts(y.as_ptr(), y.len(), y.device()) };
                    launch(y, other.view_mut(), distance, shift)?;
                }
                (None, _) => {
                    return Err(Error::LengthMismatch { what: "scan by the naive rung", buffer: n, other: 0 }.into());
                }
            }
        }
        Ok(())
    }

    /// Copies `x` to `y`, then launches the up-sweep and the down-sweep in place in `y`.
    pub fn work_efficient(self) -> Result<(), AlgorithmError> {
        let Self { queue, kind, x, y, .. } = self;
        let (n, rung) = (y.len(), ScanRung::WorkEfficient);
        let call = scan_shifted_copy::if_built::<T, O>(x, y, kind.shift());
        Self::launch(queue, rung, grid(n), call)?;
        let levels = n.ilog2();
        for width in (0..levels).map(|level| 1 << level) {
            let call = scan_up_sweep::if_built::<T, O>(y, width);
            Self::launch(queue, rung, grid(up_sweep_nodes(n, width)), call)?;
        }
        for width in (0..levels).rev().map(|level| 1 << level) {
            match down_sweep_nodes(n, width) {
                0 => {}
                nodes => {
                    let call = scan_down_sweep::if_built::<T, O>(y, width);
                    Self::launch(queue, rung, grid(nodes), call)?;
                }
            }
        }
        Ok(())
    }

    pub fn look_back(self, states: &mut Buffer<u64>) -> Result<(), AlgorithmError> {
        let Self { queue, kind, x, y, .. } = self;
        let (rung, exclusive) = (ScanRung::LookBack, kind.shift() as u32);
        let chunks = plan::chunks(x.len(), size_of::<T>()) as u32;
        let tiles = x.len().div_ceil(tile(rung, x.len(), size_of::<T>()));
        // A launch with `u32::MAX` blocks fails.
        let config = LaunchConfig::new(u32::try_from(tiles).unwrap_or(u32::MAX), THREADS);
        let call = T::look_back(x, y, exclusive, chunks, states.view_mut());
        let launched = Self::launch(queue, rung, config, call);
        cleared_after_failure(launched, queue, states)
    }

    pub fn pipelined(self, states: &mut Buffer<u64>) -> Result<(), AlgorithmError> {
        let Self { queue, kind, x, y, .. } = self;
        let rung = ScanRung::Pipelined;
        let head = head_of(&x, &y);
        let [head_x, x] = [x.part(0, head), x.part(head, x.len() - head)];
        let [head_y, y] = [y.part(0, head), y.part(head, y.len() - head)];
        let tiles = x.len().div_ceil(tile(rung, x.len(), size_of::<T>()));
        let blocks = plan::pipelined_grid(queue.device(), tiles);
        let config = LaunchConfig::new(blocks, PIPELINED_THREADS).shared_bytes(RING_BYTES);
        let call = T::pipelined((head_x, head_y), x, y, kind.shift() as u32, states.view_mut());
        let launched = Self::launch(queue, rung, config, call);
        cleared_after_failure(launched, queue, states)
    }
}

/// Returns `launched`, the result of a launch. If `launched` is an error, the function first clears the tile states,
/// because a failed launch may leave incomplete tile states, from which the next one would start.
pub(crate) fn cleared_after_failure(
    launched: Result<(), AlgorithmError>,
    queue: Queue<'_>,
    states: &mut Buffer<u64>,
) -> Result<(), AlgorithmError> {
    if launched.is_err() {
        queue.fill_zero(states)?;
    }
    launched
}

/// Returns a grid with one thread per element. If that grid would be too large, returns the largest grid, whose threads
/// process several elements.
fn grid(n: usize) -> LaunchConfig {
    LaunchConfig::new(n.div_ceil(THREADS as usize).clamp(1, MAX_BLOCKS) as u32, THREADS)
}
