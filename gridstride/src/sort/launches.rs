//! The launches of each rung of sort.

use cuda_std::{Element, Global, GlobalMut};
use gpu::collective::ranks::DIGIT_BITS;
use gpu::operator::Sum;
use gpu::sort::tuning::{BLOCK, ONE_BLOCK_THREADS};
use gpu::sort::{
    FIRST, FOUR_BIT_THREADS, FOUR_BITS, KeyBits, LAST, Payload, SortRung, one_block_bytes, one_sweep_bytes, pairs,
    sort_bitonic_block, sort_bitonic_step, sort_digit_counts, sort_four_bit_counts, sort_four_bit_move, sort_one_block,
    sort_one_sweep, sort_split_flags, sort_split_move, starts_of,
};
use gpu::sort_cluster::sort_cluster;
use launch::{Buffer, Call, LaunchConfig, Queue};

use super::key::{cast, cast_mut};
use super::not_built;
use super::options::Order;
use super::plan::{Plan, SortMethod, cluster_config, cluster_items};
use crate::error::AlgorithmError;
use crate::scan::{ScanKind, Scanner};

/// The largest number of blocks in a grid. The threads loop over the keys in steps of the grid's size.
const MAX_BLOCKS: usize = i32::MAX as usize;

/// The input of a sort.
#[derive(Clone, Copy)]
pub(super) enum Input<'a, B, P> {
    /// The keys and values of the output: the sort is in place.
    InPlace,
    /// Other keys and values. Without values, the indices of the keys are sorted.
    Of(Global<'a, B>, Option<Global<'a, P>>),
}

/// A sort on `queue`. All vectors have the plan's number of keys, which is not 0. The vectors of values are empty if
/// there are no values.
pub(super) struct Launches<'a, B, P> {
    pub queue: Queue<'a>,
    pub plan: Plan,
    pub order: Order,
    pub input: Input<'a, B, P>,
    /// The output.
    pub keys: GlobalMut<'a, B>,
    pub values: GlobalMut<'a, P>,
    /// Memory for keys and values between passes; empty if a rung does not need it.
    pub other_keys: GlobalMut<'a, B>,
    pub other_values: GlobalMut<'a, P>,
}

/// The words of a sort by one sweep, or the counts or flags and the scan of an older rung.
pub(super) struct Counters<'a> {
    pub words: &'a mut Buffer<u64>,
    pub states: &'a mut Buffer<u32>,
    pub scanned: &'a mut Buffer<u32>,
    pub scanner: &'a mut Option<Scanner<u32, Sum>>,
}

impl<B: KeyBits, P: Payload> Launches<'_, B, P> {
    /// Launches all kernels of the plan.
    pub fn run(self, counters: Counters<'_>) -> Result<(), AlgorithmError> {
        match self.plan.rung {
            SortRung::BitonicBlock => self.bitonic_block(),
            SortRung::Bitonic => self.bitonic(),
            SortRung::Split => self.by_scans(1, counters),
            SortRung::FourBit => self.by_scans(FOUR_BITS, counters),
            SortRung::OneSweep => match self.plan.method {
                SortMethod::OneBlock => self.one_block(1, counters.words.view(), self.plan.n),
                SortMethod::Cluster { blocks } => self.cluster(blocks),
                SortMethod::ManyBlocks => {
                    let launched = self.one_sweep(counters.words, counters.states);
                    if launched.is_err() {
                        // A failed sort may leave words from which the next sort cannot start.
                        self.queue.fill_zero(counters.words)?;
                    }
                    launched
                }
            },
        }
    }

    fn launch(&self, config: LaunchConfig, call: Option<Call<'_>>) -> Result<(), AlgorithmError> {
        Ok(self.queue.launch(config, call.ok_or_else(|| not_built::<B, P>(self.plan.rung))?)?)
    }

    /// Returns the views that pass `pass` of `passes` writes: the output in the last pass, and alternately before.
    fn outputs(&self, pass: u32, passes: u32) -> (GlobalMut<'_, B>, GlobalMut<'_, P>) {
        match (passes - 1 - pass).is_multiple_of(2) {
            true => (self.keys, self.values),
            false => (self.other_keys, self.other_values),
        }
    }

    /// Returns the views that pass `pass` of `passes` reads.
    fn inputs(&self, pass: u32, passes: u32) -> (Global<'_, B>, Global<'_, P>) {
        match (pass, self.input) {
            (0, Input::InPlace) => (written(self.keys), written(self.values)),
            (0, Input::Of(keys, values)) => (keys, values.unwrap_or_else(|| written(self.values).part(0, 0))),
            _ => {
                let (keys, values) = self.outputs(pass - 1, passes);
                (written(keys), written(values))
            }
        }
    }

    /// Launches the counts, and then one kernel per pass and portion.
    fn one_sweep(&self, words: &mut Buffer<u64>, states: &mut Buffer<u32>) -> Result<(), AlgorithmError> {
        let (Order { encoding, begin, end }, Plan { n, tile, sweep, tiles_per_launch, counts, copies, .. }) =
            (self.order, self.plan);
        let code = encoding.code();
        let (words, states) = (words.view_mut(), states.view_mut());
        let (keys, _) = self.inputs(0, 1);
        self.launch(counts, sort_digit_counts::if_built::<B>(keys, code, begin, end, words, states, copies))?;
        let (digits, mut set) = (self.plan.passes(end - begin), 0);
        // In place, the number of passes is even, so that the last pass writes the keys where they were. A pass without
        // a digit copies.
        let passes = if matches!(self.input, Input::InPlace) { digits.next_multiple_of(2) } else { digits };
        let items = tile / sweep.threads();
        // The casts are lossless, because the values are those of one block.
        let bytes = one_sweep_bytes(items, sweep.warps, size_of::<B>(), P::SIZE) as u32;
        let (threads, items) = (sweep.threads() as u32, items as u32);
        for pass in 0..passes {
            let ((keys, values), (keys_out, values_out)) = (self.inputs(pass, passes), self.outputs(pass, passes));
            let shift = begin + pass.min(digits - 1) * DIGIT_BITS;
            let bits = (end - shift).min(DIGIT_BITS);
            let ends = if pass == 0 { FIRST } else { 0 } | if pass + 1 == passes { LAST } else { 0 };
            for portion in 0..n.div_ceil(tile * tiles_per_launch) {
                let first = portion * tile * tiles_per_launch;
                let tiles = (n - first).div_ceil(tile).min(tiles_per_launch);
                let [starts, next] = [portion, portion + 1].map(|portion| starts_of(pass as usize, portion) as u32);
                macro_rules! call {
                    ($($items:literal $warps:literal),+) => {
                        None$(.or_else(|| sort_one_sweep::if_built::<B, P, $items, $warps>(
                            keys, values, keys_out, values_out, first, shift, bits, pass, ends, code,
                            words, starts, next, states, set, items,
                        )))+
                    };
                }
                // The cast is lossless, because a portion has fewer than 2³⁰ keys.
                let config = LaunchConfig::new(tiles as u32, threads).shared_bytes(bytes);
                self.launch(config, call!(22 12, 21 12, 24 20, 22 16, 18 20, 16 20, 12 20))?;
                set ^= 1;
            }
        }
        Ok(())
    }

    /// Returns the input of a kernel that works in place if its input is empty.
    fn input_or_in_place(&self) -> (Global<'_, B>, Global<'_, P>) {
        let (keys, values) = self.inputs(0, 1);
        match self.input {
            Input::InPlace => (keys.part(0, 0), values.part(0, 0)),
            Input::Of(..) => (keys, values),
        }
    }

    /// Launches the kernel that sorts each segment in one block, in a grid of `blocks` blocks. A segment has up to
    /// `longest` keys. If `segments` is empty, all keys form one segment.
    pub fn one_block(&self, blocks: u32, segments: Global<'_, u64>, longest: usize) -> Result<(), AlgorithmError> {
        let (Order { encoding, begin, end }, (keys, values)) = (self.order, self.input_or_in_place());
        // The casts are lossless, because a segment fits into one block.
        let items = longest.div_ceil(ONE_BLOCK_THREADS as usize) as u32;
        let bytes = one_block_bytes(items, size_of::<B>(), P::SIZE) as u32;
        let (keys_out, values_out, code) = (self.keys, self.values, encoding.code());
        let call =
            sort_one_block::if_built::<B, P>(keys, values, keys_out, values_out, segments, begin, end, code, items);
        self.launch(LaunchConfig::new(blocks, ONE_BLOCK_THREADS).shared_bytes(bytes), call)
    }

    /// Launches the kernel that sorts all keys in one cluster of `blocks` blocks.
    fn cluster(&self, blocks: u32) -> Result<(), AlgorithmError> {
        let (Order { encoding, begin, end }, (keys, values)) = (self.order, self.input_or_in_place());
        // The cast is lossless, because a thread has few keys.
        let (items, code) = (cluster_items(self.plan.n, blocks) as u32, encoding.code());
        let call = sort_cluster::if_built::<B, P>(keys, values, self.keys, self.values, begin, end, code, items);
        self.launch(cluster_config(self.plan.n, blocks, size_of::<B>(), P::SIZE), call)
    }

    /// Launches the sorting network in one block.
    fn bitonic_block(&self) -> Result<(), AlgorithmError> {
        let (keys, keys_out) = (cast(self.input_or_in_place().0)?, cast_mut(self.keys)?);
        let threads = pairs(self.plan.n).next_multiple_of(32).min(1024) as u32;
        self.launch(LaunchConfig::new(1, threads), Some(sort_bitonic_block(keys, keys_out)))
    }

    /// Launches the steps of the sorting network. The first step reads the input, and the others work in place.
    fn bitonic(&self) -> Result<(), AlgorithmError> {
        let (mut keys, keys_out) = (cast(self.input_or_in_place().0)?, cast_mut(self.keys)?);
        let config = grid(pairs(self.plan.n));
        let mut width = 1;
        loop {
            let mut distance: usize = width;
            while distance > 0 {
                let call = sort_bitonic_step(keys, keys_out, distance, u32::from(distance == width));
                self.launch(config, Some(call))?;
                keys = keys.part(0, 0);
                distance /= 2;
            }
            width *= 2;
            if width >= self.plan.n {
                return Ok(());
            }
        }
    }

    /// Launches the passes of the rungs that scan flags or counts: of `bits` bits each.
    fn by_scans(&self, bits: u32, counters: Counters<'_>) -> Result<(), AlgorithmError> {
        let Counters { states, scanned, scanner, .. } = counters;
        let Some(scanner) = scanner else { return Err(not_built::<B, P>(self.plan.rung)) };
        let passes = u32::BITS / bits;
        for pass in 0..passes {
            let ((keys, _), (keys_out, _)) = (self.inputs(pass, passes), self.outputs(pass, passes));
            let (keys, keys_out, shift) = (cast(keys)?, cast_mut(keys_out)?, pass * bits);
            if bits == 1 {
                let config = grid(self.plan.n);
                self.launch(config, Some(sort_split_flags(keys, shift, states.view_mut())))?;
                scanner.scan_in(self.queue, ScanKind::Inclusive, states, scanned)?;
                self.launch(config, Some(sort_split_move(keys, shift, scanned.view(), keys_out)))?;
            } else {
                // A launch with `u32::MAX` blocks fails.
                let tiles = u32::try_from(self.plan.tiles()).unwrap_or(u32::MAX);
                let config = LaunchConfig::new(tiles, FOUR_BIT_THREADS);
                self.launch(config, Some(sort_four_bit_counts(keys, shift, states.view_mut())))?;
                scanner.scan_in(self.queue, ScanKind::Exclusive, states, scanned)?;
                self.launch(config, Some(sort_four_bit_move(keys, shift, scanned.view(), keys_out)))?;
            }
        }
        Ok(())
    }
}

/// Returns a view of the elements that a kernel has written, for the next kernel to read.
pub(crate) fn written<T: Element>(y: GlobalMut<'_, T>) -> Global<'_, T> {
    // SAFETY: these are the elements of `y`. Each launch reads one buffer and writes another, or only reads.
    unsafe { Global::from_raw_parts(y.as_ptr(), y.len(), y.device()) }
}

/// Returns a grid with one thread per element. If that grid would be too large, returns the largest grid, whose threads
/// process several elements.
pub(crate) fn grid(n: usize) -> LaunchConfig {
    LaunchConfig::new(n.div_ceil(BLOCK as usize).clamp(1, MAX_BLOCKS) as u32, BLOCK)
}
