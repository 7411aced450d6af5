//! Sort: every rung against the standard library's stable sort, on every device, at awkward sizes.

use cuda_std::{Ladder, bf16, f16};
use gpu::sort::tuning::CLUSTER_ROWS;
use gpu::sort::{FINISHED, NoPayload, TICKET, WORDS};
use gridstride::AlgorithmError;
use gridstride::prelude::*;
use gridstride::sort::{SortKey, SortMethod, SortOptions, SortRung, Sorter, plan};
use launch::{Device, Element, Simulator};
use rand::Rng;
use tests::{checked_devices, devices, devices_and_turns, gpu, random, simulated};
use workbench::sort::reference::{ReferenceKey, argsort};

/// Numbers of keys: 0; fewer than a warp; sizes near a tile of each rung, among them the largest that one block sorts,
/// 8192; primes.
const SIZES: [usize; 24] = [
    0, 1, 2, 3, 31, 32, 33, 255, 257, 511, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4099, 8191, 8192, 8193, 13_824,
    13_825, 30_011,
];

pub fn keys<K: ReferenceKey>(n: usize, seed: u64) -> Vec<K> {
    let mut random = random(seed);
    (0..n).map(|_| K::from_random(random.next_u64())).collect()
}

fn expected<K: ReferenceKey>(keys: &[K], options: &SortOptions) -> Vec<K> {
    argsort(keys, options).into_iter().map(|index| keys[index]).collect()
}

#[track_caller]
pub fn assert_same<K: ReferenceKey>(found: &[K], expected: &[K], what: impl std::fmt::Display) {
    assert_eq!(found.len(), expected.len(), "{what}");
    if let Some(i) = (0..found.len()).find(|&i| found[i].compare(&expected[i]).is_ne()) {
        panic!("{what}: element {i} is {:?}, and should be {:?}", found[i], expected[i]);
    }
}

/// Sorts into another buffer, checks the result and that the input is as before, and then sorts in place.
fn check<K: ReferenceKey>(device: &Device, rung: SortRung, keys: &[K], options: &SortOptions) {
    let what = format!("{rung}, {} {}, {}", keys.len(), std::any::type_name::<K>(), device.name());
    let mut dkeys = device.upload(keys).unwrap();
    let mut sorted = device.upload(&vec![K::zeroed(); keys.len()]).unwrap();
    let mut sorter = Sorter::<K>::new(device, rung, keys.len(), options).unwrap();
    sorter.sort_into(device.queue(), &dkeys, &mut sorted).unwrap();
    let expected = expected(keys, options);
    assert_same(&sorted.download().unwrap(), &expected, &what);
    assert_same(&dkeys.download().unwrap(), keys, format!("{what}, the input"));
    sorter.sort_in(device.queue(), &mut dkeys).unwrap();
    assert_same(&dkeys.download().unwrap(), &expected, format!("{what}, in place"));
}

fn conforms(rung: SortRung) {
    let max = rung.rung().max_elements().unwrap_or(usize::MAX);
    // Clusters have a test of their own.
    let options = |n| match rung {
        SortRung::OneSweep if n <= 8192 => by(SortMethod::OneBlock),
        SortRung::OneSweep => by(SortMethod::ManyBlocks),
        _ => SortOptions::default(),
    };
    // The rungs with many launches get fewer keys.
    let (max, checked) = match rung {
        SortRung::OneSweep => (max, 1025),
        SortRung::Split => (513, 33),
        _ => (max.min(2049), 1025),
    };
    for (device, turns) in devices_and_turns(checked) {
        for n in SIZES.into_iter().filter(|&n| n <= max && turns.takes(n)) {
            check::<u32>(&device, rung, &keys(n, 1), &options(n));
        }
    }
}

/// Returns the options for an ascending sort by `method`.
pub fn by(method: SortMethod) -> SortOptions {
    SortOptions { method: Some(method), ..SortOptions::default() }
}

macro_rules! suite {
    ($($test:ident: $rung:ident;)*) => {
        $(#[test] fn $test() { conforms(SortRung::$rung); })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(SortRung::ALL, [$(SortRung::$rung),*]);
        }
    };
}

suite! {
    bitonic_block_conforms: BitonicBlock;
    bitonic_conforms: Bitonic;
    split_conforms: Split;
    four_bit_conforms: FourBit;
    one_sweep_conforms: OneSweep;
}

/// Tests clusters of all sizes that the simulator runs, with shares that are full, nearly full and nearly empty.
#[test]
fn clusters_conform() {
    let check = |device: &Device, n, blocks| {
        check::<u32>(device, SortRung::OneSweep, &keys(n, 1), &by(SortMethod::Cluster { blocks }));
    };
    for device in devices() {
        for n in [1, 2, 511, 513, 1023, 1024, 1025, 4097, 8191, 8192] {
            check(&device, n, 2);
        }
    }
    for (blocks, full) in [(3, 12_288), (4, 16_384), (7, 28_672), (8, 32_768), (16, 65_536)] {
        let device = Device::simulated(Simulator::new().with_multiprocessors(blocks));
        check(&device, full, blocks);
        check(&device, full - 1, blocks);
        check(&device, 700, blocks);
    }
    for device in checked_devices() {
        check(&device, 700, 2);
    }
}

/// Tests that the plan changes the method at the ends of the rows of [`CLUSTER_ROWS`], that it leaves out clusters that
/// a device cannot run and keys that no cluster sorts, and that the methods sort as many keys as the rows say.
#[test]
fn the_number_of_keys_selects_the_method() {
    use SortMethod::{Cluster, ManyBlocks, OneBlock};
    fn method<K: SortKey, V: Element>(device: &Device, n: usize) -> SortMethod {
        plan::<K, V>(device, SortRung::OneSweep, n, &SortOptions::default()).unwrap().method()
    }
    let device = Device::simulated(Simulator::new().with_multiprocessors(16));
    let mut first = 0;
    for (max, blocks) in CLUSTER_ROWS {
        let expected = if blocks == 1 { OneBlock } else { Cluster { blocks } };
        for n in [first, max] {
            assert_eq!([method::<u32, NoPayload>(&device, n), method::<i64, f32>(&device, n)], [expected; 2], "{n}");
            check::<u32>(&device, SortRung::OneSweep, &keys(n, 1), &SortOptions::default());
        }
        first = max + 1;
    }
    assert_eq!(method::<u32, NoPayload>(&device, first), ManyBlocks);
    assert_eq!([method::<u16, NoPayload>(&device, 8192), method::<u32, u64>(&device, 4096)], [OneBlock; 2]);
    assert_eq!([method::<u16, NoPayload>(&device, 8193), method::<u32, u64>(&device, 10_000)], [ManyBlocks; 2]);
    let one = Device::simulated(Simulator::new().with_multiprocessors(1));
    assert_eq!([8192, 8193].map(|n| method::<u32, NoPayload>(&one, n)), [OneBlock, ManyBlocks]);
    let error = Sorter::<u32>::new(&one, SortRung::OneSweep, 9000, &by(Cluster { blocks: 8 })).err().unwrap();
    assert!(error.to_string().contains("Cluster { blocks: 8 }"), "{error}");
    assert_eq!(["block", "cluster:16", "many"].map(str::parse), [OneBlock, Cluster { blocks: 16 }, ManyBlocks].map(Ok));
    assert!("cluster:17".parse::<SortMethod>().unwrap_err().contains("2 to 16"));
}

/// Tests the tiles of one sweep in hostile orders, also in several portions per pass, with one after the other using
/// the same words.
#[test]
fn tiles_look_back_in_every_order() {
    for (i, device) in checked_devices().enumerate() {
        // Too many keys for one block; in the simulator, four tiles of 4608.
        let keys = keys::<u16>(17_000, 3);
        let mut dkeys = device.upload(&keys).unwrap();
        let expected = expected(&keys, &SortOptions::default());
        // Portions of one tile do not look back, so a few orders are enough.
        for portion in [2 * 4608, 1].into_iter().take(if i % 4 == 0 { 2 } else { 1 }) {
            let options = SortOptions::default();
            let plan = plan::<u16, NoPayload>(&device, SortRung::OneSweep, keys.len(), &options).unwrap();
            let plan = plan.with_portion(portion);
            let mut sorter = Sorter::<u16>::with_plan(&device, plan, &options).unwrap();
            dkeys.upload(&keys).unwrap();
            sorter.sort_in(device.queue(), &mut dkeys).unwrap();
            assert_same(&dkeys.download().unwrap(), &expected, format!("{portion} keys per launch, {}", device.name()));
        }
    }
}

/// Tests all types of keys, in ascending and descending order, with special values.
#[test]
fn every_type_of_keys_is_sorted() {
    fn check_all<K: ReferenceKey>(device: &Device, special: &[K]) {
        for n in [100, 9001] {
            let mut keys = keys::<K>(n, 7);
            keys.extend_from_slice(special);
            for descending in [false, true] {
                check(device, SortRung::OneSweep, &keys, &SortOptions { descending, ..SortOptions::default() });
            }
        }
    }
    macro_rules! floats {
        ($device:expr, $($float:ident $bits:ident)*) => {$({
            let bits = [0, 1, 2].map(|nan| <$float>::INFINITY.to_bits() + nan);
            let sign = 1 << ($bits::BITS - 1);
            let zeros = [0, 1, sign, sign | 1];
            let all: Vec<$float> =
                bits.into_iter().flat_map(|b| [b, b | sign]).chain(zeros).map(<$float>::from_bits).collect();
            check_all::<$float>($device, &all);
        })*};
    }
    // The types differ in how a thread encodes a key, which no order of threads changes.
    for device in [simulated(0)].into_iter().chain(gpu()) {
        check_all::<u8>(&device, &[0, u8::MAX]);
        check_all::<u16>(&device, &[0, u16::MAX]);
        check_all::<u32>(&device, &[0, u32::MAX]);
        check_all::<u64>(&device, &[0, u64::MAX]);
        check_all::<i8>(&device, &[0, i8::MAX, i8::MIN]);
        check_all::<i32>(&device, &[0, i32::MAX, i32::MIN]);
        check_all::<i64>(&device, &[0, i64::MAX, i64::MIN]);
        floats!(&device, f16 u16 bf16 u16 f32 u32 f64 u64);
    }
    let mut keys = [3_i16, i16::MIN, -1, i16::MAX, 0];
    simulated(0).sort(&mut keys).unwrap();
    assert_eq!(keys, [i16::MIN, -1, 0, 3, i16::MAX]);
}

#[test]
fn nan_is_last_if_it_should_be() {
    let device = simulated(0);
    for n in [50, 9001] {
        let mut random = random(n);
        let keys: Vec<f64> = (0..n)
            .map(|_| match random.next_u64() {
                bits if bits.is_multiple_of(5) => f64::from_bits(bits | f64::NAN.to_bits()),
                bits => f64::from_bits(bits),
            })
            .collect();
        for descending in [false, true] {
            let options = SortOptions { descending, nan_last: true, ..SortOptions::default() };
            let mut sorted = keys.clone();
            device.sort_with(&mut sorted, &options).unwrap();
            let numbers = keys.iter().filter(|key| !key.is_nan()).count();
            assert!(sorted[numbers..].iter().all(|key| key.is_nan()), "{n} {descending}");
            assert_same(&sorted[..numbers], &expected(&keys, &options)[..numbers], n);
        }
    }
}

/// Tests keys that are equal in all or some digits, and keys that are already in order.
#[test]
fn keys_that_are_alike_are_sorted() {
    let several: [fn(u32) -> u32; 6] =
        [|_| 42, |_| u32::MAX, |i| i, |i| !i, |i| (i % 3) << 9, |i| if i == 5000 { 1 } else { 0 }];
    for (device, turns) in devices_and_turns(0) {
        for key in several.into_iter().filter(|_| turns.takes(9001)) {
            let keys: Vec<u32> = (0..9001).map(key).collect();
            check(&device, SortRung::OneSweep, &keys, &SortOptions::default());
            for rung in [SortRung::BitonicBlock, SortRung::Bitonic, SortRung::FourBit] {
                check(&device, rung, &keys[4000..6000], &SortOptions::default());
            }
        }
    }
}

/// Tests ranges of bits, with odd and even numbers of passes, in place and not.
#[test]
fn only_the_bits_of_the_range_are_compared() {
    let device = simulated(0);
    let cluster = SortMethod::Cluster { blocks: 2 };
    for (n, method) in [(300, SortMethod::OneBlock), (1500, cluster), (9001, SortMethod::ManyBlocks)] {
        let keys = keys::<u32>(n, 8);
        for (begin, end) in [(0, 32), (0, 1), (31, 32), (5, 13), (3, 20), (8, 32)] {
            let options = SortOptions { bits: Some(begin..end), ..by(method) };
            let of = |key: u32| (u64::from(key) >> begin) & ((1 << (end - begin)) - 1);
            let mut expected = keys.clone();
            expected.sort_by_key(|&key| of(key));
            let mut found = keys.clone();
            device.sort_with(&mut found, &options).unwrap();
            assert_same(&found, &expected, format!("{begin}..{end}"));
            let (dkeys, mut sorted) = (device.upload(&keys).unwrap(), device.alloc(n).unwrap());
            let mut sorter = Sorter::<u32>::new(&device, SortRung::OneSweep, n, &options).unwrap();
            sorter.sort_into(device.queue(), &dkeys, &mut sorted).unwrap();
            assert_same(&sorted.download().unwrap(), &expected, format!("{begin}..{end}"));
        }
    }
}

/// Tests views that begin at any element, and that views which overlap are refused.
#[test]
fn views_begin_anywhere() {
    for device in devices() {
        let keys = keys::<u16>(20_000, 2);
        let dkeys = device.upload(&keys).unwrap();
        let mut out = device.upload(&[7_u16; 20_000]).unwrap();
        for (start, n, at) in [(1, 9001, 3), (3, 12_345, 1), (7, 1, 5), (5, 0, 2), (2, 100, 1000)] {
            out.upload(&[7; 20_000]).unwrap();
            let mut sorter = Sorter::<u16>::new(&device, SortRung::OneSweep, n, &SortOptions::default()).unwrap();
            let view = out.view_mut().part(at, n);
            sorter.sort_views(device.queue(), dkeys.view().part(start, n), view).unwrap();
            let mut all = vec![7; 20_000];
            all[at..at + n].copy_from_slice(&expected(&keys[start..start + n], &SortOptions::default()));
            assert_same(&out.download().unwrap(), &all, format!("{n} from {start} at {at}"));
        }
    }
    let device = simulated(0);
    let mut buffer = device.upload(&[0_u32; 100]).unwrap();
    let start = buffer.view_mut().as_ptr();
    let mut sorter = Sorter::<u32>::new(&device, SortRung::OneSweep, 60, &SortOptions::default()).unwrap();
    let input = buffer.view().part(40, 60);
    // SAFETY: the buffer has these elements, and the sort must refuse to access them.
    let out = unsafe { cuda_std::GlobalMut::from_raw_parts(start, 60, input.device()) };
    let error = sorter.sort_views(device.queue(), input, out).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::Overlap)), "{error}");
}

#[test]
fn a_sort_is_made_again_in_a_graph() {
    for device in devices() {
        for (rung, n) in [(SortRung::OneSweep, 9001), (SortRung::OneSweep, 700), (SortRung::FourBit, 2000)] {
            let (first, second) = (keys::<u32>(n, 1), keys::<u32>(n, 2));
            let sorter = Sorter::<u32>::new(&device, rung, n, &SortOptions::default()).unwrap();
            let all = (sorter, device.upload(&first).unwrap(), device.alloc::<u32>(n).unwrap());
            let record =
                |queue: launch::Queue<'_>, (sorter, keys, sorted): &mut (Sorter<u32>, Buffer<u32>, Buffer<u32>)| {
                    sorter.sort_into(queue, keys, sorted)
                };
            let mut graph = device.record(all, record).unwrap();
            for keys in [&first, &second, &first] {
                graph.resources_mut().1.upload(keys).unwrap();
                graph.launch().unwrap();
                let expected = expected(keys, &SortOptions::default());
                assert_same(&graph.resources().2.download().unwrap(), &expected, rung);
            }
        }
    }
}

#[test]
fn what_cannot_be_sorted_is_refused() {
    let device = simulated(0);
    fn refused<K: SortKey, V: Element>(device: &Device, rung: SortRung, n: usize, options: &SortOptions, why: &str) {
        let error = Sorter::<K, V>::new(device, rung, n, options).err().unwrap().to_string();
        assert!(error.contains(why), "{error}");
    }
    let options = SortOptions::default();
    refused::<u32, [u8; 3]>(&device, SortRung::OneSweep, 5, &options, "values of 3 bytes with keys of 4 bytes");
    refused::<u8, u64>(&device, SortRung::OneSweep, 5, &options, "argsort");
    refused::<f32, NoPayload>(&device, SortRung::FourBit, 5, &options, "u32 keys alone");
    refused::<u32, u32>(&device, SortRung::Split, 5, &options, "one_sweep");
    refused::<u32, NoPayload>(&device, SortRung::Bitonic, 5, &SortOptions::descending(), "ascending");
    refused::<u32, NoPayload>(&device, SortRung::BitonicBlock, 2049, &options, "at most 2048");
    refused::<u32, NoPayload>(&device, SortRung::Split, 1 << 32, &options, "at most 4294967295");
    for bits in [5..5, 8..33] {
        let options = SortOptions { bits: Some(bits), ..SortOptions::default() };
        refused::<u32, NoPayload>(&device, SortRung::OneSweep, 5, &options, "within 0..32");
    }
    let mut sorter = Sorter::<u32, u32>::new(&device, SortRung::OneSweep, 3, &options).unwrap();
    let (mut keys, mut values) = (device.upload(&[3_u32, 1, 2]).unwrap(), device.upload(&[0_u32; 2]).unwrap());
    let error = sorter.sort_pairs_in(device.queue(), &mut keys, &mut values).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(launch::Error::LengthMismatch { .. })), "{error}");
    assert!(device.sort_pairs(&mut [1_u32, 2], &mut [1_u32]).is_err());
    device.sort(&mut Vec::<f32>::new()).unwrap();
}

/// Tests that the words are 0 after a sort where the next sort needs them to be, also after several sorts.
#[test]
fn the_words_are_left_as_they_were_found() {
    use gpu::sort::tuning::COUNT_THREADS;
    use gpu::sort::{COUNTS, FIRST, LAST, count_bytes, one_sweep_bytes, sort_digit_counts, sort_one_sweep, starts_of};
    let device = simulated(0);
    let keys = keys::<u8>(10_000, 1);
    let (dkeys, mut out) = (device.upload(&keys).unwrap(), device.alloc::<u8>(10_000).unwrap());
    let (none, mut none_out) = (device.alloc::<NoPayload>(0).unwrap(), device.alloc::<NoPayload>(0).unwrap());
    let (mut words, mut states) = (device.zeroed(WORDS).unwrap(), device.upload(&[u32::MAX; 2 * 3 * 256]).unwrap());
    for _ in 0..3 {
        let call = sort_digit_counts(dkeys.view(), 0, 0, 8, words.view_mut(), states.view_mut(), 2);
        let config = launch::LaunchConfig::new(3, COUNT_THREADS).shared_bytes(count_bytes(2, 1) as u32);
        device.launch(config, call).unwrap();
        let [starts, next] = [0, 1].map(|portion| starts_of(0, portion) as u32);
        let call = sort_one_sweep::<u8, NoPayload, 22, 12>(
            dkeys.view(),
            none.view(),
            out.view_mut(),
            none_out.view_mut(),
            0,
            0,
            8,
            0,
            FIRST | LAST,
            0,
            words.view_mut(),
            starts,
            next,
            states.view_mut(),
            0,
            10,
        );
        let config = launch::LaunchConfig::new(3, 384).shared_bytes(one_sweep_bytes(10, 12, 1, 0) as u32);
        device.launch(config, call).unwrap();
        assert_same(&out.download().unwrap(), &expected(&keys, &SortOptions::default()), "");
        let words = words.download().unwrap();
        assert!(words[TICKET] == 0 && words[FINISHED] == 0 && words[COUNTS..][..2048].iter().all(|&count| count == 0));
    }
}
