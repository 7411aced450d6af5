//! [`Sorter`]: a sort that keeps its device memory between runs.

use std::ops::Range;

use cuda_std::{Element, Global, GlobalMut, Ladder};
use gpu::operator::Sum;
use gpu::sort::{Encoding, NoPayload, Payload, SortRung, WORDS};
use launch::{Buffer, Device, Error, Held, Queue, Resources};

use super::key::{cast, cast_mut, is_none, with_payload};
use super::launches::{Counters, Input, Launches};
use super::options::{Order, SortOptions};
use super::plan::{Plan, SortMethod};
use super::{SortKey, not_built};
use crate::capabilities;
use crate::error::AlgorithmError;
use crate::scan::{Scanner, default_rung as default_scan};

/// A sort of keys of type `K`, and of values of type `V` with them, that can run repeatedly on vectors of one length.
/// It owns the temporary storage that it needs, so a run allocates no memory.
///
/// Values have 4, 8 or 16 bytes. Without `V`, keys alone are sorted.
pub struct Sorter<K: SortKey, V: Element = NoPayload> {
    plan: Plan,
    order: Order,
    /// Keys and values between passes.
    keys: Buffer<K>,
    values: Buffer<V>,
    /// The words of the rung `one_sweep`, as its kernels leave them.
    words: Buffer<u64>,
    /// The states of tiles, or the flags or counts of an older rung.
    states: Buffer<u32>,
    /// The scan of flags or counts.
    scanned: Buffer<u32>,
    scanner: Option<Scanner<u32, Sum>>,
}

/// A type of indices: `u32` for up to 2³² keys, or `u64`.
pub trait SortIndex: Element + Payload {
    /// The largest number of keys.
    const MAX_KEYS: u64;
}

impl SortIndex for u32 {
    const MAX_KEYS: u64 = 1 << 32;
}

impl SortIndex for u64 {
    const MAX_KEYS: u64 = u64::MAX;
}

impl<K: SortKey, V: Element> Sorter<K, V> {
    /// Returns a sorter for `n` keys on `device` by `rung`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the rung does not sort such keys and values, that many of them, or in
    /// this order. Returns [`AlgorithmError::Launch`] if the device has too little memory.
    pub fn new(device: &Device, rung: SortRung, n: usize, options: &SortOptions) -> Result<Self, AlgorithmError> {
        let plan = plan::<K, V>(device, rung, n, options)?;
        Self::with_plan(device, plan, options)
    }

    /// Returns a sorter that launches its kernels according to `plan`, which [`plan()`](super::plan()) has returned for
    /// the same types.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn with_plan(device: &Device, plan: Plan, options: &SortOptions) -> Result<Self, AlgorithmError> {
        const {
            assert!(
                size_of::<K>() == size_of::<K::Bits>() && align_of::<K>() == align_of::<K::Bits>(),
                "a key must have the size and alignment of its bits: add `#[repr(C, align(…))]`"
            );
        }
        let order = options.order::<K, V>(plan.rung)?;
        let is_swept = plan.rung == SortRung::OneSweep && plan.method == SortMethod::ManyBlocks;
        let scans = matches!(plan.rung, SortRung::Split | SortRung::FourBit);
        let between = if is_swept || scans { plan.n } else { 0 };
        let words = plan.state_words();
        Ok(Self {
            plan,
            order,
            keys: device.alloc(between)?,
            values: device.alloc(if is_none::<V>() { 0 } else { between })?,
            words: device.workspace::<Plan, _>(if is_swept { WORDS } else { 0 })?,
            states: device.alloc(words)?,
            scanned: device.alloc(if scans { words } else { 0 })?,
            scanner: match scans {
                true => Some(Scanner::new(device, default_scan::<u32>(device, words), words)?),
                false => None,
            },
        })
    }

    /// Returns the sorter's plan.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Sets the encoding of the keys of later runs.
    pub(super) fn set_encoding(&mut self, encoding: Encoding) {
        self.order.encoding = encoding;
    }

    /// Returns the number of bytes of the sorter's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        let scan = self.scanner.as_ref().map_or(0, Scanner::temporary_bytes);
        let bytes = |len: usize, size: usize| len as u64 * size as u64;
        bytes(self.keys.len(), size_of::<K>())
            + bytes(self.values.len(), size_of::<V>())
            + bytes(self.words.len(), 8)
            + bytes(self.states.len() + self.scanned.len(), 4)
            + scan
    }

    /// Sorts `keys`, and `values` with them, in place.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the sorter was made for another length. Otherwise returns the error of a
    /// launch.
    pub fn sort_pairs_in(
        &mut self,
        queue: Queue<'_>,
        keys: &mut Buffer<K>,
        values: &mut Buffer<V>,
    ) -> Result<(), AlgorithmError> {
        self.run(queue, None, keys.view_mut(), Some(values.view_mut()))
    }

    /// Writes the sorted `keys` to `keys_out` and their `values` to `values_out`. The input does not change.
    ///
    /// # Errors
    /// Returns the errors of [`sort_pairs_in`](Self::sort_pairs_in).
    pub fn sort_pairs_into(
        &mut self,
        queue: Queue<'_>,
        (keys, values): (&Buffer<K>, &Buffer<V>),
        (keys_out, values_out): (&mut Buffer<K>, &mut Buffer<V>),
    ) -> Result<(), AlgorithmError> {
        let (keys_out, values_out) = (keys_out.view_mut(), values_out.view_mut());
        self.run(queue, Some((keys.view(), Some(values.view()))), keys_out, Some(values_out))
    }

    /// Does the same as [`sort_pairs_into`](Self::sort_pairs_into) for views, such as parts of buffers. A view may
    /// begin at any element of a buffer.
    ///
    /// # Errors
    /// Returns the errors of [`sort_pairs_in`](Self::sort_pairs_in), and [`Error::Overlap`] if an input overlaps an
    /// output.
    pub fn sort_pairs_views(
        &mut self,
        queue: Queue<'_>,
        (keys, values): (Global<'_, K>, Global<'_, V>),
        (keys_out, values_out): (GlobalMut<'_, K>, GlobalMut<'_, V>),
    ) -> Result<(), AlgorithmError> {
        let [a, b] = [bytes_of(keys.as_ptr(), keys.len()), bytes_of(values.as_ptr(), values.len())];
        let [c, d] = [bytes_of(keys_out.as_ptr(), keys_out.len()), bytes_of(values_out.as_ptr(), values_out.len())];
        refuse_overlap(&[(&a, &c), (&a, &d), (&b, &c), (&b, &d), (&c, &d)])?;
        self.run(queue, Some((keys, Some(values))), keys_out, Some(values_out))
    }

    /// Sorts `keys` and `values`, or the `input` into them.
    pub(super) fn run(
        &mut self,
        queue: Queue<'_>,
        input: Option<(Global<'_, K>, Option<Global<'_, V>>)>,
        keys: GlobalMut<'_, K>,
        values: Option<GlobalMut<'_, V>>,
    ) -> Result<(), AlgorithmError> {
        let (n, n_values) = (self.plan.n, if is_none::<V>() { 0 } else { self.plan.n });
        let keys_in = input.map(|(keys, _)| keys.len());
        let values_in = input.and_then(|(_, values)| values).map(|values| values.len());
        let values_out = values.map(|values| values.len());
        for (len, needed) in [(Some(keys.len()), n), (keys_in, n), (values_out, n_values), (values_in, n_values)] {
            if let Some(len) = len.filter(|&len| len != needed) {
                return Err(Error::LengthMismatch { what: "sort with this sorter", buffer: needed, other: len }.into());
            }
        }
        if n == 0 {
            return Ok(());
        }
        let rung = self.plan.rung;
        with_payload!(V, P => self.run_as::<P>(queue, input, keys, values), _ => Err(not_built::<K::Bits, V>(rung)))
    }

    /// Does the work of [`run`](Self::run), with `P` as the payload that stands for the values.
    fn run_as<P: Payload>(
        &mut self,
        queue: Queue<'_>,
        input: Option<(Global<'_, K>, Option<Global<'_, V>>)>,
        keys: GlobalMut<'_, K>,
        values: Option<GlobalMut<'_, V>>,
    ) -> Result<(), AlgorithmError> {
        let other_values = cast_mut(self.values.view_mut())?;
        let input = match input {
            None => Input::InPlace,
            Some((keys, values)) => Input::Of(cast(keys)?, values.map(cast).transpose()?),
        };
        let launches = Launches::<K::Bits, P> {
            queue,
            plan: self.plan,
            order: self.order,
            input,
            keys: cast_mut(keys)?,
            values: values.map_or(Ok(other_values), cast_mut)?,
            other_keys: cast_mut(self.keys.view_mut())?,
            other_values,
        };
        let Self { words, states, scanned, scanner, .. } = self;
        launches.run(Counters { words, states, scanned, scanner })
    }
}

impl<K: SortKey> Sorter<K> {
    /// Sorts `keys` in place.
    ///
    /// # Errors
    /// Returns the errors of [`sort_pairs_in`](Self::sort_pairs_in).
    pub fn sort_in(&mut self, queue: Queue<'_>, keys: &mut Buffer<K>) -> Result<(), AlgorithmError> {
        self.run(queue, None, keys.view_mut(), None)
    }

    /// Writes the sorted `keys` to `keys_out`. The input does not change.
    ///
    /// # Errors
    /// Returns the errors of [`sort_pairs_in`](Self::sort_pairs_in).
    pub fn sort_into(
        &mut self,
        queue: Queue<'_>,
        keys: &Buffer<K>,
        keys_out: &mut Buffer<K>,
    ) -> Result<(), AlgorithmError> {
        self.run(queue, Some((keys.view(), None)), keys_out.view_mut(), None)
    }

    /// Does the same as [`sort_into`](Self::sort_into) for views, such as parts of buffers. A view may begin at any
    /// element of a buffer.
    ///
    /// # Errors
    /// Returns the errors of [`sort_pairs_in`](Self::sort_pairs_in), and [`Error::Overlap`] if the views overlap.
    pub fn sort_views(
        &mut self,
        queue: Queue<'_>,
        keys: Global<'_, K>,
        keys_out: GlobalMut<'_, K>,
    ) -> Result<(), AlgorithmError> {
        refuse_overlap(&[(&bytes_of(keys.as_ptr(), keys.len()), &bytes_of(keys_out.as_ptr(), keys_out.len()))])?;
        self.run(queue, Some((keys, None)), keys_out, None)
    }
}

impl<K: SortKey, I: SortIndex> Sorter<K, I> {
    /// Writes the sorted `keys` to `keys_out`, and to `indices` the index in `keys` of each of them.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if `I` is too small for the number of keys, and the errors of
    /// [`sort_pairs_in`](Self::sort_pairs_in).
    pub fn argsort_into(
        &mut self,
        queue: Queue<'_>,
        keys: &Buffer<K>,
        (keys_out, indices): (&mut Buffer<K>, &mut Buffer<I>),
    ) -> Result<(), AlgorithmError> {
        if self.plan.n as u64 > I::MAX_KEYS {
            let requested = format!("indices of {} keys as u32", self.plan.n);
            let offered = "u32 indices of up to 4294967296 keys: use u64".to_owned();
            return Err(capabilities::refused(self.plan.rung.rung(), requested, offered));
        }
        self.run(queue, Some((keys.view(), None)), keys_out.view_mut(), Some(indices.view_mut()))
    }
}

/// Returns the plan for `n` keys of type `K` with values of type `V`.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if the rung does not sort such keys and values, that many of them, or in this
/// order.
pub fn plan<K: SortKey, V: Element>(
    device: &Device,
    rung: SortRung,
    n: usize,
    options: &SortOptions,
) -> Result<Plan, AlgorithmError> {
    options.order::<K, V>(rung)?;
    if let Some(max) = rung.rung().max_elements().filter(|&max| n > max) {
        let offered = format!("at most {max}; rung one_sweep takes any number");
        return Err(capabilities::refused(rung.rung(), format!("{n} keys"), offered));
    }
    if matches!(rung, SortRung::Split | SortRung::FourBit) && u32::try_from(n).is_err() {
        let offered = format!("at most {}; rung one_sweep takes any number", u32::MAX);
        return Err(capabilities::refused(rung.rung(), format!("{n} keys"), offered));
    }
    let plan = with_payload!(V, P => Plan::new::<K::Bits, P>(device, rung, n, options.method), _ => None)
        .ok_or_else(|| not_built::<K::Bits, V>(rung))?;
    match options.method {
        Some(method) if method != plan.method => {
            let requested = format!("{n} keys by the method {method:?}");
            let offered = "on this device other methods for these keys: leave the method out".to_owned();
            Err(capabilities::refused(rung.rung(), requested, offered))
        }
        _ => Ok(plan),
    }
}

/// Returns the addresses of the bytes of `len` elements.
pub(crate) fn bytes_of<T>(start: *const T, len: usize) -> Range<usize> {
    start as usize..(start as usize).saturating_add(len * size_of::<T>())
}

/// Returns [`Error::Overlap`] if both ranges of a pair contain the same byte.
pub(crate) fn refuse_overlap(pairs: &[(&Range<usize>, &Range<usize>)]) -> Result<(), Error> {
    let overlaps = pairs.iter().any(|(a, b)| a.start.max(b.start) < a.end.min(b.end));
    if overlaps { Err(Error::Overlap) } else { Ok(()) }
}

impl<K: SortKey, V: Element> Resources for Sorter<K, V> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.keys.hold(held);
        self.values.hold(held);
        self.words.hold(held);
        self.states.hold(held);
        self.scanned.hold(held);
        self.scanner.hold(held);
    }
}
