//! [`SegmentSorter`]: sorts the keys of many segments separately.

use cuda_std::{Element, GlobalMut, Ladder};
use gpu::sort::{NoPayload, Payload, SortRung};
use launch::{Buffer, Device, Error, Held, Queue, Resources};

use super::key::{cast_mut, is_none, with_payload};
use super::launches::{Input, Launches};
use super::options::{Order, SortOptions};
use super::plan::{Plan, one_block_keys};
use super::sorter::plan;
use super::{SortKey, Sorter};
use crate::capabilities;
use crate::error::AlgorithmError;

/// The largest number of blocks in a grid. The blocks loop over the segments in steps of the grid's size.
const MAX_BLOCKS: usize = i32::MAX as usize;

/// A sort of the keys of each segment, in place, that can run repeatedly. It owns the temporary storage that it needs.
///
/// One launch sorts all segments that fit into one block, up to 8192 keys if a block has enough shared memory. Each
/// longer segment is sorted by a [`Sorter`].
pub struct SegmentSorter<K: SortKey, V: Element = NoPayload> {
    plan: Plan,
    order: Order,
    /// The first key of each short segment, and the key after its last.
    short: Buffer<u64>,
    /// The number of keys in the longest of the short segments.
    longest: usize,
    /// The first key of each long segment, and its sorter.
    long: Vec<(usize, Sorter<K, V>)>,
    /// No values: the values of a sort of keys alone.
    none: Buffer<V>,
}

impl<K: SortKey, V: Element> SegmentSorter<K, V> {
    /// Returns a sorter for vectors of `n` keys on `device`. Segment *i* has the keys `offsets[i]..offsets[i + 1]`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the offsets are not in ascending order or exceed `n`, if values do not
    /// have 4, 8 or 16 bytes or are with keys of 1 or 2 bytes, or if the keys do not have the bits of `options`.
    /// Returns [`AlgorithmError::Launch`] if the device has too little memory.
    pub fn new(device: &Device, n: usize, offsets: &[usize], options: &SortOptions) -> Result<Self, AlgorithmError> {
        let rung = SortRung::OneSweep;
        let refused = |requested, offered: &str| capabilities::refused(rung.rung(), requested, offered.to_owned());
        let ends = offsets.iter().skip(1).copied().chain([n]);
        if let Some((start, end)) = offsets.iter().copied().zip(ends).find(|(start, end)| start > end) {
            let requested = format!("the offset {start} before {end}, with {n} keys");
            return Err(refused(requested, "offsets in ascending order, up to the number of keys"));
        }
        let value_bytes = if is_none::<V>() { 0 } else { size_of::<V>() };
        let max = one_block_keys(device, size_of::<K>(), value_bytes);
        if max == 0 {
            let requested = format!("segments of keys of {} bytes with values of {value_bytes}", size_of::<K>());
            return Err(refused(requested, "keys alone, or keys of 4 or 8 bytes with values of 4, 8 or 16 bytes"));
        }
        let (mut short, mut long, mut longest) = (Vec::new(), Vec::new(), 0);
        for segment in offsets.windows(2) {
            match segment[1] - segment[0] {
                0 | 1 => {}
                keys if keys <= max => {
                    short.extend([segment[0] as u64, segment[1] as u64]);
                    longest = longest.max(keys);
                }
                keys => long.push((segment[0], Sorter::new(device, rung, keys, options)?)),
            }
        }
        let (plan, order) = (plan::<K, V>(device, rung, n, options)?, options.order::<K, V>(rung)?);
        Ok(Self { plan, order, short: device.upload(&short)?, longest, long, none: device.alloc(0)? })
    }

    /// Sorts the segments of `keys`, and of `values` with them, in place.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if a vector does not have the sorter's length. Otherwise returns the error of
    /// a launch.
    pub fn sort_pairs_in(
        &mut self,
        queue: Queue<'_>,
        keys: &mut Buffer<K>,
        values: &mut Buffer<V>,
    ) -> Result<(), AlgorithmError> {
        self.run(queue, keys.view_mut(), Some(values.view_mut()))
    }

    fn run(
        &mut self,
        queue: Queue<'_>,
        keys: GlobalMut<'_, K>,
        values: Option<GlobalMut<'_, V>>,
    ) -> Result<(), AlgorithmError> {
        let (what, n) = ("sort segments with this sorter", self.plan.n());
        for len in [Some(keys.len()), values.map(|values| values.len())].into_iter().flatten() {
            if len != n {
                return Err(Error::LengthMismatch { what, buffer: n, other: len }.into());
            }
        }
        for (first, sorter) in &mut self.long {
            let (start, len) = (*first, sorter.plan().n());
            sorter.run(queue, None, keys.part(start, len), values.map(|values| values.part(start, len)))?;
        }
        let not_built = || super::not_built::<K::Bits, V>(self.plan.rung());
        with_payload!(V, P => self.short_as::<P>(queue, keys, values), _ => Err(not_built()))
    }

    /// Sorts the short segments, with `P` as the payload that stands for the values.
    fn short_as<P: Payload>(
        &mut self,
        queue: Queue<'_>,
        keys: GlobalMut<'_, K>,
        values: Option<GlobalMut<'_, V>>,
    ) -> Result<(), AlgorithmError> {
        let Self { plan, order, short, longest, none, .. } = self;
        if short.is_empty() {
            return Ok(());
        }
        let (none, keys) = (cast_mut(none.view_mut())?, cast_mut(keys)?);
        let launches = Launches::<K::Bits, P> {
            queue,
            plan: *plan,
            order: *order,
            input: Input::InPlace,
            keys,
            values: values.map_or(Ok(none), cast_mut)?,
            other_keys: keys,
            other_values: none,
        };
        launches.one_block((short.len() / 2).min(MAX_BLOCKS) as u32, short.view(), *longest)
    }
}

impl<K: SortKey> SegmentSorter<K> {
    /// Sorts the segments of `keys` in place.
    ///
    /// # Errors
    /// Returns the errors of [`sort_pairs_in`](Self::sort_pairs_in).
    pub fn sort_in(&mut self, queue: Queue<'_>, keys: &mut Buffer<K>) -> Result<(), AlgorithmError> {
        self.run(queue, keys.view_mut(), None)
    }
}

impl<K: SortKey, V: Element> Resources for SegmentSorter<K, V> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.short.hold(held);
        self.none.hold(held);
        for (_, sorter) in &mut self.long {
            sorter.hold(held);
        }
    }
}
