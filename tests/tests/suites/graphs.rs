//! Tests that a recorded graph has the same result as the launches that were recorded, on every device and in every
//! run.

use cuda_std::Ladder;
use gpu::operator::{Affine, Compose, Max, Operator, Sum};
use gpu::saxpy::saxpy_grid_stride;
use gridstride::error::AlgorithmError;
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer};
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, check};
use launch::{Device, Element, Error, LaunchConfig};
use tests::{all_devices, devices, devices_and_turns, random};
use workbench::algorithm::{Purpose, Shape};
use workbench::catalogue::ALGORITHMS;

/// The number of times that each graph is launched.
const LAUNCHES: usize = 3;

/// Numbers of elements: 0, 1, one more than a warp, sizes around a tile of a scan, and several tiles.
const SIZES: [usize; 6] = [0, 1, 33, 1000, 4097, 20_011];

fn integers(n: usize, seed: u64) -> Vec<i32> {
    use rand::Rng;
    let mut random = random(seed);
    (0..n).map(|_| random.next_u32() as i32).collect()
}

/// Checks that the graph of a reduction has the same results as the reduction itself, on inputs that change.
fn reduction<T, O>(device: &Device, rung: ReduceRung, inputs: &[Vec<T>])
where
    T: ReduceElement<O> + PartialEq + std::fmt::Debug,
    O: Operator<T>,
{
    let n = inputs[0].len();
    // Small blocks lead to several launches and to partial results.
    let plan = || Plan::with_block(rung, n, size_of::<T>(), 32);
    let mut direct = Reducer::<T, O>::with_plan(device, plan()).unwrap();
    let recorded = Reducer::<T, O>::with_plan(device, plan()).unwrap();
    let x = device.alloc::<T>(n).unwrap();
    let mut graph = device.record((recorded, x), |queue, (sum, x)| sum.run_in(queue, x).map(|_| ())).unwrap();
    for input in inputs {
        graph.resources_mut().1.upload(input).unwrap();
        let expected = direct.reduce(&device.upload(input).unwrap()).unwrap();
        for _ in 0..LAUNCHES {
            graph.launch().unwrap();
            assert_eq!(graph.resources().0.result().download().unwrap(), [expected], "{}, {n}", rung.name());
        }
    }
}

#[test]
fn a_reductions_graph_gives_what_the_reduction_does() {
    for device in all_devices() {
        for n in SIZES.into_iter().take(5) {
            let inputs = [1, 2].map(|seed| integers(n, seed));
            for &rung in ReduceRung::ALL {
                reduction::<i32, Sum>(&device, rung, &inputs);
            }
            reduction::<i32, Max>(&device, ReduceRung::GridStride, &inputs);
            let maps = inputs.map(|input| affine(&input));
            reduction::<Affine, Compose>(&device, ReduceRung::Shuffle, &maps);
        }
    }
}

/// Compares every rung of every algorithm with the reference: in a stream, and recorded in a graph.
#[test]
fn every_rung_of_every_algorithm_is_recorded_in_a_graph() {
    for device in devices() {
        let stream = device.stream().unwrap();
        for algorithm in ALGORITHMS {
            for rung in algorithm.rungs() {
                let shape = match algorithm.default_shape(Some(rung), Purpose::Explain) {
                    Shape::Vector(_) => Shape::Vector(1000),
                    Shape::Plane(_) => Shape::plane(130, 41),
                };
                let problem = algorithm.problem(shape, &algorithm.default_options(Some(rung))).unwrap();
                let mut inputs = problem.inputs(&device).unwrap();
                let mut prepared = inputs.prepare(rung).unwrap();
                prepared.refresh().unwrap();
                prepared.run(stream.queue()).unwrap();
                let wrong = prepared.compare().unwrap().wrong;
                assert_eq!(wrong, None, "{} {} in a stream of {}", algorithm.name(), rung.name, device.name());
                prepared.refresh().unwrap();
                let mut graph = device.record(prepared, |queue, prepared| prepared.run(queue)).unwrap();
                let what = format!("{} {} on {}", algorithm.name(), rung.name, device.name());
                assert!(graph.resources_mut().compare().unwrap().wrong.is_some(), "{what}: not launched yet");
                graph.resources_mut().refresh().unwrap();
                graph.launch().unwrap();
                assert_eq!(graph.resources_mut().compare().unwrap().wrong, None, "{what}");
            }
        }
    }
}

fn affine(numbers: &[i32]) -> Vec<Affine> {
    numbers.iter().map(|&number| Affine { factor: number as u32 | 1, offset: number as u32 >> 7 }).collect()
}

/// Checks that the graph of a scan has the same results as the scan itself.
fn scan<T, O>(device: &Device, rung: ScanRung, input: &[T])
where
    T: Element + ScanElement<O> + PartialEq + std::fmt::Debug,
    O: Operator<T>,
{
    let n = input.len();
    let x = device.upload(input).unwrap();
    for kind in [ScanKind::Inclusive, ScanKind::Exclusive] {
        let (mut y, mut expected) = (device.alloc::<T>(n).unwrap(), device.alloc::<T>(n).unwrap());
        let mut scanner = Scanner::<T, O>::new(device, rung, n).unwrap();
        scanner.scan(kind, &x, &mut expected).unwrap();
        let mut graph = scanner.record(kind, &x, &mut y).unwrap();
        for _ in 0..LAUNCHES {
            graph.launch().unwrap();
            let (_, _, y) = graph.resources();
            assert_eq!(y.download().unwrap(), expected.download().unwrap(), "{}, {n}", rung.name());
        }
        // After the graph is dropped, the scanner can be used again, and no state of the graph remains.
        drop(graph);
        scanner.scan(kind, &x, &mut expected).unwrap();
        assert_eq!(y.download().unwrap(), expected.download().unwrap());
    }
}

#[test]
fn a_scans_graph_gives_what_the_scan_does() {
    for (device, turns) in devices_and_turns(usize::MAX) {
        for n in SIZES.into_iter().take(5) {
            let input = integers(n, 3);
            for &rung in ScanRung::ALL {
                if check::<i32, Sum>(rung, n).is_ok() && turns.takes(n) {
                    scan::<i32, Sum>(&device, rung, &input);
                }
            }
            if turns.takes(n) {
                scan::<Affine, Compose>(&device, ScanRung::LookBack, &affine(&input));
            }
        }
    }
}

#[test]
fn larger_inputs() {
    for device in devices() {
        let input = integers(SIZES[5], 4);
        reduction::<i32, Sum>(&device, ReduceRung::GridStride, std::slice::from_ref(&input));
        scan::<i32, Sum>(&device, ScanRung::LookBack, &input);
    }
}

/// Tests a graph that scans a vector and then reduces the prefix sums to their maximum. The graph is launched many
/// times.
#[test]
fn algorithms_go_together_and_are_launched_many_times() {
    for device in devices() {
        let n = 3000;
        let x = device.upload(&vec![1_i32; n]).unwrap();
        let sums = device.alloc::<i32>(n).unwrap();
        let scanner = Scanner::<i32, Sum>::new(&device, ScanRung::LookBack, n).unwrap();
        let maximum = Reducer::<i32, Max>::new(&device, ReduceRung::GridStride, n).unwrap();
        let mut graph = device
            .record((x, sums, scanner, maximum), |queue, (x, sums, scanner, maximum)| {
                scanner.scan_in(queue, ScanKind::Inclusive, x, sums)?;
                maximum.run_in(queue, sums)?;
                queue.copy(sums, x)?;
                Ok::<_, AlgorithmError>(())
            })
            .unwrap();
        // Each launch scans the result of the previous launch. The last elements are n, n(n + 1)/2 and n(n + 1)(n +
        // 2)/6.
        for last in [3000_i64, 4_501_500, 4_504_501_000] {
            graph.launch().unwrap();
            if let Ok(last) = i32::try_from(last) {
                assert_eq!(graph.resources().3.result().download().unwrap(), [last]);
            }
        }
        for _ in 0..200 {
            graph.launch().unwrap();
        }
        device.synchronize().unwrap();
        graph.resources_mut().0.upload(&vec![2; n]).unwrap();
        graph.launch().unwrap();
        assert_eq!(graph.into_resources().3.result().download().unwrap(), [6000]);
    }
}

#[test]
fn a_graph_of_nothing_does_nothing() {
    for device in all_devices() {
        let mut graph = device.record((), |_, ()| Ok::<_, Error>(())).unwrap();
        for _ in 0..LAUNCHES {
            graph.launch().unwrap();
        }
        device.synchronize().unwrap();
        assert!(graph.is_empty());
    }
}

#[test]
fn a_graph_runs_between_earlier_and_later_work() {
    for device in all_devices() {
        let (x, y) = (device.upload(&[1.0_f32; 100]).unwrap(), device.upload(&[1.0_f32; 100]).unwrap());
        let config = LaunchConfig::new(2, 64);
        let mut graph = device
            .record((x, y), |queue, (x, y)| queue.launch(config, saxpy_grid_stride(1.0, x.view(), y.view_mut())))
            .unwrap();
        for _ in 0..LAUNCHES {
            let (x, y) = graph.resources_mut();
            // Each round computes x = x + 2y, then y = y + x, and then x = 0. The graph is the second step.
            device.launch(config, saxpy_grid_stride(2.0, y.view(), x.view_mut())).unwrap();
            graph.launch().unwrap();
            graph.resources_mut().0.fill_zero().unwrap();
        }
        // The result is 1 + 2 + 1 = 4 after the first launch. Each further launch multiplies it by 3.
        assert!(graph.resources().1.download().unwrap().iter().all(|&y| y == 36.0));
    }
}

/// Tests that the simulator reports the fault of a kernel in a graph in the same way as for a direct launch.
#[test]
fn a_fault_in_a_graph_is_reported() {
    for device in all_devices().filter(Device::is_simulated) {
        let mut out = device.zeroed::<u32>(10).unwrap();
        let mut graph = device
            .record(&mut out, |queue, out| {
                queue.launch(LaunchConfig::new(4, 32), gpu::device_library::store_at(out.view_mut(), 10, 77))
            })
            .unwrap();
        let error = graph.launch().unwrap_err();
        assert!(matches!(&error, Error::Fault(fault) if fault.kernel == "store_at"), "{error}");
    }
}
