//! Tests faulty kernels that are modelled on this project's algorithms. In every order, each kernel must be reported
//! with the correct lines and arrays. The rung without the fault must succeed.

use cuda_std::{Global, GlobalMut};
use gpu::faults::{self, *};
use gpu::operator::Sum;
use gridstride::Size;
use gridstride::reduce::{Plan, ReduceRung, Reducer};
use gridstride::scan::{ScanKind, ScanRung, scan};
use gridstride::transpose::{TransposeRung, transpose};
use launch::{Device, LaunchConfig};
use tests::reports::{Kind, Marked, assert_reported};
use tests::sums::{numbers, sum, total};
use workbench::scan::reference as scan_reference;
use workbench::transpose::reference as transpose_reference;

macro_rules! sources {
    ($($name:ident $file:literal;)*) => {
        $(const $name: Marked = Marked { file: $file, text: include_str!(concat!("../../../gpu/src/faults/", $file)) };)*
    };
}

sources! {
    BARRIERS "barriers.rs";
    COPIES "copies.rs";
    FLAGS "flags.rs";
    INITIALISATION "initialisation.rs";
    SHUFFLE "shuffle.rs";
    TICKET "ticket.rs";
    TILE "tile.rs";
    TILE_REUSE "tile_reuse.rs";
    VECTORS "vectors.rs";
}

#[test]
fn a_transpose_without_its_barrier() {
    let size = 2 * faults::TILE;
    let x: Vec<u32> = (0..(size * size) as u32).collect();
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&x)?, device.zeroed(x.len())?);
        let block = (faults::TILE as u32, faults::TILE as u32);
        device.launch(LaunchConfig::new((2, 2), block), tile_unsynchronised(dx.view(), dy.view_mut(), size))
    };
    assert_reported(faulty, (Kind::Race, "tile", TILE, &["read", "write"]), |device| {
        let size = Size { width: size, height: size };
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed(x.len()).unwrap());
        transpose(device, TransposeRung::Tile, size, &dx, &mut dy).unwrap();
        assert_eq!(dy.download().unwrap(), transpose_reference::transpose(size, &x));
    });
}

/// Asserts that the pipelined scan is correct on several tiles. The kernel copies one tile while it processes another
/// one.
fn pipelined_is_right(device: &Device) {
    let x = numbers(30_000);
    let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(x.len()).unwrap());
    scan(device, ScanRung::Pipelined, ScanKind::Inclusive, &dx, &mut dy, Sum).unwrap();
    assert!(dy.download().unwrap() == scan_reference::scan::<_, Sum>(ScanKind::Inclusive, &x));
}

#[test]
fn asynchronous_copies_without_a_wait() {
    let faulty = |device: &Device| {
        let n = 4 * faults::THREADS * 3;
        let (dx, mut dy) = (device.upload(&vec![7; n])?, device.zeroed(n)?);
        device.launch(LaunchConfig::new(1, 64), copies_not_waited_for(dx.view(), dy.view_mut()))
    };
    assert_reported(
        faulty,
        (Kind::Uninitialised, "vectors", COPIES, &["early copy", "early read"]),
        pipelined_is_right,
    );
}

#[test]
fn asynchronous_copies_to_where_others_read() {
    let faulty = |device: &Device| {
        let n = 4 * faults::THREADS * 2;
        let (dx, mut dy) = (device.upload(&vec![7; n])?, device.zeroed(n)?);
        device.launch(LaunchConfig::new(1, 64), copies_over_reads(dx.view(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::Race, "vectors", COPIES, &["copy", "read"]), pipelined_is_right);
}

#[test]
fn a_tile_that_is_filled_again_too_early() {
    let run = |device: &Device, tiles: usize| {
        let (dx, mut dy) = (device.upload(&vec![7; 96 * tiles])?, device.zeroed(96 * tiles)?);
        device.launch(LaunchConfig::new(1, 96), tile_reused(dx.view(), dy.view_mut()))
    };
    let x = numbers(1000);
    assert_reported(
        |device| run(device, 3),
        (Kind::Race, "tile", TILE_REUSE, &["read", "write"]),
        |device| {
            // If there is only one tile, no memory is reused, and there is no fault.
            run(device, 1).unwrap();
            let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(1).unwrap());
            let call = gpu::reduce::reduce_interleaved::<i32, Sum>(1000, dx.view(), dy.view_mut());
            device.launch(LaunchConfig::new(1, 64), call).unwrap();
            assert_eq!(dy.download().unwrap(), [total(&x)]);
        },
    );
}

/// Asserts that the transpose of a matrix with partial tiles is correct. Threads without elements must reach the
/// barrier, too.
fn a_cut_tile_is_right(device: &Device) {
    let (size, x) = (Size { width: 37, height: 19 }, numbers(37 * 19));
    let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed(x.len()).unwrap());
    transpose(device, TransposeRung::Tile, size, &dx, &mut dy).unwrap();
    assert_eq!(dy.download().unwrap(), transpose_reference::transpose(size, &x));
}

#[test]
fn a_barrier_that_some_threads_do_not_reach() {
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&[1; 100])?, device.zeroed(100)?);
        device.launch(LaunchConfig::new(2, 64), barrier_in_branch(dx.view(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::BarrierNotReached, "", BARRIERS, &["barrier"]), a_cut_tile_is_right);
}

#[test]
fn two_barriers_where_there_should_be_one() {
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&[1; 64])?, device.zeroed(64)?);
        device.launch(LaunchConfig::new(1, 64), barriers_of_branches(dx.view(), dy.view_mut()))
    };
    let expected =
        (Kind::BarrierMismatch, "", BARRIERS, &["barrier of the lower half", "barrier of the upper half"][..]);
    assert_reported(faulty, expected, a_cut_tile_is_right);
}

#[test]
fn one_line_of_a_barrier_by_two_calls() {
    let faulty = |device: &Device| {
        let mut dy = device.zeroed(64)?;
        device.launch(LaunchConfig::new(1, 64), barrier_of_two_calls(dy.view_mut()))
    };
    let expected = (Kind::BarrierApart, "", BARRIERS, &["call of the first lane", "call of the others"][..]);
    assert_reported(faulty, expected, a_cut_tile_is_right);
}

#[test]
fn one_line_of_a_barrier_in_two_iterations() {
    let faulty = |device: &Device| {
        let mut dy = device.zeroed(64)?;
        device.launch(LaunchConfig::new(1, 64), barrier_skipped(dy.view_mut()))
    };
    assert_reported(faulty, (Kind::BarrierApart, "", BARRIERS, &["rounds", "rounds"]), a_cut_tile_is_right);
}

#[test]
fn a_shuffle_that_names_lanes_which_do_not_come() {
    let x = numbers(32);
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&[1; 32])?, device.zeroed(1)?);
        device.launch(LaunchConfig::new(1, 32), shuffle_outside_mask(dx.view(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::WarpMismatch, "", SHUFFLE, &["shuffle", "elsewhere"]), |device| {
        assert_eq!(sum(device, ReduceRung::Shuffle, &x, 32), total(&x));
    });
}

/// Asserts that the single-pass scan is correct on several tiles.
fn look_back_is_right(device: &Device) {
    let x = numbers(9000);
    let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(x.len()).unwrap());
    scan(device, ScanRung::LookBack, ScanKind::Inclusive, &dx, &mut dy, Sum).unwrap();
    assert!(dy.download().unwrap() == scan_reference::scan::<_, Sum>(ScanKind::Inclusive, &x));
}

#[test]
fn a_flag_before_its_value() {
    let faulty = |device: &Device| {
        let (mut ticket, mut flags, mut sums) = (device.zeroed(1)?, device.zeroed(9)?, device.zeroed(9)?);
        let call = flag_before_value(ticket.view_mut(), flags.view_mut(), sums.view_mut());
        device.launch(LaunchConfig::new(9, 32), call)
    };
    assert_reported(faulty, (Kind::Race, "sums", FLAGS, &["early read", "late write"]), look_back_is_right);
}

#[test]
fn a_flag_without_release() {
    let faulty = |device: &Device| {
        let (mut ticket, mut flags, mut sums) = (device.zeroed(1)?, device.zeroed(9)?, device.zeroed(9)?);
        let call = flag_relaxed(ticket.view_mut(), flags.view_mut(), sums.view_mut());
        device.launch(LaunchConfig::new(9, 32), call)
    };
    assert_reported(faulty, (Kind::Race, "sums", FLAGS, &["relaxed read", "relaxed write"]), |device| {
        let (mut ticket, mut flags) = (device.zeroed(1).unwrap(), device.zeroed(9).unwrap());
        let mut sums = device.alloc(9).unwrap();
        let call = gpu::device_library::hand_over(ticket.view_mut(), flags.view_mut(), sums.view_mut());
        device.launch(LaunchConfig::new(9, 32), call).unwrap();
        assert_eq!(sums.download().unwrap(), [0, 1, 3, 6, 10, 15, 21, 28, 36]);
    });
}

#[test]
fn a_ticket_without_fences() {
    let x = numbers(3000);
    let faulty = |device: &Device| {
        let (dx, mut ticket) = (device.upload(&[1; 100])?, device.zeroed(1)?);
        let (mut partials, mut y) = (device.alloc(7)?, device.alloc(1)?);
        let call = ticket_without_fences(dx.view(), partials.view_mut(), ticket.view_mut(), y.view_mut());
        device.launch(LaunchConfig::new(7, 32), call)
    };
    assert_reported(faulty, (Kind::Race, "partials", TICKET, &["read", "write"]), |device| {
        let plan = Plan::grid_stride(x.len(), 4, 7, 32);
        let mut reduction = Reducer::<i32, Sum>::with_plan(device, plan).unwrap();
        assert_eq!(reduction.reduce(&device.upload(&x).unwrap()).unwrap(), total(&x));
    });
}

#[test]
fn double_checked_initialisation() {
    let faulty = |device: &Device| {
        let (mut state, mut value, mut y) = (device.zeroed(1)?, device.zeroed(1)?, device.alloc(100)?);
        let call = double_checked(state.view_mut(), value.view_mut(), y.view_mut());
        device.launch(LaunchConfig::new(100, 1), call)
    };
    assert_reported(faulty, (Kind::Race, "value", INITIALISATION, &["read", "write"]), |device| {
        let (mut ticket, mut flags) = (device.zeroed(1).unwrap(), device.zeroed(100).unwrap());
        let mut sums = device.alloc(100).unwrap();
        let call = gpu::device_library::hand_over(ticket.view_mut(), flags.view_mut(), sums.view_mut());
        device.launch(LaunchConfig::new(100, 1), call).unwrap();
        assert_eq!(sums.download().unwrap()[99], 4950);
    });
}

#[test]
fn vectors_that_are_not_aligned() {
    let x: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let run = |device: &Device, first: usize| {
        let (dx, mut dy) = (device.upload(&(0..300).collect::<Vec<u32>>())?, device.alloc(256)?);
        device.launch(LaunchConfig::new(2, 32), vectors_misaligned(dx.view(), dy.view_mut(), first))?;
        dy.download()
    };
    let faulty = |device: &Device| run(device, 3).map(drop);
    assert_reported(faulty, (Kind::Misaligned, "x", VECTORS, &["load"]), |device| {
        assert_eq!(run(device, 4).unwrap(), (4..260).collect::<Vec<u32>>());
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed(x.len()).unwrap());
        let (part_x, part_y): (Global<'_, f32>, GlobalMut<'_, f32>) =
            (dx.view().part(3, 256), dy.view_mut().part(1, 256));
        device.launch(LaunchConfig::new(2, 32), gpu::saxpy::saxpy_vectorised::<f32, 4>(2.0, part_x, part_y)).unwrap();
        assert!((0..256).all(|i| dy.download().unwrap()[1 + i] == 2.0 * x[3 + i]));
    });
}
