//! Compares reductions by values of another type with references on the CPU: sums of 16-bit floats and of small
//! integers, and the positions of the least and greatest elements.

use std::fmt::Debug;

use cuda_std::{bf16, f16};
use gridstride::numbers::Number;
use gridstride::prelude::*;
use gridstride::reduce::{Plan, ReduceInput, ReduceRung, Reducer, default_rung};
use tests::{Turns, all_devices, devices_and_turns, simulated};
use workbench::inputs::RandomVector;

/// Numbers of elements: 0 and 1; sizes near a warp, near the vectors and chunks of all types, near the tiles of a block
/// and near one iteration of a small grid.
const SIZES: [usize; 11] = [0, 1, 9, 33, 513, 1023, 1025, 2049, 4097, 8193, 20_011];

/// The maximum number of elements that checked devices reduce.
const MAX_CHECKED: usize = 2049;

/// The maximum number of elements among which the tests find a position.
const MAX_POSITIONS: usize = 4099;

/// Returns the plans that the tests run: the default one, a single small block, and a grid of several blocks.
fn plans<T>(device: &Device, n: usize) -> impl Iterator<Item = Plan> {
    let grid = move |blocks, block| Plan::grid_stride(n, size_of::<T>(), blocks, block);
    let planned = Plan::new(ReduceRung::GridStride, n, size_of::<T>(), device.properties().unwrap().multiprocessors);
    [planned, grid(1, 16), grid(5, 64)].into_iter()
}

/// Reduces the elements of `x` from index `from` on, twice in the same memory, and returns the result.
#[track_caller]
fn run<T: ReduceInput<O>, O: 'static>(device: &Device, plan: Plan, x: &[T], from: usize) -> T::Output
where
    T::Output: PartialEq + Debug,
{
    let buffer = device.upload(x).unwrap();
    let view = buffer.view().part(from, x.len() - from);
    let mut reduction = Reducer::<T, O>::with_plan(device, plan).unwrap();
    let [found, again] =
        [(); 2].map(|()| reduction.run_view(device.queue(), view).unwrap().download().unwrap().pop().unwrap());
    assert_eq!(found, again);
    found
}

/// Asserts that every plan gives the result `expected` for prefixes of `x` of all sizes.
#[track_caller]
fn conforms<T: ReduceInput<O>, O: 'static>(
    device: &Device,
    turns: &Turns,
    x: &[T],
    expected: impl Fn(&[T], &T::Output) -> bool,
) where
    T::Output: PartialEq + Debug,
{
    for n in SIZES.into_iter().filter(|&n| n <= x.len() && turns.takes(n)) {
        for plan in plans::<T>(device, n) {
            let what = format!("{n}: {plan:?}");
            let found = run::<T, O>(device, plan, &x[..n], 0);
            assert!(expected(&x[..n], &found), "{found:?}, {what}, {}", std::any::type_name::<(T, O)>());
        }
    }
    for from in [1, 3, 16 / size_of::<T>() - 1] {
        for n in [3, 2_049].into_iter().filter(|&n| turns.takes(n)) {
            let plan = Plan::grid_stride(n, size_of::<T>(), 2, 32);
            let x = &x[..from + n];
            let found = run::<T, O>(device, plan, x, from);
            assert!(expected(&x[from..], &found), "{found:?}, {n} from {from}");
        }
    }
}

fn random<T: Number>() -> Vec<T> {
    (0..20_011).map(|index| RandomVector::new(4, 0).element(index)).collect()
}

macro_rules! small_integers_conform {
    ($($name:ident $type:ident [$($accumulator:ident)*];)*) => {$(
        #[test]
        fn $name() {
            let x = random::<$type>();
            let odd: Vec<$type> = x.iter().map(|x| x | 1).collect();
            for (device, turns) in devices_and_turns(MAX_CHECKED) {
                type Combine = fn($type, $type) -> $type;
                let all = |x: &[$type], start, combine: Combine| x.iter().copied().fold(start, combine);
                conforms::<$type, Sum>(&device, &turns, &x, |x, &sum| sum == all(x, 0, $type::wrapping_add));
                conforms::<$type, Product>(&device, &turns, &odd, |x, &product| {
                    product == all(x, 1, $type::wrapping_mul)
                });
                conforms::<$type, Min>(&device, &turns, &x, |x, &min| min == all(x, $type::MAX, $type::min));
                conforms::<$type, Max>(&device, &turns, &x, |x, &max| max == all(x, $type::MIN, $type::max));
                $(conforms::<$type, Widened<Sum, $accumulator>>(&device, &turns, &x, |x, &sum| {
                    sum == x.iter().map(|&x| $accumulator::from(x)).sum::<$accumulator>()
                });)*
            }
        }
    )*};
}

small_integers_conform! {
    bytes_conform u8 [u32 u64];
    signed_bytes_conform i8 [i32 i64];
}

#[test]
fn sums_of_large_numbers_do_not_wrap() {
    for (device, turns) in devices_and_turns(MAX_CHECKED) {
        let (least, greatest) = (vec![i32::MIN; 20_011], vec![u32::MAX; 20_011]);
        conforms::<_, Widened<Sum, i64>>(&device, &turns, &least, |x, &sum| {
            sum == x.len() as i64 * i64::from(i32::MIN)
        });
        conforms::<_, Widened<Sum, u64>>(&device, &turns, &greatest, |x, &sum| {
            sum == x.len() as u64 * u64::from(u32::MAX)
        });
        // The sum of whole numbers is exact in `f64`, and not in `f32`.
        let whole: Vec<f32> = (0..20_011).map(|i| (16_777_215 - i) as f32).collect();
        conforms::<_, Widened<Sum, f64>>(&device, &turns, &whole, |x, &sum| {
            sum == x.iter().fold(0.0, |sum, &x| sum + f64::from(x))
        });
    }
}

/// Checks sums, products, minima and maxima of a 16-bit float. `epsilon` is the distance from 1 to the next number.
macro_rules! halves_conform {
    ($($name:ident $type:ident $epsilon:literal;)*) => {$(
        #[test]
        fn $name() {
            let x = random::<$type>();
            // Whole numbers from −8 to 8 have exact sums in `f32`, so the result has one rounding.
            let whole: Vec<$type> = (0..x.len()).map(|i| $type::from_f32((i * 7 % 17) as f32 - 8.0)).collect();
            // The product of these numbers is exact in `f32`.
            let factor = |i: usize| [1.0, 2.0, -0.5, 1.25][if i > 20 { i % 3 } else { i % 4 }];
            let factors: Vec<$type> = (0..x.len()).map(|i| $type::from_f32(factor(i))).collect();
            let sum = |x: &[$type]| x.iter().fold(0.0, |sum, x| sum + x.to_f64());
            let product = |x: &[$type]| x.iter().map(|x| x.to_f64()).product::<f64>();
            let same = |found: $type, expected: f64| found.to_bits() == $type::from_f64(expected).to_bits();
            for (device, turns) in devices_and_turns(MAX_CHECKED) {
                conforms::<$type, Sum>(&device, &turns, &whole, |x, &found| same(found, sum(x)));
                conforms::<$type, Widened<Sum, f32>>(&device, &turns, &whole, |x, &found| f64::from(found) == sum(x));
                conforms::<$type, Product>(&device, &turns, &factors, |x, &found| same(found, product(x)));
                conforms::<$type, Sum>(&device, &turns, &x, |x, found| {
                    let magnitude: f64 = x.iter().map(|x| x.to_f64().abs()).sum();
                    (found.to_f64() - sum(x)).abs() <= $epsilon / 2.0 * sum(x).abs() + 1e-5 * magnitude
                });
                let least = |x: &[$type]| x.iter().map(|x| x.to_f64()).fold(f64::INFINITY, f64::min);
                let greatest = |x: &[$type]| x.iter().map(|x| x.to_f64()).fold(f64::NEG_INFINITY, f64::max);
                conforms::<$type, Min>(&device, &turns, &x, |x, &found| same(found, least(x)));
                conforms::<$type, Max>(&device, &turns, &x, |x, &found| same(found, greatest(x)));
            }
        }
    )*};
}

halves_conform! {
    f16_conforms f16 0.000_976_562_5;
    bf16_conforms bf16 0.007_812_5;
}

/// Tests the empty input, NaN, infinities, both zeros, and sums that only the result's type cannot represent.
#[test]
fn halves_have_the_rules_of_floats() {
    let f16s = |x: &[f32]| x.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>();
    for device in all_devices() {
        let none: &[f16] = &[];
        let bits = |result: Result<f16, AlgorithmError>| result.unwrap().to_bits();
        assert_eq!(bits(device.reduce(none, Sum)), f16::ZERO.to_bits());
        assert_eq!(bits(device.reduce(none, Product)), f16::ONE.to_bits());
        assert_eq!(bits(device.reduce(none, Min)), f16::INFINITY.to_bits());
        assert_eq!(bits(device.reduce(none, Max)), (-f16::INFINITY).to_bits());
        assert_eq!(device.sum_as::<f32>(none).unwrap().to_bits(), 0.0_f32.to_bits());
        for n in [2, 33, 1025, 9000] {
            let mut x = f16s(&vec![60_000.0; n]);
            assert_eq!(device.reduce(&x, Sum).unwrap(), f16::INFINITY, "the sum is rounded to infinity");
            x[n / 2..].fill(f16::from_f32(-60_000.0));
            let expected = if n % 2 == 0 { 0.0 } else { -60_000.0 };
            assert_eq!(device.reduce(&x, Sum).unwrap().to_f32(), expected, "no sum of some elements is infinite");
            let mut x = f16s(&vec![1.0; n]);
            x[n / 3] = f16::NAN;
            assert!(device.reduce(&x, Sum).unwrap().is_nan());
            assert_eq!(device.reduce(&x, Min).unwrap().to_f32(), 1.0);
            assert_eq!(device.reduce(&f16s(&vec![f32::NAN; n]), Min).unwrap(), f16::INFINITY);
            let mut x = f16s(&vec![0.0; n]);
            x[n / 2] = -f16::ZERO;
            assert_eq!(bits(device.reduce(&x, Min)), 0x8000, "−0 < +0");
            assert_eq!(bits(device.reduce(&x, Max)), 0);
        }
        // 1 + 2048 · 2⁻¹¹ is 2 in `f32`. In `f16`, each sum 1 + 2⁻¹¹ would be rounded to 1.
        let mut x = f16s(&vec![2_f32.powi(-11); 2049]);
        x[0] = f16::ONE;
        assert_eq!(device.reduce(&x, Sum).unwrap().to_f32(), 2.0);
        assert_eq!(
            (device.reduce::<&[i8], _>(&[], Min).unwrap(), device.reduce::<&[u8], _>(&[], Max).unwrap()),
            (127, 0)
        );
    }
}

/// Returns the first index at which `x` has its least number, or its greatest if `is_greatest`. A float is ordered by
/// its value and its sign.
fn first_position<T: Number>(x: &[T], is_greatest: bool) -> Option<u64> {
    let key = |x: T| (x.to_f64(), !x.to_f64().is_sign_negative());
    let mut best: Option<usize> = None;
    for i in (0..x.len()).filter(|&i| !x[i].to_f64().is_nan()) {
        let is_better = |best: usize| if is_greatest { key(x[i]) > key(x[best]) } else { key(x[i]) < key(x[best]) };
        if best.is_none_or(is_better) {
            best = Some(i);
        }
    }
    best.map(|best| best as u64)
}

fn positions_conform<T>(device: &Device, turns: &Turns, x: &[T])
where
    T: Number + ReduceInput<ArgMin, Output = Indexed<T>> + ReduceInput<ArgMax, Output = Indexed<T>>,
{
    let is_right = |x: &[T], found: &Indexed<T>, is_greatest| match (first_position(x, is_greatest), found.found()) {
        (Some(index), Some(found)) => index == found.index && have_same_bits(x[index as usize], found.value),
        (expected, found) => expected.is_none() && found.is_none(),
    };
    let x = &x[..MAX_POSITIONS];
    conforms::<T, ArgMin>(device, turns, x, |x, found| is_right(x, found, false));
    conforms::<T, ArgMax>(device, turns, x, |x, found| is_right(x, found, true));
}

/// Returns true if two numbers are equal and have the same sign.
fn have_same_bits<T: Number>(a: T, b: T) -> bool {
    a.to_f64().to_bits() == b.to_f64().to_bits()
}

macro_rules! positions_of_integers {
    ($($name:ident $type:ident;)*) => {$(
        #[test]
        fn $name() {
            let random = random::<$type>();
            // Few different numbers, so that the extremes are equal in many places.
            let equal: Vec<$type> = random.iter().map(|x| [5, 3, 9][(*x as u64 % 3) as usize]).collect();
            for (device, turns) in devices_and_turns(MAX_CHECKED) {
                let extremes = [$type::MIN, $type::MAX].map(|x| vec![x; equal.len()]);
                for x in [&random, &equal, &extremes[0], &extremes[1]] {
                    positions_conform(&device, &turns, x);
                }
            }
        }
    )*};
}

positions_of_integers! {
    positions_of_i8 i8;
    positions_of_u8 u8;
    positions_of_i32 i32;
    positions_of_u32 u32;
}

macro_rules! positions_of_floats {
    ($($name:ident $type:ident;)*) => {$(
        #[test]
        fn $name() {
            let of = |values: &[f64]| -> Vec<$type> {
                let random = random::<u32>();
                random.iter().map(|x| <$type as Number>::from_f64(values[*x as usize % values.len()])).collect()
            };
            let (nan, infinity) = (f64::NAN, f64::INFINITY);
            let inputs = [
                random(),
                of(&[0.0, -0.0, nan]),
                of(&[2.0, -3.5, nan, -nan, 2.0]),
                of(&[infinity, nan]),
                of(&[-infinity]),
                of(&[nan, -nan]),
                of(&[-1.0, infinity, -infinity]),
            ];
            for (device, turns) in devices_and_turns(MAX_CHECKED) {
                inputs.iter().for_each(|x| positions_conform(&device, &turns, x));
            }
        }
    )*};
}

positions_of_floats! {
    positions_of_f16 f16;
    positions_of_bf16 bf16;
    positions_of_f32 f32;
    positions_of_f64 f64;
}

/// Tests 64-bit integers without a detour by floats, which cannot represent all of them.
#[test]
fn positions_of_large_integers() {
    for device in all_devices() {
        for n in [1, 2, 64, 5_001] {
            for place in [0, n / 2, n - 1] {
                let mut x = vec![u64::MAX - 1; n];
                x[place] = u64::MAX;
                x[n - 1] = u64::MAX;
                let greatest = device.arg_max(&x).unwrap();
                assert_eq!(greatest, Some(Indexed { index: place as u64, value: u64::MAX }));
                let mut x = vec![i64::MIN + 1; n];
                x[place] = i64::MIN;
                x[n - 1] = i64::MIN;
                let least = device.arg_min(&x).unwrap();
                assert_eq!(least, Some(Indexed { index: place as u64, value: i64::MIN }));
                let greatest = device.arg_max(&vec![i64::MIN; n]).unwrap();
                assert_eq!(greatest, Some(Indexed { index: 0, value: i64::MIN }));
            }
        }
    }
}

#[test]
fn no_number_has_no_position() {
    for device in all_devices() {
        assert_eq!(device.arg_min::<&[f32]>(&[]).unwrap(), None);
        assert_eq!(device.arg_max::<&[u64]>(&[]).unwrap(), None);
        assert_eq!(device.arg_min(&[f32::NAN; 100]).unwrap(), None);
        assert_eq!(device.arg_max(&[f16::NAN; 100]).unwrap(), None);
        let x = device.upload(&[f64::NAN; 3]).unwrap();
        let mut least = Reducer::<f64, ArgMin>::new(&device, default_rung::<f64, ArgMin>(), 3).unwrap();
        assert_eq!(least.run(&x).unwrap().download().unwrap(), [Indexed { index: u64::MAX, value: 0.0 }]);
    }
}

#[test]
fn a_graph_finds_the_position_again() {
    let device = simulated(0);
    let x = device.upload(&[4_i32, 7, 7, 1]).unwrap();
    let greatest = Reducer::<i32, ArgMax>::new(&device, default_rung::<i32, ArgMax>(), 4).unwrap();
    let mut graph = device.record((greatest, x), |queue, (reducer, x)| reducer.run_in(queue, x).map(|_| ())).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.resources().0.result().download().unwrap()[0].index, 1);
    graph.resources_mut().1.upload(&[4, 7, 8, 9]).unwrap();
    graph.launch().unwrap();
    assert_eq!(graph.resources().0.result().download().unwrap()[0], Indexed { index: 3, value: 9 });
}

#[test]
fn other_rungs_do_not_accumulate() {
    let device = simulated(0);
    let error = Reducer::<f16, Sum>::new(&device, ReduceRung::Shuffle, 3).map(drop).unwrap_err().to_string();
    assert_eq!(error, "reduce's rung shuffle does not offer sum of f16: it offers sum of f32 and i32");
    assert!(Reducer::<f32, ArgMin>::new(&device, ReduceRung::Shuffle, 3).is_err());
}
