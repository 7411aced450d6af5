//! Compares every rung of transpose with the reference, for every element width, on every device.

use std::fmt::Debug;

use cuda_std::Ladder;
use gpu::transpose::{
    Bits as MovedBits, transpose_copy, transpose_copy_tile, transpose_naive, transpose_padded, transpose_tile,
    transpose_unaligned, transpose_vectorised,
};
use gridstride::Size;
use gridstride::error::AlgorithmError;
use gridstride::transpose::{TransposeRung, is_transpose, plan, transpose, unaligned_plan};
use launch::{Device, Dim3, Element, Kernel, LaunchConfig};
use proptest::prelude::*;
use rand::Rng;
use tests::{Turns, all_devices, devices_and_turns, random, simulated};
use workbench::transpose::reference;

use super::transpose_views::check_views;

/// Widths and heights of matrices: empty; single rows and columns; sizes near the tiles of 32, 64 and 128 elements in
/// both directions; whole vectors that are not whole tiles; primes.
pub(super) const SIZES: [(usize, usize); 35] = [
    (0, 0),
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 2),
    (1, 257),
    (257, 1),
    (2, 31),
    (31, 31),
    (31, 32),
    (32, 31),
    (32, 32),
    (32, 33),
    (33, 32),
    (33, 33),
    (48, 16),
    (8, 40),
    (4, 300),
    (300, 4),
    (63, 64),
    (64, 63),
    (64, 64),
    (65, 64),
    (64, 65),
    (127, 128),
    (128, 127),
    (128, 128),
    (129, 128),
    (128, 129),
    (129, 131),
    (144, 272),
    (272, 144),
    (256, 384),
    (97, 1009),
    (257, 1023),
];

/// An element type with random values. Values are compared by their bits, because the payload of a NaN must not change.
pub(super) trait Bits: Element + Debug {
    fn from_random(bits: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! bits {
    ($($type:ty: $from:expr, $to:expr;)*) => {$(
        impl Bits for $type {
            fn from_random(bits: u64) -> Self { $from(bits) }
            fn bits(self) -> u64 { $to(self) }
        }
    )*};
}

bits! {
    u8: |bits| bits as u8, u64::from;
    u16: |bits| bits as u16, u64::from;
    u32: |bits| bits as u32, u64::from;
    u64: |bits| bits, u64::from;
    f32: |bits| f32::from_bits(bits as u32), |value: f32| u64::from(value.to_bits());
    f64: f64::from_bits, f64::to_bits;
    // This element type is not a number and has an alignment of one byte.
    [u8; 4]: |bits| (bits as u32).to_le_bytes(), |value| u64::from(u32::from_le_bytes(value));
}

pub(super) fn matrix<T: Bits>(size: Size, seed: u64) -> Vec<T> {
    let mut random = random(seed);
    (0..size.width * size.height).map(|_| T::from_random(random.next_u64())).collect()
}

#[track_caller]
pub(super) fn assert_same<T: Bits>(found: &[T], expected: &[T], what: impl std::fmt::Display) {
    assert_eq!(found.len(), expected.len(), "{what}");
    if let Some(i) = (0..found.len()).find(|&i| found[i].bits() != expected[i].bits()) {
        panic!("{what}: element {i} is {:?}, and should be {:?}", found[i], expected[i]);
    }
}

fn expected<T: Copy>(rung: TransposeRung, size: Size, x: &[T]) -> Vec<T> {
    if is_transpose(rung) { reference::transpose(size, x) } else { x.to_vec() }
}

/// Returns the matrix that `rung` writes. The output contains other values before the launch, so the test fails if an
/// element is not written.
pub(super) fn run<T: Bits>(device: &Device, rung: TransposeRung, size: Size, x: &[T]) -> Vec<T> {
    let dx = device.upload(x).unwrap();
    let mut dy = device.upload(&matrix(size, 99)).unwrap();
    transpose(device, rung, size, &dx, &mut dy).unwrap();
    dy.download().unwrap()
}

fn conforms_for<T: Bits>(rung: TransposeRung, device: &Device, turns: &Turns) {
    for (width, height) in SIZES.into_iter().filter(|(width, height)| turns.takes(width * height)) {
        let size = Size { width, height };
        let x = matrix::<T>(size, 1);
        let what = format!("{rung}, {size}, {}, {}", std::any::type_name::<T>(), device.name());
        assert_same(&run(device, rung, size, &x), &expected(rung, size, &x), what);
    }
}

fn conforms(rung: TransposeRung) {
    for (device, turns) in devices_and_turns(17_000) {
        conforms_for::<u8>(rung, &device, &turns);
        conforms_for::<u16>(rung, &device, &turns);
        conforms_for::<f32>(rung, &device, &turns);
        conforms_for::<f64>(rung, &device, &turns);
    }
}

macro_rules! suite {
    ($($test:ident: $rung:ident;)*) => {
        $(#[test] fn $test() { conforms(TransposeRung::$rung); })*

        #[test]
        fn every_rung_is_in_the_suite() {
            assert_eq!(TransposeRung::ALL, [$(TransposeRung::$rung),*]);
        }
    };
}

suite! {
    copy_conforms: Copy;
    copy_tile_conforms: CopyTile;
    naive_conforms: Naive;
    tile_conforms: Tile;
    padded_conforms: Padded;
    vectorised_conforms: Vectorised;
}

/// Tests numbers whose bits a floating-point unit could change. These are quiet and signalling NaNs with payloads, −0,
/// and subnormals.
#[test]
fn floats_arrive_bit_for_bit() {
    let size = Size { width: 3, height: 2 };
    let singles = [0x7fc0_1234, 0xffa0_0001, 0x8000_0000, 1, 0x7f80_0000, 0x7f80_0001].map(f32::from_bits);
    let doubles =
        [0x7ff8_0000_dead_beef, 0xfff4_0000_0000_0001, 1 << 63, 1, 0x7ff0_0000_0000_0000, 0x7ff0_0000_0000_0001]
            .map(f64::from_bits);
    for device in all_devices() {
        for &rung in TransposeRung::ALL {
            assert_same(&run(&device, rung, size, &singles), &expected(rung, size, &singles), rung);
            assert_same(&run(&device, rung, size, &doubles), &expected(rung, size, &doubles), rung);
        }
    }
}

#[test]
fn any_plain_data_of_a_width_is_moved() {
    let size = Size { width: 37, height: 41 };
    for device in all_devices() {
        let (x, y) = (matrix::<[u8; 4]>(size, 5), matrix::<u64>(size, 6));
        for &rung in TransposeRung::ALL {
            assert_same(&run(&device, rung, size, &x), &expected(rung, size, &x), rung);
            assert_same(&run(&device, rung, size, &y), &expected(rung, size, &y), rung);
        }
    }
}

/// Tests grids that distribute the rows of tiles over y and z in several ways. Blocks without a tile must do nothing.
#[test]
fn any_grid_that_covers_the_matrix_gives_the_same() {
    let size = Size { width: 100, height: 227 };
    let Size { width, height } = size;
    let x = matrix::<u16>(size, 3);
    let result = reference::transpose(size, &x);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        for grid in [(4, 8, 1), (4, 1, 8), (4, 3, 3), (7, 11, 1)] {
            let config = LaunchConfig::new(grid, (32, 8));
            macro_rules! check {
                ($($kernel:ident gives $expected:expr;)*) => {$({
                    let mut y = device.zeroed::<u16>(x.len()).unwrap();
                    device.launch(config, $kernel(dx.view(), y.view_mut(), width, height)).unwrap();
                    let what = format!("{} on a grid of {grid:?}", stringify!($kernel));
                    assert_same(&y.download().unwrap(), $expected, what);
                })*};
            }
            check! {
                transpose_copy gives &x;
                transpose_copy_tile gives &x;
                transpose_naive gives &result;
                transpose_tile gives &result;
                transpose_padded gives &result;
            }
        }
    }
}

/// Tests grids of the last rung that distribute the columns of tiles over y and z in several ways. Blocks without a
/// tile must do nothing.
#[test]
fn any_grid_that_covers_the_matrix_gives_the_same_in_the_last_rung() {
    fn check(is_aligned: bool, size: Size) {
        let Size { width, height } = size;
        let x = matrix::<u32>(size, 3);
        let result = reference::transpose(size, &x);
        let planned = plan::<u32>(TransposeRung::Vectorised, size);
        assert_eq!(planned.is_aligned, is_aligned);
        let threads = planned.config.block;
        let Dim3 { x: rows, y: columns, .. } = planned.config.grid;
        assert!(rows >= 2 && columns >= 3, "{planned:?}");
        for device in all_devices() {
            let dx = device.upload(&x).unwrap();
            for grid in
                [(rows, 1, columns), (rows + 1, columns + 2, 1), (rows, 2, columns.div_ceil(2)), (rows, 3, columns)]
            {
                let mut y = device.zeroed::<u32>(x.len()).unwrap();
                let config = LaunchConfig::new(grid, threads);
                match is_aligned {
                    true => device.launch(config, transpose_vectorised(dx.view(), y.view_mut(), width, height)),
                    false => device.launch(config, transpose_unaligned(dx.view(), y.view_mut(), width, height)),
                }
                .unwrap();
                assert_same(&y.download().unwrap(), &result, format!("{size} on a grid of {grid:?}"));
            }
        }
    }
    check(true, Size { width: 388, height: 260 });
    check(false, Size { width: 263, height: 259 });
}

/// Tests the last rung on matrices with many tiles in a column, the last of which is partial. Also tests matrices with
/// tiles that touch no edge.
#[test]
fn the_last_rung_covers_tall_and_wide_matrices() {
    fn check<T: Bits>(device: &Device, turns: &Turns) {
        let sizes =
            [(40, 11 * 64 + 4), (48, 800), (131, 400), (270, 270), (700, 19 * 64 + 1), (33, 32 * 32), (1, 5000)];
        for (width, height) in sizes.into_iter().filter(|(width, height)| turns.takes(width * height)) {
            let size = Size { width, height };
            let x = matrix::<T>(size, 8);
            let (found, expected) = (run(device, TransposeRung::Vectorised, size, &x), reference::transpose(size, &x));
            assert_same(&found, &expected, format!("{size}, {}", std::any::type_name::<T>()));
        }
    }
    for (device, turns) in devices_and_turns(80_000) {
        let checks = [check::<u8>, check::<u16>, check::<f32>, check::<f64>];
        checks.iter().for_each(|check| check(&device, &turns));
    }
}

/// Tests views that start at any element of their buffers, and rows and columns that start anywhere in a sector. Every
/// element must be transposed, and the kernel must not write outside the view.
#[test]
fn views_may_begin_at_any_element() {
    fn check<T: Bits + MovedBits>(on: &(Device, Turns), sizes: &[(usize, usize)], offsets: &[(usize, usize)])
    where
        transpose_unaligned<T>: Kernel,
    {
        check_views(on, sizes, offsets, unaligned_plan::<T>, transpose_unaligned::<T>);
    }
    let small = [(1, 1), (1, 37), (37, 1), (2, 3), (3, 2), (31, 33), (16, 16)];
    let offsets = [(0, 0), (1, 0), (0, 1), (1, 2), (2, 1), (3, 3), (5, 7), (9, 31), (17, 13)];
    let tall = [(125, 300), (64, 288), (127, 290), (66, 301)];
    for on in devices_and_turns(usize::MAX) {
        check::<u8>(&on, &small, &offsets);
        check::<u16>(&on, &small, &offsets);
        check::<u32>(&on, &small, &offsets);
        check::<u64>(&on, &small, &offsets);
        check::<u8>(&on, &tall, &[(1, 3), (30, 0), (3, 18)]);
        check::<u16>(&on, &tall, &[(1, 3), (2, 15)]);
        check::<u32>(&on, &tall, &[(1, 7), (3, 2)]);
        check::<u64>(&on, &tall, &[(1, 3), (0, 1)]);
    }
}

#[test]
fn lengths_must_match() {
    let device = simulated(0);
    let x = device.upload(&[1.0; 12]).unwrap();
    for (width, height, len, parts) in [
        (3, 5, 12, ["3 x 5", "15 elements", "x has 12"]),
        (3, 4, 11, ["3 x 4", "12 elements", "y has 11"]),
        (usize::MAX, 2, 12, ["18446744073709551615 x 2", "elements", "x has 12"]),
        (0, 4, 12, ["0 x 4", "0 elements", "x has 12"]),
    ] {
        let mut y = device.upload(&vec![1.0; len]).unwrap();
        for &rung in TransposeRung::ALL {
            let error = transpose(&device, rung, Size { width, height }, &x, &mut y).unwrap_err();
            assert!(matches!(error, AlgorithmError::SizeMismatch { .. }), "{error}");
            for part in parts {
                assert!(error.to_string().contains(part), "{part}: {error}");
            }
        }
    }
}

/// Tests that the kernels reject views whose size is not the size of the matrix. The kernels must check this, because
/// their accesses are unchecked.
#[test]
fn a_kernel_refuses_views_that_are_no_such_matrix() {
    let device = simulated(0);
    let x = device.upload(&[1_u32; 17]).unwrap();
    let mut y = device.upload(&[1_u32; 17]).unwrap();
    let config = LaunchConfig::new(1, 512);
    let mut refused = |from, to, n, width, height| {
        let call = transpose_vectorised(x.view().part(from, 16), y.view_mut().part(to, n), width, height);
        let message = device.launch(config, call).unwrap_err().to_string();
        assert!(message.contains("transpose_vectorised_u32") && message.contains("vectorised.rs:"), "{message}");
    };
    refused(0, 0, 15, 4, 4);
    refused(0, 0, 16, 4, 5);
    // In each of these cases one thing is unaligned: the address of a view, the length of the rows, or the length of
    // the columns.
    refused(1, 0, 16, 4, 4);
    refused(0, 1, 16, 4, 4);
    refused(0, 0, 16, 2, 8);
    refused(0, 0, 16, 8, 2);
    let call = transpose_unaligned(x.view().part(0, 12), y.view_mut().part(0, 11), 3, 4);
    let message = device.launch(config, call).unwrap_err().to_string();
    assert!(message.contains("transpose_unaligned_u32") && message.contains("unaligned/mod.rs:"), "{message}");
}

#[test]
fn a_kernel_refuses_blocks_of_another_shape() {
    let device = simulated(0);
    let x = device.upload(&[1_u32; 12]).unwrap();
    let mut y = device.upload(&[1_u32; 12]).unwrap();
    macro_rules! check {
        ($($kernel:ident)*) => {$(
            for block in [(32, 4), (8, 32), (256, 1)] {
                let call = $kernel(x.view(), y.view_mut(), 3, 4);
                assert!(device.launch(LaunchConfig::new(1, block), call).is_err(), "{}, {block:?}", stringify!($kernel));
            }
        )*};
    }
    check! { transpose_copy transpose_copy_tile transpose_naive transpose_tile transpose_padded }
    for block in [(256, 1), (32, 16)] {
        let call = transpose_unaligned(x.view(), y.view_mut(), 3, 4);
        assert!(device.launch(LaunchConfig::new(1, block), call).is_err(), "{block:?}");
        let (x, mut y) = (device.upload(&[1_u32; 16]).unwrap(), device.upload(&[1_u32; 16]).unwrap());
        let call = transpose_vectorised(x.view(), y.view_mut(), 4, 4);
        assert!(device.launch(LaunchConfig::new(1, block), call).is_err(), "{block:?}");
    }
}

fn twice<T: Bits>(rung: TransposeRung, size: Size, seed: u64) -> Result<(), TestCaseError> {
    let device = simulated(seed);
    let bits = |data: &[T]| data.iter().map(|value| value.bits()).collect::<Vec<_>>();
    let x = matrix::<T>(size, seed);
    let y = run(&device, rung, size, &x);
    prop_assert_eq!(bits(&y), bits(&expected(rung, size, &x)));
    let turned = if is_transpose(rung) { Size { width: size.height, height: size.width } } else { size };
    prop_assert_eq!(bits(&run(&device, rung, turned, &y)), bits(&x));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn transposing_twice_is_the_identity(
        width in 0_usize..200,
        height in 0_usize..200,
        // For sizes of whole vectors, the kernel uses another code path.
        vectors in any::<bool>(),
        rung in prop::sample::select(TransposeRung::ALL),
        element in 0..6,
        seed in any::<u64>(),
    ) {
        let whole = |side: usize| if vectors { side / 16 * 16 } else { side };
        let size = Size { width: whole(width), height: whole(height) };
        match element {
            0 => twice::<u8>(rung, size, seed)?,
            1 => twice::<u16>(rung, size, seed)?,
            2 => twice::<u32>(rung, size, seed)?,
            3 => twice::<u64>(rung, size, seed)?,
            4 => twice::<f32>(rung, size, seed)?,
            _ => twice::<f64>(rung, size, seed)?,
        }
    }
}
