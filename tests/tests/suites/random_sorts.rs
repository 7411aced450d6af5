//! Sorts, selections and work by key, with everything about them chosen at random, against the standard library.
//!
//! `GRIDSTRIDE_RANDOM_RUNS` sets the number of runs, and `GRIDSTRIDE_RANDOM_SEED` the seed of the first. The seed of
//! the next run is greater by one, so one failed run is repeated alone by its seed.

use std::env;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cuda_std::warp::Shuffle;
use cuda_std::{Element, Zeroable, bf16, f16};
use gpu::merge_sort::{Less, MergeSortRung};
use gpu::sort::{NoPayload, Words4};
use gridstride::numbers::NumberType;
use gridstride::prelude::*;
use gridstride::select::SelectRung;
use gridstride::sort::{SegmentSorter, SortMethod, SortOptions, SortRung, Sorter, plan};
use launch::Device;
use rand::Rng;
use tests::{gpu, random, simulated};
use workbench::select::reference::partition;
use workbench::sort::reference::{ReferenceKey, argsort};

use crate::sort::assert_same;
use crate::{by_key, merge_sort, select};

/// The random numbers of a run.
struct Random<R>(R);

impl<R: Rng> Random<R> {
    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end.max(1) as u64) as usize
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Returns a number of keys: few, any, near the most that one block sorts, or several tiles.
    fn size(&mut self) -> usize {
        match self.below(6) {
            0 | 1 => self.below(300),
            2 => self.below(8192),
            3 => 8190 + self.below(5),
            4 => (1 << self.below(14)) - 1 + self.below(3),
            _ => self.below(20_000),
        }
    }

    /// Returns the bits of `n` keys: uniform, few, equal, ascending, or with few bits that are set.
    fn bits(&mut self, n: usize) -> Vec<u64> {
        let (kind, mask, shift) = (self.below(5), self.0.next_u64() & self.0.next_u64(), self.below(64));
        let few: Vec<u64> = (0..1 + self.below(20)).map(|_| self.0.next_u64()).collect();
        let bits = |index: usize| match kind {
            0 => self.0.next_u64(),
            1 => few[self.below(few.len())],
            2 => few[0],
            3 => (index as u64) << shift,
            _ => self.0.next_u64() & mask,
        };
        (0..n).map(bits).collect()
    }
}

/// Returns the key with these bits, or with the lower ones.
fn key<K: ReferenceKey>(bits: u64) -> K {
    K::from_words([bits as u32, (bits >> 32) as u32, 0, 0])
}

/// Returns the unsigned integer whose bits a sort compares.
fn ordered<K: ReferenceKey>(key: &K, descending: bool) -> u64 {
    let [low, high, ..] = key.to_words();
    let (bits, all) = (u64::from(high) << 32 | u64::from(low), u64::MAX >> (64 - 8 * size_of::<K>()));
    let sign = all - all / 2;
    use NumberType::{I8, I32, I64, U8, U16, U32, U64};
    let ascending = match K::TYPE {
        U8 | U16 | U32 | U64 => bits,
        I8 | I32 | I64 => bits ^ sign,
        _ if bits & sign != 0 => all - bits,
        _ => bits ^ sign,
    };
    if descending { all - ascending } else { ascending }
}

/// A value that is the index of its key, or none.
trait Value: Element {
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

impl Value for NoPayload {
    fn of(_: usize) -> Self {
        Self::zeroed()
    }

    fn index(self) -> usize {
        0
    }
}

macro_rules! values {
    ($($type:ident: $index:ident => $value:expr, $own:ident => $of:expr;)*) => {$(
        impl Value for $type {
            fn of($index: usize) -> Self {
                $value
            }

            fn index(self) -> usize {
                let $own = self;
                $of
            }
        }
    )*};
}

values! {
    u32: index => index as u32, value => value as usize;
    u64: index => index as u64, value => value as usize;
    Words4: index => [index as u32; 4], value => if value == [value[0]; 4] { value[0] as usize } else { usize::MAX };
}

/// Sorts random keys in a random order, into another vector or in place.
fn sort<K: ReferenceKey, V: Value>(device: &Device, random: &mut Random<impl Rng>) {
    let (n, width) = (random.size(), 8 * size_of::<K>());
    let bits = random.flip().then(|| {
        let begin = random.below(width) as u32;
        begin..begin + 1 + random.below(width - begin as usize) as u32
    });
    let options =
        SortOptions { descending: random.flip(), nan_last: bits.is_none() && random.flip(), bits, method: None };
    // The order of different NaNs is unspecified if all of them are last.
    let only_nan = K::from_f64(f64::NAN);
    let replaced = |key: K| if options.nan_last && key.is_nan() { only_nan } else { key };
    let from = random.below(4);
    let keys: Vec<K> = random.bits(from + n).into_iter().map(|bits| replaced(key(bits))).collect();
    let own = &keys[from..];
    let order = match &options.bits {
        None => argsort(own, &options),
        Some(bits) => {
            let mut order: Vec<usize> = (0..n).collect();
            let mask = u64::MAX >> (64 - bits.len());
            order.sort_by_key(|&index| ordered(&own[index], options.descending) >> bits.start & mask);
            order
        }
    };
    let expected: Vec<K> = order.iter().map(|&index| own[index]).collect();
    let count = if size_of::<V>() == 1 { 0 } else { n };
    let values: Vec<V> = (0..count).map(V::of).collect();
    let (dkeys, mut dvalues) = (device.upload(&keys).unwrap(), device.upload(&values).unwrap());
    let method = match random.below(4) {
        0 => SortMethod::OneBlock,
        1 | 2 => SortMethod::Cluster { blocks: 2 + random.below(7) as u32 },
        _ => SortMethod::ManyBlocks,
    };
    let plan = plan::<K, V>(device, SortRung::OneSweep, n, &SortOptions { method: Some(method), ..options.clone() })
        // The method may not sort these keys, or so many of them.
        .or_else(|_| plan::<K, V>(device, SortRung::OneSweep, n, &options))
        .unwrap()
        .with_portion(1 + random.below(2 * n + 1));
    let mut sorter = Sorter::<K, V>::with_plan(device, plan, &options).unwrap();
    let mut sorted = device.alloc(n).unwrap();
    if random.flip() {
        sorted.copy_range_from(0, &dkeys, from..from + n).unwrap();
        sorter.sort_pairs_in(device.queue(), &mut sorted, &mut dvalues).unwrap();
    } else {
        let mut found = device.alloc(count).unwrap();
        let input = (dkeys.view().part(from, n), dvalues.view());
        sorter.sort_pairs_views(device.queue(), input, (sorted.view_mut(), found.view_mut())).unwrap();
        dvalues = found;
    }
    let (width, method) = (size_of::<V>(), plan.method());
    let what = format!("{n} keys of {} with values of {width} bytes, {options:?}, {method:?}", K::TYPE);
    assert_same(&sorted.download().unwrap(), &expected, &what);
    if count > 0 {
        let found: Vec<usize> = dvalues.download().unwrap().into_iter().map(V::index).collect();
        assert!(found == order, "{what}: the values");
    }
}

/// Sorts random segments of random keys, with values, in place.
fn sort_segments<K: ReferenceKey>(device: &Device, random: &mut Random<impl Rng>) {
    let n = random.size();
    let mut offsets: Vec<usize> = (0..random.below(30)).map(|_| random.below(n + 1)).collect();
    offsets.sort_unstable();
    let keys: Vec<K> = random.bits(n).into_iter().map(key).collect();
    let mut order: Vec<usize> = (0..n).collect();
    for segment in offsets.windows(2) {
        order[segment[0]..segment[1]].sort_by(|&a, &b| keys[a].compare(&keys[b]));
    }
    let (mut dkeys, mut values) = (device.upload(&keys).unwrap(), (0..n as u32).collect::<Vec<_>>());
    let mut dvalues = device.upload(&values).unwrap();
    let mut sorter = SegmentSorter::new(device, n, &offsets, &SortOptions::default()).unwrap();
    sorter.sort_pairs_in(device.queue(), &mut dkeys, &mut dvalues).unwrap();
    values = dvalues.download().unwrap();
    let what = format!("{n} keys of {} in segments {offsets:?}", K::TYPE);
    assert_same(&dkeys.download().unwrap(), &order.iter().map(|&index| keys[index]).collect::<Vec<_>>(), &what);
    assert!(values.iter().map(|&index| index as usize).eq(order), "{what}: the values");
}

/// Selects the numbers of a random range, and partitions.
fn select_within<T>(device: &Device, random: &mut Random<impl Rng>)
where
    T: ReferenceKey + Debug + gridstride::select::NumberFormat,
    T: gridstride::select::SelectElement<gridstride::select::Interval<T>>,
{
    let n = random.size();
    let x: Vec<T> = random.bits(n + 1).into_iter().map(key).collect();
    let [low, high] = [0; 2].map(|_| x[random.below(n + 1)]);
    let own = &x[1..];
    let found = select::found(device, SelectRung::LookBack, &x, &[], within(low..high));
    let expected = partition(own, |index| (low..high).contains(&own[index]));
    // The bits are compared, because NaN equals no number.
    let words = |(a, b): (Vec<T>, Vec<T>)| [a, b].map(|part| part.into_iter().map(T::to_words).collect::<Vec<_>>());
    assert!(words(found) == words(expected), "{n} elements of {} in {low:?}..{high:?}", T::TYPE);
}

/// Does one random run.
fn run(device: &Device, random: &mut Random<impl Rng>) {
    macro_rules! any_of {
        ($($number:literal => $work:expr;)*) => {
            match random.below(const { [$($number),*].len() }) {
                $($number => $work,)*
                _ => unreachable!(),
            }
        };
    }
    any_of! {
        0 => sort::<u8, NoPayload>(device, random);
        1 => sort::<i8, NoPayload>(device, random);
        2 => sort::<u16, NoPayload>(device, random);
        3 => sort::<f16, NoPayload>(device, random);
        4 => sort::<bf16, NoPayload>(device, random);
        5 => sort::<u32, NoPayload>(device, random);
        6 => sort::<i32, NoPayload>(device, random);
        7 => sort::<f32, NoPayload>(device, random);
        8 => sort::<u64, NoPayload>(device, random);
        9 => sort::<i64, NoPayload>(device, random);
        10 => sort::<f64, NoPayload>(device, random);
        11 => sort::<u8, u32>(device, random);
        12 => sort::<f16, u32>(device, random);
        13 => sort::<f32, u32>(device, random);
        14 => sort::<u32, u64>(device, random);
        15 => sort::<i32, Words4>(device, random);
        16 => sort::<i64, u32>(device, random);
        17 => sort::<f64, u64>(device, random);
        18 => sort::<u64, Words4>(device, random);
        19 => sort_segments::<u32>(device, random);
        20 => sort_segments::<f64>(device, random);
        21 => merge_sort::check(device, MergeSortRung::MergePath, Less, &{
            let n = random.size();
            random.bits(n).into_iter().map(|bits| bits as u32).collect::<Vec<_>>()
        });
        22 => select_within::<f32>(device, random);
        23 => select_within::<i64>(device, random);
        24 => by_key::check::<u32, f32>(device, random.size(), 1 + random.below(300) as u32, random.0.next_u64());
    }
}

#[test]
fn random_runs_agree_with_the_standard_library() {
    let number = |name: &str, default: u64| match env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")),
        Err(_) => default,
    };
    let (runs, first) = (number("GRIDSTRIDE_RANDOM_RUNS", 75), number("GRIDSTRIDE_RANDOM_SEED", 1));
    let gpu = gpu();
    for seed in first..first + runs {
        for device in [simulated(seed)].iter().chain(&gpu) {
            if let Err(cause) = catch_unwind(AssertUnwindSafe(|| run(device, &mut Random(random(seed))))) {
                eprintln!("the run with GRIDSTRIDE_RANDOM_SEED={seed} failed, {}", device.name());
                resume_unwind(cause);
            }
        }
    }
}
