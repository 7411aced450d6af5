//! Tests every algorithm's kernels at random sizes with checks, in random orders of every kind. The checker must report
//! no fault, and the result must be correct.

use cuda_std::Ladder;
use gpu::operator::Sum;
use gridstride::Size;
use gridstride::reduce::{Plan, ReduceRung, Reducer};
use gridstride::saxpy::{SaxpyRung, saxpy};
use gridstride::scan::{ScanKind, ScanRung, scan};
use gridstride::transpose::{TransposeRung, is_transpose, transpose};
use launch::Device;
use life::{Board, LifeRung, Simulation, reference as life_reference};
use proptest::prelude::*;
use simt::{Checks, Schedule};
use tests::{CHECKED_PER_INPUT, STRICT, checked, devices_and_turns};
use workbench::scan::reference as scan_reference;
use workbench::transpose::reference as transpose_reference;

/// Returns a strategy for pairs of an order and a boolean. The order is of any kind. The boolean is true for strict
/// checks.
fn devices() -> impl Strategy<Value = (Schedule, bool)> {
    let schedule = (0..7, 1..u64::MAX).prop_map(|(kind, seed)| match kind {
        0 => Schedule::Natural,
        1 => Schedule::LastFirst,
        2 => Schedule::Random(seed),
        3 => Schedule::OneAhead(seed),
        4 => Schedule::OneBehind(seed),
        5 => Schedule::EveryAccess(seed),
        _ => Schedule::Interleaved(seed),
    });
    (schedule, any::<bool>())
}

fn open((schedule, is_strict): (Schedule, bool)) -> Device {
    checked(schedule, if is_strict { STRICT } else { Checks::default() })
}

fn numbers(n: usize, seed: u32) -> Vec<i32> {
    (0..n as u32).map(|i| (i.wrapping_add(seed).wrapping_mul(2_654_435_761) >> 12) as i32 - 500_000).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn saxpy_is_right(device in devices(), n in 0_usize..3000, kernel in prop::sample::select(SaxpyRung::ALL)) {
        let device = open(device);
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.upload(&vec![1.0; n]).unwrap());
        saxpy(&device, kernel, 2.0, &dx, &mut dy).unwrap();
        prop_assert!(dy.download().unwrap().iter().zip(&x).all(|(&y, &x)| y == 2.0 * x + 1.0));
    }

    #[test]
    fn sums_are_right(
        device in devices(), n in 0_usize..6000, power in 0_u32..=10, seed: u32,
        kernel in prop::sample::select(ReduceRung::ALL),
    ) {
        let (device, x) = (open(device), numbers(n, seed));
        let plan = Plan::with_block(kernel, n, 4, 1 << power);
        let mut reduction = Reducer::<i32, Sum>::with_plan(&device, plan).unwrap();
        let expected = x.iter().fold(0_i32, |sum, &x| sum.wrapping_add(x));
        let x = device.upload(&x).unwrap();
        prop_assert_eq!([(); 2].map(|()| reduction.reduce(&x).unwrap()), [expected; 2]);
    }

    #[test]
    fn sums_of_any_grid_are_right(device in devices(), n in 0_usize..20_000, blocks in 1_u32..30, power in 0_u32..=9) {
        let (device, x) = (open(device), numbers(n, blocks));
        let mut reduction = Reducer::<i32, Sum>::with_plan(&device, Plan::grid_stride(n, 4, blocks, 1 << power)).unwrap();
        let expected = x.iter().fold(0_i32, |sum, &x| sum.wrapping_add(x));
        prop_assert_eq!(reduction.reduce(&device.upload(&x).unwrap()).unwrap(), expected);
    }

    #[test]
    fn sums_of_one_tile_a_block_are_right(device in devices(), n in 0_usize..50_000, seed: u32) {
        let (device, x) = (open(device), numbers(n, seed));
        let mut reduction = Reducer::<i32, Sum>::with_plan(&device, Plan::one_tile(n, 4).unwrap()).unwrap();
        let expected = x.iter().fold(0_i32, |sum, &x| sum.wrapping_add(x));
        let x = device.upload(&x).unwrap();
        prop_assert_eq!([(); 2].map(|()| reduction.reduce(&x).unwrap()), [expected; 2]);
    }

    #[test]
    fn scans_are_right(
        device in devices(), n in 0_usize..3000, seed: u32, is_exclusive: bool,
        kernel in prop::sample::select(ScanRung::ALL),
    ) {
        let kind = if is_exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive };
        // The single-pass rungs scan several tiles. The rung for one block scans at most the elements of its block.
        let n = match kernel {
            ScanRung::LookBack | ScanRung::Pipelined => 20 * n,
            ScanRung::NaiveBlock => n / 3,
            _ => n,
        };
        let (device, x) = (open(device), numbers(n, seed));
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(n).unwrap());
        scan(&device, kernel, kind, &dx, &mut dy, Sum).unwrap();
        prop_assert!(dy.download().unwrap() == scan_reference::scan::<_, Sum>(kind, &x), "{}", kernel);
    }

    #[test]
    fn transposes_are_right(
        device in devices(), width in 0_usize..150, height in 0_usize..150, is_of_vectors: bool,
        kernel in prop::sample::select(TransposeRung::ALL),
    ) {
        let round = if is_of_vectors { 16 } else { 1 };
        let size = Size { width: width / round * round, height: height / round * round };
        let (device, x) = (open(device), numbers(size.width * size.height, 1));
        let (dx, mut dy) = (device.upload(&x).unwrap(), device.alloc(x.len()).unwrap());
        transpose(&device, kernel, size, &dx, &mut dy).unwrap();
        let expected = if is_transpose(kernel) { transpose_reference::transpose(size, &x) } else { x };
        prop_assert!(dy.download().unwrap() == expected, "{}", kernel);
    }

    #[test]
    fn life_is_right(
        device in devices(), width in 1_usize..80, height in 1_usize..40, generations in 0_u64..6, seed: u64,
        kernel in prop::sample::select(LifeRung::ALL.to_vec()),
    ) {
        let soup = Board::random(width, height, 0.4, seed).unwrap();
        let mut life = Simulation::new(&open(device), kernel, &soup).unwrap();
        life.advance(generations).unwrap();
        prop_assert_eq!(life.board().unwrap(), life_reference::advance(&soup, generations), "{}", kernel);
    }
}

/// Tests that every input and every order is used when devices share the inputs. The suites rely on this.
#[test]
fn each_input_has_two_orders_and_each_order_its_inputs() {
    let is_whole = std::env::var_os("GRIDSTRIDE_TEST_ALL_ORDERS").is_some();
    let devices: Vec<_> = devices_and_turns(100).collect();
    let (checked, free): (Vec<_>, Vec<_>) =
        devices.iter().partition(|(device, _)| device.summary().contains("that checks"));
    let mut taken = vec![0; checked.len()];
    for size in [1, 2, 101, 3, 4, 5, 6, 100, 7, 8, 9] {
        let free = free.iter().filter(|(_, turns)| turns.takes(size)).count();
        assert!(free >= 2, "the natural order and another");
        let takers: Vec<usize> = (0..checked.len()).filter(|&i| checked[i].1.takes(size)).collect();
        let expected = match size {
            101 => 0,
            _ if is_whole => checked.len(),
            _ => CHECKED_PER_INPUT,
        };
        assert_eq!(takers.len(), expected, "{size}");
        takers.into_iter().for_each(|i| taken[i] += 1);
    }
    // Ten inputs are small enough, which is one more than the number of checked devices.
    assert!(taken.iter().all(|&times| times >= CHECKED_PER_INPUT), "{taken:?}");
}
