//! Tests faulty kernels whose errors are from CUDA textbooks. In every order, each kernel must be reported with the
//! correct lines and arrays. The rung without the fault must succeed.

use gpu::faults::{self, *};
use gpu::operator::Sum;
use gpu::scan::scan_naive_block;
use gridstride::reduce::ReduceRung;
use gridstride::scan::ScanKind;
use launch::{Device, LaunchConfig};
use life::{Board, LifeRung, Simulation, reference as life_reference};
use tests::reports::{Kind, Marked, assert_reported, devices_and_orders};
use tests::sums::{numbers, sum, total};
use workbench::scan::reference as scan_reference;

macro_rules! sources {
    ($($name:ident $file:literal;)*) => {
        $(const $name: Marked = Marked { file: $file, text: include_str!(concat!("../../../gpu/src/faults/", $file)) };)*
    };
}

sources! {
    BOUND "bound.rs";
    LIFE "life.rs";
    PREFIX "prefix.rs";
    TAIL "tail.rs";
    WARP_TAIL "warp_tail.rs";
}

#[test]
fn the_naive_prefix_in_place() {
    let x: Vec<f64> = numbers(100).into_iter().map(f64::from).collect();
    let config = LaunchConfig::new(1, x.len() as u32);
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&x)?, device.zeroed(x.len())?);
        device.launch(config, prefix_in_place(dx.view(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::Race, "sums", PREFIX, &["read", "write"]), |device| {
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.zeroed(x.len()).unwrap());
        device.launch(config, scan_naive_block::<f64, Sum>(dx.view(), dy.view_mut(), 0)).unwrap();
        assert_eq!(dy.download().unwrap(), scan_reference::scan::<_, Sum>(ScanKind::Inclusive, &x));
    });
}

#[test]
fn the_volatile_warp_tail() {
    let x = numbers(512);
    let faulty = |device: &Device| {
        let (mut dx, mut dy) = (device.upload(&x)?, device.zeroed(2)?);
        device.launch(LaunchConfig::new(2, 256), warp_tail_unsynchronised(dx.view_mut(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::Race, "x", WARP_TAIL, &["read", "write"]), |device| {
        assert_eq!(sum(device, ReduceRung::UnrolledLastWarp, &x, 64), total(&x));
    });
}

/// Returns numbers that fill two tiles and a part of a third one.
fn with_a_tail(block: usize) -> Vec<i32> {
    numbers(2 * faults::ITEMS * block + 3 * block / 2)
}

#[test]
fn the_dropped_tail_leaves_a_partial_sum_unwritten() {
    let x = with_a_tail(64);
    let faulty = |device: &Device| {
        // As in the book, there is one partial sum per tile, but there are blocks only for whole tiles.
        let (mut dx, mut partials, mut y) = (device.upload(&x)?, device.alloc(3)?, device.alloc(1)?);
        device.launch(LaunchConfig::new(2, 64), tail_dropped(dx.view_mut(), partials.view_mut()))?;
        device.launch(LaunchConfig::new(1, 1), sum_partials(partials.view(), y.view_mut()))
    };
    assert_reported(faulty, (Kind::Uninitialised, "partials", TAIL, &["partial"]), |device| {
        assert_eq!(sum(device, ReduceRung::Unrolled8, &x, 64), total(&x));
    });
}

#[test]
fn the_dropped_tail_reads_past_the_end_with_a_block_more() {
    let x = numbers(2 * faults::ITEMS * 64 + 40);
    let faulty = |device: &Device| {
        let (mut dx, mut partials) = (device.upload(&x)?, device.alloc(3)?);
        device.launch(LaunchConfig::new(3, 64), tail_dropped(dx.view_mut(), partials.view_mut()))
    };
    assert_reported(faulty, (Kind::OutOfBounds, "x", TAIL, &["tree"]), |device| {
        assert_eq!(sum(device, ReduceRung::Unrolled8, &x, 64), total(&x));
    });
}

/// Tests a fault that access checks cannot find, because the kernel only leaves out elements. The fault is visible in
/// the sum.
#[test]
fn the_dropped_tail_is_seen_in_the_sum() {
    let x = with_a_tail(64);
    for (device, order) in devices_and_orders() {
        let (mut dx, mut partials, mut y) =
            (device.upload(&x).unwrap(), device.alloc(2).unwrap(), device.alloc(1).unwrap());
        device.launch(LaunchConfig::new(2, 64), tail_dropped(dx.view_mut(), partials.view_mut())).unwrap();
        device.launch(LaunchConfig::new(1, 1), sum_partials(partials.view(), y.view_mut())).unwrap();
        let whole: i32 = x[..2 * faults::ITEMS * 64].iter().sum();
        assert_ne!(whole, total(&x));
        assert_eq!(y.download().unwrap(), [whole], "{order}");
    }
}

/// Asserts that a rung of saxpy computes `y = 2·x + y` correctly for `n` elements.
fn saxpy_is_right(device: &Device, n: usize) {
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let (dx, mut dy) = (device.upload(&x).unwrap(), device.upload(&vec![1.0; n]).unwrap());
    let call = gpu::saxpy::saxpy_unrolled::<f32, 4>(2.0, dx.view(), dy.view_mut());
    device.launch(LaunchConfig::new(2, 64), call).unwrap();
    assert!(dy.download().unwrap().iter().zip(&x).all(|(&y, &x)| y == 2.0 * x + 1.0), "{n}");
}

#[test]
fn the_bound_that_wraps() {
    let n = 300;
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&vec![1.0; n])?, device.upload(&vec![1.0; n])?);
        device.launch(LaunchConfig::new(2, 64), bound_wraps(2.0, dx.view(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::OutOfBounds, "x", BOUND, &["read"]), |device| saxpy_is_right(device, n));
}

#[test]
fn the_bound_that_underflows() {
    let n = 300;
    let faulty = |device: &Device| {
        let (dx, mut dy) = (device.upload(&vec![1.0; n])?, device.upload(&vec![1.0; n])?);
        device.launch(LaunchConfig::new(2, 64), bound_underflows(2.0, dx.view(), dy.view_mut()))
    };
    assert_reported(faulty, (Kind::Panic, "", BOUND, &["bound"]), |device| saxpy_is_right(device, n));
}

/// Tests a fault that is not a race: on long vectors, the same threads process the last span of elements four times.
/// The fault is visible in the result.
#[test]
fn the_repeated_tail_is_seen_in_the_result() {
    let span = faults::UNROLL * 2 * 64;
    let n = 3 * span;
    for (device, order) in devices_and_orders() {
        let (dx, mut dy) = (device.upload(&vec![1.0; n]).unwrap(), device.upload(&vec![1.0; n]).unwrap());
        device.launch(LaunchConfig::new(2, 64), bound_underflows(2.0, dx.view(), dy.view_mut())).unwrap();
        let y = dy.download().unwrap();
        assert!(y[..n - span].iter().all(|&y| y == 3.0) && y[n - span..].iter().all(|&y| y == 9.0), "{order}");
        saxpy_is_right(&device, n);
    }
}

/// Asserts that the rungs of Life advance the board `soup` correctly.
fn life_is_right(device: &Device, soup: &Board, generations: u64) {
    for kernel in [LifeRung::Global, LifeRung::Block, LifeRung::Shared] {
        let mut life = Simulation::new(device, kernel, soup).unwrap();
        life.advance(generations).unwrap();
        assert_eq!(life.board().unwrap(), life_reference::advance(soup, generations), "{kernel}");
    }
}

fn cells(board: &Board) -> Vec<u8> {
    let (width, height) = (board.width(), board.height());
    (0..width * height).map(|i| u8::from(board.get(i % width, i / width))).collect()
}

#[test]
fn life_in_place_races() {
    let soup = Board::random(20, 12, 0.4, 1).unwrap();
    for config in [LaunchConfig::new(1, (20, 12)), LaunchConfig::new((5, 3), (4, 4)), LaunchConfig::new(3, 1)] {
        let faulty = |device: &Device| {
            let mut board = device.upload(&cells(&soup))?;
            device.launch(config, life_in_place(board.view_mut(), 20, 12))
        };
        let expected = (Kind::Race, "cells", LIFE, &["read", "write"][..]);
        assert_reported(faulty, expected, |device| life_is_right(device, &soup, 3));
    }
}

#[test]
fn life_in_place_with_barriers_races_between_blocks_alone() {
    let soup = Board::random(16, 16, 0.4, 2).unwrap();
    let run = |device: &Device, grid: (u32, u32), block: (u32, u32)| {
        let mut board = device.upload(&cells(&soup))?;
        device.launch(LaunchConfig::new(grid, block), life_in_place_blocks(board.view_mut(), 16, 16, 3))?;
        board.download()
    };
    let faulty = |device: &Device| run(device, (2, 2), (8, 8)).map(drop);
    let expected = (Kind::Race, "cells", LIFE, &["read of blocks", "write of blocks"][..]);
    assert_reported(faulty, expected, |device| {
        // The launch in the book has one block.
        assert_eq!(run(device, (1, 1), (16, 16)).unwrap(), cells(&life_reference::advance(&soup, 3)));
    });
}

#[test]
fn no_faulty_kernel_is_in_the_program() {
    let listed: Vec<&str> = workbench::catalogue::kernels().map(|kernel| kernel.name).collect();
    let images =
        workbench::MODULES.iter().flat_map(|module| module.images.iter().map(|image| (module.path, image.text())));
    let images: Vec<_> = images.collect();
    for kernel in faults::KERNELS {
        assert!(!listed.contains(&kernel.name), "{}", kernel.name);
        let entry = format!(".entry {}(", kernel.name);
        for (module, text) in &images {
            assert!(!text.contains(&entry), "{} in {module}", kernel.name);
        }
    }
}
