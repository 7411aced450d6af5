//! Tests the kernel of reduce that combines one tile per block. The grid-stride rung launches this kernel for small
//! inputs. Sizes are near multiples of the kernel's tile. Some sizes are larger than the sizes for which plans use the
//! kernel.

use cuda_std::Global;
use gpu::operator::{Min, Sum};
use gpu::reduce::{ONE_TILE_BLOCK, reduce_one_tile, tile_elements};
use gridstride::reduce::{Plan, ReduceElement, Reducer};
use launch::{Device, Error, LaunchConfig};
use proptest::prelude::*;
use tests::reductions::{check, elements};
use tests::{Turns, all_devices, devices, devices_and_turns, for_each_operator, simulated};
use workbench::reduce::inputs::Factor;
use workbench::reduce::reference::Reference;

fn plan<T>(n: usize) -> Plan {
    Plan::one_tile(n, size_of::<T>()).unwrap()
}

/// The number of elements in a tile.
fn tile<T>() -> usize {
    tile_elements(16 / size_of::<T>())
}

/// Tests sizes of 0, near a vector, a row and a tile, and of several tiles. The last tile has few elements or is almost
/// full.
fn conforms<T: Factor + ReduceElement<O>, O: Reference<T>>(device: &Device, turns: &Turns) {
    let (vector, tile) = (16 / size_of::<T>(), tile::<T>());
    let row = tile / 4;
    let rows = [0, 1, vector, vector + 1, 255, 257, row - 1, row, row + 1, 3 * row + vector - 1];
    let tiles = [tile - 1, tile, tile + 1, 2 * tile, 3 * tile - 1, 5 * tile + row + 1];
    for n in rows.into_iter().chain(tiles).filter(|&n| turns.takes(n)) {
        check::<T, O>(device, plan::<T>(n), &elements::<T, O>(n, n as u64));
    }
}

macro_rules! every_operator_conforms {
    ($($name:ident $type:ident;)*) => {$(
        #[test]
        fn $name() {
            for (device, turns) in devices_and_turns(usize::MAX) {
                for_each_operator!(|O| conforms::<$type, O>(&device, &turns));
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

/// Tests a launch with more blocks than a block has threads. Each thread of the last block then waits for several
/// blocks.
#[test]
fn there_may_be_more_blocks_than_a_block_has_threads() {
    for device in devices() {
        for blocks in [257, 258, 514] {
            let n = (blocks - 1) * tile::<f64>() + 5;
            check::<f64, Sum>(&device, plan::<f64>(n), &elements::<f64, Sum>(n, 1));
        }
        let n = 300 * tile::<i32>();
        check::<i32, Min>(&device, plan::<i32>(n), &elements::<i32, Min>(n, 2));
    }
}

/// Tests that each run writes its result and clears its partial results. Otherwise the next run would find the partial
/// results of the previous run.
#[test]
fn each_run_is_of_its_own_input() {
    let n = 7 * tile::<i32>() + 100;
    for device in all_devices() {
        let mut sum = Reducer::<i32, Sum>::with_plan(&device, plan::<i32>(n)).unwrap();
        for round in 1..=3 {
            let x = device.upload(&vec![round; n]).unwrap();
            assert_eq!(sum.reduce(&x).unwrap(), round * n as i32);
        }
    }
}

#[test]
fn a_graph_gives_what_a_run_does() {
    let n = 3 * tile::<f32>() + 5;
    for device in all_devices() {
        let sum = Reducer::<f32, Sum>::with_plan(&device, plan::<f32>(n)).unwrap();
        let x = device.alloc::<f32>(n).unwrap();
        let mut graph = device.record((sum, x), |queue, (sum, x)| sum.run_in(queue, x).map(|_| ())).unwrap();
        for seed in [3, 4] {
            let x = elements::<f32, Sum>(n, seed);
            let expected = check::<f32, Sum>(&device, plan::<f32>(n), &x);
            graph.resources_mut().1.upload(&x).unwrap();
            for _ in 0..2 {
                graph.launch().unwrap();
                assert_eq!(graph.resources().0.result().download().unwrap(), [expected]);
            }
        }
    }
}

/// Tests that all devices return the same bits. The plan determines the order in which floats are combined. The order
/// of the threads has no effect.
#[test]
fn floats_are_the_same_on_every_device() {
    let n = 9 * tile::<f32>() + 77;
    let x = elements::<f32, Sum>(n, 7);
    let results: Vec<u32> =
        all_devices().map(|device| check::<f32, Sum>(&device, plan::<f32>(n), &x).to_bits()).collect();
    assert!(results.iter().all(|&result| result == results[0]), "{results:x?}");
}

/// Tests unaligned views, which are reduced element by element, and grids with blocks that have no elements. All
/// launches use the same state words, which must be 0 after each launch.
#[test]
fn any_view_and_any_grid_that_covers_it_will_do() {
    let n = 2 * tile::<i32>() + 300;
    let x = elements::<i32, Sum>(n, 8);
    for device in all_devices() {
        let dx = device.upload(&x).unwrap();
        let mut partials = device.zeroed(5).unwrap();
        let mut y = device.alloc(1).unwrap();
        for (skipped, blocks) in [(0, 3), (1, 3), (2, 3), (3, 4), (4, 3), (5, 6), (301, 2)] {
            // SAFETY: the view has the elements of the buffer from that element on.
            let view = unsafe {
                Global::from_raw_parts(dx.view().as_ptr().wrapping_add(skipped), n - skipped, dx.view().device())
            };
            let call = reduce_one_tile::<i32, Sum, 4>(view, partials.view_mut(), y.view_mut());
            device.launch(LaunchConfig::new(blocks, ONE_TILE_BLOCK), call).unwrap();
            let expected = x[skipped..].iter().fold(0_i32, |a, &b| a.wrapping_add(b));
            assert_eq!(y.download().unwrap(), [expected], "{skipped}, {blocks}");
            assert_eq!(partials.download().unwrap(), [0; 5]);
        }
    }
}

#[test]
fn other_blocks_and_grids_that_do_not_cover_the_input_are_refused() {
    let device = simulated(0);
    let n = tile::<i32>() + 1;
    let dx = device.upload(&elements::<i32, Sum>(n, 6)).unwrap();
    let configs = [
        LaunchConfig::new(2, 128),
        LaunchConfig::new(2, 255),
        LaunchConfig::new(2, (128, 2)),
        LaunchConfig::new(1, ONE_TILE_BLOCK),
    ];
    for config in configs {
        let mut partials = device.zeroed(1).unwrap();
        let mut y = device.alloc(1).unwrap();
        let call = reduce_one_tile::<i32, Sum, 4>(dx.view(), partials.view_mut(), y.view_mut());
        let result = device.launch(config, call);
        assert!(matches!(result, Err(Error::Fault(_))), "{config:?}: {result:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_length_is_right(n in 0_usize..60_000, seed: u64) {
        let device = simulated(seed);
        for_each_operator!(|O| {
            check::<u32, O>(&device, plan::<u32>(n), &elements::<u32, O>(n, seed));
            check::<f64, O>(&device, plan::<f64>(n), &elements::<f64, O>(n, seed));
        });
        check::<f32, Sum>(&device, plan::<f32>(n), &elements::<f32, Sum>(n, seed));
    }
}
