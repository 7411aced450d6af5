//! Tests the kernels that the last rung of transpose uses only for some sizes. The tests cover views that start at any
//! element, and the smallest sizes for which each kernel is launched.

use cuda_std::{Global, GlobalMut, Ladder};
use gpu::transpose::{
    Bits as MovedBits, transpose_gathered, transpose_plain, transpose_unaligned, transpose_vectorised,
};
use gridstride::Size;
use gridstride::transpose::{Plan, TransposeRung, gathered_plan, plain_plan, plan};
use launch::{Call, Device, Kernel, LaunchConfig};
use tests::{Turns, devices_and_turns, simulated};
use workbench::transpose::reference;

use super::transpose::{Bits, SIZES, assert_same, matrix, run};

/// Tests `kernel` on matrices of `sizes`. `offsets` contains the indices in the buffers at which the views of input and
/// output start.
pub(super) fn check_views<T: Bits + MovedBits>(
    (device, turns): &(Device, Turns),
    sizes: &[(usize, usize)],
    offsets: &[(usize, usize)],
    plan: fn(Size) -> Plan,
    kernel: impl for<'a> Fn(Global<'a, T>, GlobalMut<'a, T>, usize, usize) -> Call<'a>,
) {
    for &(width, height) in sizes {
        let (size, n) = (Size { width, height }, width * height);
        for &(from, to) in offsets.iter().filter(|_| turns.takes(n)) {
            let x = matrix::<T>(Size { width: n + from + 3, height: 1 }, 11);
            let before = matrix::<T>(Size { width: n + to + 5, height: 1 }, 12);
            let (dx, mut dy) = (device.upload(&x).unwrap(), device.upload(&before).unwrap());
            let call = kernel(dx.view().part(from, n), dy.view_mut().part(to, n), width, height);
            device.launch(plan(size).config, call).unwrap();
            let y = dy.download().unwrap();
            let what = format!("{size}, {}, from {from} to {to}", std::any::type_name::<T>());
            assert_same(&y[..to], &before[..to], format!("before {what}"));
            assert_same(&y[to..to + n], &reference::transpose(size, &x[from..from + n]), &what);
            assert_same(&y[to + n..], &before[to + n..], format!("behind {what}"));
        }
    }
}

/// Tests the kernel `transpose_gathered` on sizes near its tiles, and on views that start at many positions in a
/// vector. The tiles have 241 or 249 columns and 128 or 64 rows.
#[test]
fn large_matrices_of_bytes_and_halves_are_gathered() {
    let small = [(1, 1), (1, 37), (37, 1), (2, 3), (17, 16), (31, 33), (16, 16), (1, 200), (260, 2)];
    let offsets = [(0, 0), (1, 0), (0, 1), (1, 2), (2, 1), (3, 3), (5, 7), (9, 31), (17, 13), (15, 16)];
    let large = [(241, 260), (242, 300), (263, 129), (500, 289)];
    for on in devices_and_turns(usize::MAX) {
        check_views(&on, &small, &offsets, gathered_plan::<u8>, transpose_gathered::<u8>);
        check_views(&on, &small, &offsets, gathered_plan::<u16>, transpose_gathered::<u16>);
        check_views(&on, &large, &[(1, 3), (30, 0), (0, 18)], gathered_plan::<u8>, transpose_gathered::<u8>);
        check_views(&on, &large, &[(1, 3), (2, 15), (0, 0)], gathered_plan::<u16>, transpose_gathered::<u16>);
    }
    // These views cover every position at which a row and a column may start.
    let on = devices_and_turns(usize::MAX).next().unwrap();
    for width in 484..500 {
        let places = [(width % 7, width % 32)];
        check_views(&on, &[(width, 385 + width % 16)], &places, gathered_plan::<u8>, transpose_gathered::<u8>);
        check_views(&on, &[(width + 16, 193 + width % 8)], &places, gathered_plan::<u16>, transpose_gathered::<u16>);
    }
}

/// Tests the kernel `transpose_plain` on sizes near its tiles, which have 64, 32 or 16 columns and 64 or 32 rows.
#[test]
fn plain_tiles_conform() {
    fn check<const THREADS: usize>(on: &(Device, Turns))
    where
        transpose_plain<u32, THREADS>: Kernel,
        transpose_plain<u64, THREADS>: Kernel,
    {
        let sizes = [(1, 1), (1, 37), (37, 1), (31, 33), (32, 32), (64, 32), (65, 33), (63, 64), (33, 65), (130, 97)];
        let words = transpose_plain::<u32, THREADS>;
        check_views(on, &sizes, &[(0, 0), (1, 2), (3, 1)], plain_plan::<u32, THREADS>, words);
        check_views(on, &sizes, &[(0, 0), (1, 0)], plain_plan::<u64, THREADS>, transpose_plain::<u64, THREADS>);
    }
    for on in devices_and_turns(usize::MAX) {
        check::<128>(&on);
        check::<256>(&on);
        check::<512>(&on);
    }
}

/// Tests elements of 4 and 8 bytes with the kernels that the last rung uses only for large matrices.
#[test]
fn vectors_of_words_conform() {
    fn check<T: Bits + MovedBits>(on: &(Device, Turns))
    where
        transpose_vectorised<T>: Kernel,
        transpose_unaligned<T>: Kernel,
    {
        let sizes = SIZES.into_iter().filter(|(width, height)| width * height > 0);
        let is_aligned =
            |&(width, height): &(usize, usize)| plan::<T>(TransposeRung::LAST, Size { width, height }).is_aligned;
        let (aligned, others): (Vec<_>, Vec<_>) =
            sizes.chain([(40, 708), (700, 1217), (1, 5000)]).partition(is_aligned);
        let planned = |size| plan::<T>(TransposeRung::LAST, size);
        check_views(on, &aligned, &[(0, 0)], planned, transpose_vectorised::<T>);
        check_views(on, &others, &[(0, 0)], planned, transpose_unaligned::<T>);
    }
    for on in devices_and_turns(17_000) {
        check::<u32>(&on);
        check::<u64>(&on);
    }
}

/// Tests the last rung at the smallest sizes for which it launches each of its kernels.
#[test]
fn the_last_rung_takes_large_matrices() {
    fn check<T: Bits>(width: usize, height: usize) {
        let size = Size { width, height };
        let x = matrix::<T>(size, 8);
        let found = run(&simulated(0), TransposeRung::Vectorised, size, &x);
        assert_same(&found, &reference::transpose(size, &x), format!("{size}, {}", std::any::type_name::<T>()));
    }
    check::<u8>(2049, 2051);
    check::<u16>(1449, 1451);
    check::<u32>(2048, 2049);
    check::<u32>(1345, 1346);
    check::<u64>(1345, 1346);
    check::<u64>(3585, 3585);
}

#[test]
fn they_refuse_views_and_blocks_that_they_are_not_for() {
    let device = simulated(0);
    let (x, mut y) = (device.upload(&[1_u32; 12]).unwrap(), device.upload(&[1_u32; 12]).unwrap());
    let (bytes, mut to) = (device.upload(&[1_u8; 12]).unwrap(), device.upload(&[1_u8; 12]).unwrap());
    for (block, len, height) in [(512, 12, 4), (256, 11, 4), (256, 12, 5)] {
        let config = LaunchConfig::new(1, block);
        let call = transpose_plain::<_, 256>(x.view(), y.view_mut().part(0, len), 3, height);
        assert!(device.launch(config, call).is_err(), "plain: {block} threads, {len} elements, {height} rows");
        let call = transpose_gathered(bytes.view(), to.view_mut().part(0, len), 3, height);
        assert!(device.launch(config, call).is_err(), "gathered: {block} threads, {len} elements, {height} rows");
    }
}
