//! Compares every rung of reduce with the reference, on every device.

use cuda_std::{ArgumentId, Global, Ladder};
use gpu::operator::{Affine, Compose, Min, Operator, Product, Sum};
use gpu::reduce::{LOADS, reduce_grid_stride};
use gridstride::capabilities::of_operator;
use gridstride::error::AlgorithmError;
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer, before_first_vector, reduce};
use launch::{Buffer, Device, Error, LaunchConfig};
use proptest::prelude::*;
use tests::reductions::{check, elements};
use tests::{Turns, all_devices, devices_and_turns, for_each_operator, gpu, random, simulated};
use workbench::inputs::RandomVector;
use workbench::reduce::inputs::Factor;
use workbench::reduce::reference::{self, Reference};

/// Numbers of elements: 0; primes; sizes near the warp, the block, the tiles of 2, 4 and 8 blocks, and the grid-stride
/// rung's chunks and tiles; the first size with a third launch.
const SIZES: [usize; 25] = [
    0, 1, 2, 31, 32, 33, 127, 255, 256, 257, 511, 512, 513, 1009, 1023, 1025, 2047, 2048, 2049, 4099, 8191, 8193,
    16_381, 65_535, 65_537,
];

/// Returns [`SIZES`], sizes near one iteration of the grid-stride rung's grid, and large sizes if they are fast.
fn sizes(device: &Device, rung: ReduceRung, element_bytes: usize) -> Vec<usize> {
    let mut sizes = SIZES.to_vec();
    if rung == ReduceRung::GridStride {
        let multiprocessors = device.properties().unwrap().multiprocessors;
        let full = Plan::new(rung, 1 << 40, element_bytes, multiprocessors);
        let turn = full.passes()[0].blocks as usize * full.block() as usize * LOADS * 16 / element_bytes;
        sizes.extend([turn - 1, turn, turn + 1, 2 * turn + 7]);
    }
    if !device.is_simulated() || rung == ReduceRung::GridStride && element_bytes == 4 {
        sizes.extend([(1 << 20) - 1, (1 << 20) + 1]);
    }
    sizes
}

fn plan<T>(device: &Device, rung: ReduceRung, n: usize) -> Plan {
    Plan::new(rung, n, size_of::<T>(), device.properties().unwrap().multiprocessors)
}

/// The maximum number of elements that checked devices reduce.
const MAX_CHECKED: usize = 8193;

fn conforms<T: Factor + ReduceElement<O>, O: Reference<T>>(device: &Device, turns: &Turns, rung: ReduceRung) {
    for n in sizes(device, rung, size_of::<T>()).into_iter().filter(|&n| turns.takes(n)) {
        check::<T, O>(device, plan::<T>(device, rung, n), &elements::<T, O>(n, n as u64));
    }
}

/// Asserts that sums of whole floats below 2²⁴ are exact. If an element were missing, an error bound could hide it.
fn whole_floats_are_exact(device: &Device, turns: &Turns, rung: ReduceRung) {
    for n in [1, 33, 2049, (1 << 16) + 77].into_iter().filter(|&n| turns.takes(n)) {
        let x: Vec<f32> = (0..n).map(|index| (RandomVector::<u32>::new(5, 0).bits(index) % 17) as f32 - 8.0).collect();
        let expected = x.iter().map(|&x| x as i64).sum::<i64>();
        assert_eq!(check::<f32, Sum>(device, plan::<f32>(device, rung, n), &x), expected as f32, "{rung}, {n}");
    }
}

macro_rules! conformance {
    ($($name:ident $rung:ident;)*) => {$(
        #[test]
        fn $name() {
            for (device, turns) in devices_and_turns(MAX_CHECKED) {
                conforms::<f32, Sum>(&device, &turns, ReduceRung::$rung);
                conforms::<i32, Sum>(&device, &turns, ReduceRung::$rung);
                whole_floats_are_exact(&device, &turns, ReduceRung::$rung);
            }
        }
    )*};
}

conformance! {
    neighboured_conforms Neighboured;
    interleaved_conforms Interleaved;
    unrolled_2_conforms Unrolled2;
    unrolled_4_conforms Unrolled4;
    unrolled_8_conforms Unrolled8;
    unrolled_last_warp_conforms UnrolledLastWarp;
    completely_unrolled_conforms CompletelyUnrolled;
    shuffle_conforms Shuffle;
    grid_stride_conforms GridStride;
}

macro_rules! every_operator_conforms {
    ($($name:ident $type:ident;)*) => {$(
        #[test]
        fn $name() {
            for (device, turns) in devices_and_turns(MAX_CHECKED) {
                for_each_operator!(|O| conforms::<$type, O>(&device, &turns, ReduceRung::GridStride));
            }
        }
    )*};
}

every_operator_conforms! {
    every_operator_conforms_on_f32 f32;
    every_operator_conforms_on_f64 f64;
    every_operator_conforms_on_i32 i32;
    every_operator_conforms_on_u32 u32;
    every_operator_conforms_on_i64 i64;
    every_operator_conforms_on_u64 u64;
}

#[test]
fn blocks_of_any_power_of_two_give_the_same() {
    let n = 2111;
    let x = elements::<i32, Sum>(n, 1);
    for (device, turns) in devices_and_turns(n) {
        for &rung in ReduceRung::ALL {
            for block in (0..=10).map(|power| 1 << power).filter(|_| turns.takes(n)) {
                check::<i32, Sum>(&device, Plan::with_block(rung, n, 4, block), &x);
            }
        }
    }
}

#[test]
fn any_grid_gives_the_same_in_one_launch() {
    let n = 20_011;
    let grids = [(1, 1), (1, 16), (1, 32), (2, 1), (33, 2), (3, 64), (40, 256), (7, 1024), (1000, 32)];
    for (device, turns) in devices_and_turns(n) {
        for (blocks, block) in grids.into_iter().filter(|_| turns.takes(n)) {
            let plan = |bytes| Plan::grid_stride(n, bytes, blocks, block);
            check::<i32, Sum>(&device, plan(4), &elements::<i32, Sum>(n, 2));
            check::<u64, Product>(&device, plan(8), &elements::<u64, Product>(n, 3));
            check::<f32, Min>(&device, plan(4), &elements::<f32, Min>(n, 4));
            check::<f64, Sum>(&device, plan(8), &elements::<f64, Sum>(n, 5));
        }
    }
}

/// Tests views that start at every position in a vector, with lengths near whole vectors, chunks and iterations of a
/// grid. The results of two runs must have the same bits.
fn views_conform<T: Factor + ReduceElement<O>, O: Reference<T>>(
    device: &Device,
    plan: impl Fn(usize) -> Plan,
    n: usize,
) {
    for from in 0..=16 / size_of::<T>() {
        let x = elements::<T, O>(from + n, n as u64);
        let buffer = device.upload(&x).unwrap();
        let view = buffer.view().part(from, n);
        let mut reduction = Reducer::<T, O>::with_plan(device, plan(n)).unwrap();
        let [found, again] = [(); 2].map(|()| {
            let result = reduction.run_view(device.queue(), view).unwrap();
            result.download().unwrap()[0]
        });
        assert!(found == again, "{found} and then {again}: {n} from {from}");
        let answer = reference::reduce::<T, O>(n, |index| x[from + index]);
        let deviation = answer.deviation(found, reduction.plan().roundings_from(before_first_vector(view)));
        assert_eq!(deviation.wrong, None, "{deviation:?}: {n} from {from}");
    }
}

#[test]
fn views_may_begin_anywhere() {
    for (device, turns) in devices_and_turns(5000) {
        for n in (0..=9).chain([511, 512, 515, 2048, 2051, 4999]).filter(|&n| turns.takes(n)) {
            views_conform::<i32, Sum>(&device, |n| Plan::grid_stride(n, 4, 3, 64), n);
            views_conform::<f64, Sum>(&device, |n| Plan::grid_stride(n, 8, 2, 128), n);
        }
        for n in [1, 700, 5000] {
            views_conform::<f32, Sum>(&device, |n| Plan::grid_stride(n, 4, 2, 16), n);
            views_conform::<f32, Min>(&device, |n| Plan::one_tile(n, 4).unwrap(), n);
            views_conform::<f32, Sum>(&device, |n| Plan::one_tile(n, 4).unwrap(), n);
            views_conform::<i32, Sum>(&device, |n| plan::<i32>(&device, ReduceRung::Shuffle, n), n);
        }
    }
}

/// Tests that each run writes its result. If a run wrote nothing, the result of the previous run would remain.
#[test]
fn each_run_of_a_reduction_is_of_its_own_input() {
    let n = 30_011;
    for device in all_devices() {
        for &rung in ReduceRung::ALL {
            let mut sum = Reducer::<i32, Sum>::new(&device, rung, n).unwrap();
            for round in 1..=3 {
                let x = device.upload(&vec![round; n]).unwrap();
                assert_eq!(sum.reduce(&x).unwrap(), round * n as i32, "{rung}");
            }
        }
    }
}

#[test]
fn a_million_elements_and_one_are_reduced() {
    let n = (1 << 20) + 1;
    let x = elements::<i32, Sum>(n, 9);
    for device in [simulated(3)].into_iter().chain(gpu()) {
        for &rung in ReduceRung::ALL {
            check::<i32, Sum>(&device, plan::<i32>(&device, rung, n), &x);
        }
    }
}

/// Returns the rungs that are built for this element type and operator.
fn offering(arguments: [ArgumentId; 2]) -> impl Iterator<Item = ReduceRung> {
    ReduceRung::ALL.iter().copied().filter(move |rung| rung.rung().entry(&arguments).is_some())
}

/// Returns the rungs that need several launches to sum elements of type `i32`.
fn in_steps() -> impl Iterator<Item = ReduceRung> {
    offering(of_operator::<i32, Sum>()).filter(|rung| rung.rung().items_per_thread().is_some())
}

/// Blocks, threads per block, and elements per segment that no plan uses. Tiles are partial, or blocks are empty.
const GRIDS: [(u32, u32, u32); 6] =
    [(1, 1, 5003), (1, 64, 5003), (3, 32, 2000), (4, 128, 1251), (7, 256, 1024), (600, 16, 9)];

#[test]
fn a_block_combines_its_part_whatever_the_grid() {
    let x = elements::<i32, Sum>(5003, 6);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        for rung in in_steps() {
            for (blocks, block, part) in GRIDS {
                let mut y: Buffer<i32> = device.alloc(blocks as usize).unwrap();
                let config = LaunchConfig::new(blocks, block);
                let call = rung.step::<i32, Sum>(part, dx.view(), y.view_mut()).unwrap();
                device.launch(config, call).unwrap();
                let mut expected: Vec<i32> =
                    x.chunks(part as usize).map(|part| part.iter().fold(0_i32, |a, &b| a.wrapping_add(b))).collect();
                expected.resize(blocks as usize, 0);
                assert_eq!(y.download().unwrap(), expected, "{rung}, {blocks} blocks of {block}, parts of {part}");
            }
        }
    }
}

/// Tests segments of any length. If a segment is longer than the array, the first block reduces all elements.
#[test]
fn a_part_of_any_length_is_combined() {
    let x = elements::<i32, Sum>(5003, 6);
    let expected = x.iter().fold(0_i32, |a, &b| a.wrapping_add(b));
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        for rung in in_steps() {
            for part in [5003, 1 << 31, u32::MAX - 100, u32::MAX] {
                let mut y: Buffer<i32> = device.alloc(3).unwrap();
                let call = rung.step::<i32, Sum>(part, dx.view(), y.view_mut()).unwrap();
                device.launch(LaunchConfig::new(3, 64), call).unwrap();
                assert_eq!(y.download().unwrap(), [expected, 0, 0], "{rung}, parts of {part}");
            }
        }
    }
}

#[test]
fn blocks_that_are_no_power_of_two_are_refused() {
    let device = simulated(0);
    let dx = device.upload(&elements::<i32, Sum>(100, 6)).unwrap();
    for block in [(48, 1), (33, 1), (32, 2)] {
        for rung in in_steps() {
            let mut y: Buffer<i32> = device.alloc(1).unwrap();
            let call = rung.step::<i32, Sum>(100, dx.view(), y.view_mut()).unwrap();
            let result = device.launch(LaunchConfig::new(1, block), call);
            assert!(matches!(result, Err(Error::Fault(_))), "{rung}, {block:?}: {result:?}");
        }
        let mut partials = device.zeroed(0).unwrap();
        let mut y = device.alloc(1).unwrap();
        let call = reduce_grid_stride::<i32, Sum, 4>(dx.view(), partials.view_mut(), y.view_mut());
        let result = device.launch(LaunchConfig::new(1, block), call);
        assert!(matches!(result, Err(Error::Fault(_))), "{block:?}: {result:?}");
    }
}

fn maps(n: usize) -> Vec<Affine> {
    let mut random = random(n as u64);
    (0..n).map(|_| Affine { factor: random.next_u32() | 1, offset: random.next_u32() }).collect()
}

#[test]
fn operands_keep_their_order() {
    for (device, turns) in devices_and_turns(5003) {
        for rung in offering(of_operator::<Affine, Compose>()) {
            for n in
                SIZES.into_iter().filter(|&n| n <= if device.is_simulated() { 5003 } else { 10_000 } && turns.takes(n))
            {
                let maps = maps(n);
                let x = device.upload(&maps).unwrap();
                // The expected value applies all maps to a number one after the other, without the operator.
                let expected = |start| maps.iter().fold(start, |value, map| map.apply(value));
                let found = reduce(&device, rung, &x, Compose).unwrap();
                assert_eq!([0, 1].map(|start| found.apply(start)), [0, 1].map(expected), "{rung}, n = {n}");
                for block in [1, 2, 16, 64, 1024] {
                    let plan = Plan::with_block(rung, n, 8, block);
                    let other = Reducer::<Affine, Compose>::with_plan(&device, plan).unwrap().reduce(&x).unwrap();
                    assert_eq!(other, found, "{rung}, n = {n}, blocks of {block}");
                }
            }
        }
        let maps = maps(5003);
        let x = device.upload(&maps).unwrap();
        for rung in offering(of_operator::<Affine, Compose>()) {
            for (blocks, block, part) in GRIDS.into_iter().filter(|_| turns.takes(maps.len())) {
                let mut y: Buffer<Affine> = device.alloc(blocks as usize).unwrap();
                let config = LaunchConfig::new(blocks, block);
                let call = rung.step::<Affine, Compose>(part, x.view(), y.view_mut()).unwrap();
                device.launch(config, call).unwrap();
                let y = y.download().unwrap();
                for (found, part) in y.iter().zip(maps.chunks(part as usize)) {
                    assert_eq!(found.apply(3), part.iter().fold(3, |value, map| map.apply(value)), "{rung}");
                }
                assert!(
                    y.iter().skip(maps.len().div_ceil(part as usize)).all(|&map| map == Compose::IDENTITY),
                    "{rung}"
                );
            }
        }
    }
}

/// Tests that all devices return the same bits. Only the plan determines the order in which floats are combined.
#[test]
fn floats_are_the_same_on_every_device() {
    let n = 40_009;
    let x = elements::<f32, Sum>(n, 7);
    let devices: Vec<_> = devices_and_turns(n).collect();
    for &rung in ReduceRung::ALL {
        let plan = Plan::new(rung, n, 4, 2);
        let taking = devices.iter().filter(|(_, turns)| turns.takes(n));
        let results: Vec<u32> =
            taking.map(|(device, _)| check::<f32, Sum>(device, plan.clone(), &x).to_bits()).collect();
        assert!(results.iter().all(|&result| result == results[0]), "{rung}: {results:x?}");
    }
}

#[test]
fn a_view_that_is_not_aligned_is_read_by_elements() {
    let n = 5000;
    let x = elements::<i32, Sum>(n, 8);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let mut partials = device.zeroed(2).unwrap();
        let mut y = device.alloc(1).unwrap();
        for skipped in [1, 2, 3, 4] {
            // SAFETY: the view has the elements of the buffer from that element on.
            let view = unsafe {
                Global::from_raw_parts(dx.view().as_ptr().wrapping_add(skipped), n - skipped, dx.view().device())
            };
            let call = reduce_grid_stride::<i32, Sum, 4>(view, partials.view_mut(), y.view_mut());
            device.launch(LaunchConfig::new(3, 128), call).unwrap();
            let expected = x[skipped..].iter().fold(0_i32, |a, &b| a.wrapping_add(b));
            assert_eq!(y.download().unwrap(), [expected], "{skipped}");
            assert_eq!(partials.download().unwrap(), [0, 0]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_length_and_block_are_right(
        n in 0_usize..20_000, power in 0_u32..=10, rung in prop::sample::select(ReduceRung::ALL), seed: u64,
    ) {
        let plan = Plan::with_block(rung, n, 4, 1 << power);
        let device = simulated(seed);
        check::<i32, Sum>(&device, plan.clone(), &elements::<i32, Sum>(n, seed));
        check::<f32, Sum>(&device, plan, &elements::<f32, Sum>(n, seed));
    }

    #[test]
    fn any_operator_and_grid_are_right(n in 0_usize..40_000, blocks in 1_u32..50, power in 0_u32..=10, seed: u64) {
        let device = simulated(seed);
        for_each_operator!(|O| {
            check::<u32, O>(&device, Plan::grid_stride(n, 4, blocks, 1 << power), &elements::<u32, O>(n, seed));
            check::<f64, O>(&device, Plan::grid_stride(n, 8, blocks, 1 << power), &elements::<f64, O>(n, seed));
        });
    }
}

#[test]
fn a_rung_refuses_an_instance_that_is_not_built() {
    let device = simulated(0);
    let x = device.upload(&[1.0_f64, 2.0]).unwrap();
    let error = reduce(&device, ReduceRung::Unrolled2, &x, Min).unwrap_err();
    assert!(matches!(error, AlgorithmError::NotBuilt { .. }), "{error}");
    let message = error.to_string();
    for part in ["unrolled_2", "min of f64", "sum of f32 and i32"] {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    let maps = device.upload(&maps(4)).unwrap();
    let error = reduce(&device, ReduceRung::GridStride, &maps, Compose).unwrap_err();
    assert!(matches!(error, AlgorithmError::NotBuilt { .. }), "{error}");
}

#[test]
fn a_reduction_is_for_its_length_and_device() {
    let (device, other) = (simulated(0), simulated(0));
    let mut sum = Reducer::<f32, Sum>::new(&device, ReduceRung::GridStride, 3).unwrap();
    let error = sum.run(&device.upload(&[1.0; 4]).unwrap()).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(Error::LengthMismatch { .. })), "{error}");
    let error = sum.run(&other.upload(&[1.0; 3]).unwrap()).unwrap_err();
    assert!(matches!(error, AlgorithmError::Launch(Error::WrongDevice { .. })), "{error}");
    assert_eq!(sum.reduce(&device.upload(&[1.0; 3]).unwrap()).unwrap(), 3.0);
}
