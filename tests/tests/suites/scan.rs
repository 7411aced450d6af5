//! Compares every rung of scan with the reference, for inclusive and exclusive scans, on every device.

use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
use gridstride::numbers::Number;
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, check, tile};
use launch::Device;
use rand::Rng;
use tests::{devices_and_turns, random, random_floats};
use workbench::scan::reference;

const KINDS: [ScanKind; 2] = [ScanKind::Inclusive, ScanKind::Exclusive];

/// Numbers of elements: 0 and 1; sizes near the warp, the block and powers of two; primes.
const SIZES: [usize; 20] =
    [0, 1, 2, 3, 31, 32, 33, 64, 127, 255, 256, 257, 509, 1000, 1023, 1024, 1025, 2053, 4096, 10_007];

/// The maximum number of elements that checked devices scan. It is more than two tiles of 8-byte elements, and more
/// than one tile of 4-byte elements.
const MAX_CHECKED: usize = 8200;

/// Returns sizes near one, two and four tiles. A small grid has four blocks, so with four tiles each block scans one
/// tile.
fn sizes_around_tiles(tile: usize) -> [usize; 9] {
    [1, 2, 4].map(|tiles| [tiles * tile - 1, tiles * tile, tiles * tile + 1]).concat().try_into().unwrap()
}

fn found<T: ScanElement<O>, O: Operator<T>>(device: &Device, rung: ScanRung, kind: ScanKind, x: &[T]) -> Vec<T> {
    let dx = device.upload(x).unwrap();
    let mut dy = device.alloc(x.len()).unwrap();
    Scanner::<T, O>::new(device, rung, x.len()).unwrap().scan(kind, &dx, &mut dy).unwrap();
    dy.download().unwrap()
}

/// An element type and operator for which a test can make a sample vector, and can compare the scan of that vector with
/// the expected result.
trait Sample<O: Operator<Self>>: ScanElement<O> {
    fn sample(n: usize) -> Vec<Self>;
    fn assert_right(rung: ScanRung, kind: ScanKind, x: &[Self], y: &[Self]);
}

fn assert_equal<T: PartialEq + std::fmt::Debug>(rung: ScanRung, kind: ScanKind, expected: &[T], y: &[T]) {
    assert_eq!(y.len(), expected.len());
    if let Some(i) = (0..y.len()).find(|&i| y[i] != expected[i]) {
        panic!("{rung}, {kind:?}, {} elements: element {i} is {:?} instead of {:?}", y.len(), y[i], expected[i]);
    }
}

/// Asserts that the prefix sums of floats are within their error bounds.
fn assert_close<T: Number>(rung: ScanRung, kind: ScanKind, x: &[T], y: &[T]) {
    let deviation = reference::compare_sums(rung, kind, |i| x[i], y);
    assert!(deviation.wrong.is_none(), "{rung}, {kind:?}, {} elements: {deviation:?}", y.len());
}

/// Implements [`Sample`] for types and operators whose results do not depend on how elements are grouped.
macro_rules! exact_samples {
    ($($type:ident: $($operator:ident)+, $element:expr;)*) => {$($(
        impl Sample<$operator> for $type {
            fn sample(n: usize) -> Vec<Self> {
                let mut random = random(n as u64);
                (0..n).map(|i| $element(i, n, random.next_u64())).collect()
            }

            fn assert_right(rung: ScanRung, kind: ScanKind, x: &[Self], y: &[Self]) {
                assert_equal(rung, kind, &reference::scan::<_, $operator>(kind, x), y);
            }
        }
    )+)*};
}

/// Returns element `i` of a vector whose values rise slowly and oscillate. New maxima occur throughout the vector. If
/// the vector is read from its end, new minima occur throughout it.
fn swing(i: usize, n: usize, bits: u64) -> f64 {
    (i as f64 - n as f64 / 2.0) + (bits % 64) as f64
}

exact_samples! {
    i32: Sum, |_, _, bits| bits as i32;
    u32: Sum, |_, _, bits| bits as u32;
    i64: Sum, |_, _, bits| bits as i64;
    u64: Sum, |_, _, bits| bits;
    i32: Product, |_, _, bits| bits as i32 | 1;
    u32: Product, |_, _, bits| bits as u32 | 1;
    i64: Product, |_, _, bits| bits as i64 | 1;
    u64: Product, |_, _, bits| bits | 1;
    i32: Max, |i, n, bits| swing(i, n, bits) as i32;
    i64: Max, |i, n, bits| swing(i, n, bits) as i64 * (1 << 33);
    f32: Max, |i, n, bits| swing(i, n, bits) as f32;
    f64: Max, swing;
    u32: Max, |i, _, bits| i as u32 + bits as u32 % 64;
    u64: Max, |i, _, bits| (i as u64 + bits % 64) << 33;
    i32: Min, |i, n, bits| -swing(i, n, bits) as i32;
    i64: Min, |i, n, bits| -swing(i, n, bits) as i64 * (1 << 33);
    f32: Min, |i, n, bits| -swing(i, n, bits) as f32;
    f64: Min, |i, n, bits| -swing(i, n, bits);
    u32: Min, |i, _, bits| u32::MAX - (i as u32 + bits as u32 % 64);
    u64: Min, |i, _, bits| u64::MAX - ((i as u64 + bits % 64) << 33);
}

macro_rules! float_samples {
    ($($type:ident)*) => {$(
        impl Sample<Sum> for $type {
            fn sample(n: usize) -> Vec<Self> {
                random_floats(n, n as u64).into_iter().map(|x| Self::from(x) * (1.0 + Self::EPSILON)).collect()
            }

            fn assert_right(rung: ScanRung, kind: ScanKind, x: &[Self], y: &[Self]) {
                assert_close(rung, kind, x, y);
            }
        }

        impl Sample<Product> for $type {
            /// Returns values that are near 1.
            fn sample(n: usize) -> Vec<Self> {
                random_floats(n, n as u64).into_iter().map(|x| 1.0 + Self::from(x) / 1024.0).collect()
            }

            /// Compares products with an error bound of one rounding per multiplication. The scan and the reference
            /// both round.
            fn assert_right(rung: ScanRung, kind: ScanKind, x: &[Self], y: &[Self]) {
                let expected = reference::scan::<_, Product>(kind, x);
                assert_eq!(y.len(), expected.len());
                for i in 0..y.len() {
                    let error = (y[i] / expected[i] - 1.0).abs();
                    assert!(error <= (i + 1) as Self * Self::EPSILON, "{rung}, {kind:?}: {i}: off by {error:e}");
                }
            }
        }
    )*};
}

float_samples! { f32 f64 }

impl Sample<Compose> for Affine {
    fn sample(n: usize) -> Vec<Self> {
        let mut random = random(n as u64);
        (0..n).map(|_| Affine { factor: random.next_u32() | 1, offset: random.next_u32() }).collect()
    }

    /// Applies each prefix, which is a map, to several start values. The results must be the same as if the maps of the
    /// elements were applied one after the other.
    fn assert_right(rung: ScanRung, kind: ScanKind, x: &[Self], y: &[Self]) {
        assert_eq!(y.len(), x.len());
        for start in [0, 1, 0xdead_beef] {
            let mut value = start;
            for i in 0..x.len() {
                let before = value;
                value = x[i].apply(value);
                let expected = if kind == ScanKind::Inclusive { value } else { before };
                assert_eq!(y[i].apply(start), expected, "{rung}, {kind:?}, {} elements: {i}", x.len());
            }
        }
    }
}

fn conforms<T: Sample<O>, O: Operator<T>>(rung: ScanRung, sizes: &[usize]) {
    for (device, turns) in devices_and_turns(MAX_CHECKED) {
        for &n in sizes.iter().filter(|&&n| check::<T, O>(rung, n).is_ok() && turns.takes(n)) {
            let x = T::sample(n);
            for kind in KINDS {
                T::assert_right(rung, kind, &x, &found::<T, O>(&device, rung, kind, &x));
            }
        }
    }
}

/// Declares one test per instance. An instance is given by its rung, element type and operator.
macro_rules! conformance {
    ($($name:ident: $rung:ident $type:ident $operator:ident;)*) => {$(
        #[test]
        fn $name() {
            conforms::<$type, $operator>(ScanRung::$rung, &SIZES);
            if matches!(ScanRung::$rung, ScanRung::LookBack | ScanRung::Pipelined) {
                let tile = tile(ScanRung::$rung, 1, size_of::<$type>());
                conforms::<$type, $operator>(ScanRung::$rung, &sizes_around_tiles(tile));
            }
        }
    )*};
}

conformance! {
    naive_block_conforms_f32_sum: NaiveBlock f32 Sum;
    naive_block_conforms_i32_sum: NaiveBlock i32 Sum;
    naive_block_conforms_f64_sum: NaiveBlock f64 Sum;
    naive_conforms_f32_sum: Naive f32 Sum;
    naive_conforms_i32_sum: Naive i32 Sum;
    naive_conforms_f64_sum: Naive f64 Sum;
    work_efficient_conforms_f32_sum: WorkEfficient f32 Sum;
    work_efficient_conforms_i32_sum: WorkEfficient i32 Sum;
    work_efficient_conforms_f64_sum: WorkEfficient f64 Sum;
    look_back_conforms_f32_sum: LookBack f32 Sum;
    look_back_conforms_f32_product: LookBack f32 Product;
    look_back_conforms_f32_min: LookBack f32 Min;
    look_back_conforms_f32_max: LookBack f32 Max;
    look_back_conforms_f64_sum: LookBack f64 Sum;
    look_back_conforms_f64_product: LookBack f64 Product;
    look_back_conforms_f64_min: LookBack f64 Min;
    look_back_conforms_f64_max: LookBack f64 Max;
    look_back_conforms_i32_sum: LookBack i32 Sum;
    look_back_conforms_i32_product: LookBack i32 Product;
    look_back_conforms_i32_min: LookBack i32 Min;
    look_back_conforms_i32_max: LookBack i32 Max;
    look_back_conforms_u32_sum: LookBack u32 Sum;
    look_back_conforms_u32_product: LookBack u32 Product;
    look_back_conforms_u32_min: LookBack u32 Min;
    look_back_conforms_u32_max: LookBack u32 Max;
    look_back_conforms_i64_sum: LookBack i64 Sum;
    look_back_conforms_i64_product: LookBack i64 Product;
    look_back_conforms_i64_min: LookBack i64 Min;
    look_back_conforms_i64_max: LookBack i64 Max;
    look_back_conforms_u64_sum: LookBack u64 Sum;
    look_back_conforms_u64_product: LookBack u64 Product;
    look_back_conforms_u64_min: LookBack u64 Min;
    look_back_conforms_u64_max: LookBack u64 Max;
    look_back_conforms_affine_compose: LookBack Affine Compose;
    pipelined_conforms_f32_sum: Pipelined f32 Sum;
    pipelined_conforms_f32_product: Pipelined f32 Product;
    pipelined_conforms_f32_min: Pipelined f32 Min;
    pipelined_conforms_f32_max: Pipelined f32 Max;
    pipelined_conforms_f64_sum: Pipelined f64 Sum;
    pipelined_conforms_f64_product: Pipelined f64 Product;
    pipelined_conforms_f64_min: Pipelined f64 Min;
    pipelined_conforms_f64_max: Pipelined f64 Max;
    pipelined_conforms_i32_sum: Pipelined i32 Sum;
    pipelined_conforms_i32_product: Pipelined i32 Product;
    pipelined_conforms_i32_min: Pipelined i32 Min;
    pipelined_conforms_i32_max: Pipelined i32 Max;
    pipelined_conforms_u32_sum: Pipelined u32 Sum;
    pipelined_conforms_u32_product: Pipelined u32 Product;
    pipelined_conforms_u32_min: Pipelined u32 Min;
    pipelined_conforms_u32_max: Pipelined u32 Max;
    pipelined_conforms_i64_sum: Pipelined i64 Sum;
    pipelined_conforms_i64_product: Pipelined i64 Product;
    pipelined_conforms_i64_min: Pipelined i64 Min;
    pipelined_conforms_i64_max: Pipelined i64 Max;
    pipelined_conforms_u64_sum: Pipelined u64 Sum;
    pipelined_conforms_u64_product: Pipelined u64 Product;
    pipelined_conforms_u64_min: Pipelined u64 Min;
    pipelined_conforms_u64_max: Pipelined u64 Max;
    pipelined_conforms_affine_compose: Pipelined Affine Compose;
}

/// Tests every rung with views that start at any element of their buffers. The kernel must not write outside the view.
#[test]
fn views_may_begin_anywhere() {
    for (device, turns) in devices_and_turns(MAX_CHECKED) {
        for rung in
            [ScanRung::NaiveBlock, ScanRung::Naive, ScanRung::WorkEfficient, ScanRung::LookBack, ScanRung::Pipelined]
        {
            // The length is more than two tiles for each type.
            let n = match rung {
                ScanRung::NaiveBlock => 1000,
                ScanRung::Pipelined => 14_003,
                _ => 5003,
            };
            for (from, to) in [(0, 0), (1, 1), (3, 2)].into_iter().filter(|_| turns.takes(n)) {
                let x = <i32 as Sample<Sum>>::sample(from + n);
                let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed::<i32>(to + n + 1).unwrap());
                let mut scanner = Scanner::<i32, Sum>::new(&device, rung, n).unwrap();
                for kind in KINDS {
                    let (x_part, y_part) = (dx.view().part(from, n), dy.view_mut().part(to, n));
                    scanner.scan_views(device.queue(), kind, x_part, y_part).unwrap();
                    let y = dy.download().unwrap();
                    assert_equal(rung, kind, &reference::scan::<_, Sum>(kind, &x[from..]), &y[to..to + n]);
                    assert!(y[..to].iter().chain(&y[to + n..]).all(|&y| y == 0), "{rung}: beside the view");
                }
            }
        }
    }
}
