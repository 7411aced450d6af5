//! Tests that the probes (kernels that measure a device) read, write and record correct values on every device.

use gpu::probe::{
    RECORD, U32x4, access_offset, access_strided, divergence_by_thread, divergence_by_warp, schedule_print,
    schedule_record,
};
use launch::{Device, LaunchConfig};
use rand::Rng;
use tests::{all_devices, devices, devices_and_turns, random, simulated, simulated_with_output};
use workbench::probe::divergence::{Decision, reference};
use workbench::probe::{Arrays, BandwidthKernel, Measured, WORD, schedule};

/// Numbers of blocks and threads per block: one thread, a part of a warp, several blocks, and blocks of 512 threads.
const GRIDS: [(u32, u32); 6] = [(1, 1), (1, 31), (3, 32), (7, 96), (2, 512), (40, 64)];

/// Numbers of elements: sizes near a warp, sizes near 16 elements for each of 32, 96 and 512 threads, and primes.
const LENGTHS: [usize; 16] = [0, 1, 2, 31, 32, 33, 511, 512, 513, 1009, 1536, 8191, 8192, 8193, 16_384, 20_011];

fn operands<T: Measured>(n: usize, seed: u64) -> Vec<T> {
    let mut random = random(seed);
    (0..n).map(|_| T::from_word(random.next_u64())).collect()
}

fn exclusive_or<T: Measured>(elements: &[T]) -> T {
    elements.iter().fold(T::ZERO, |all, &element| all ^ element)
}

/// Tests the bandwidth kernels with elements of type `T`, for every unroll factor, length and grid.
fn bandwidth_conforms<T: Measured>() {
    for (device, turns) in devices_and_turns(1009) {
        for (grid, block) in GRIDS {
            for n in LENGTHS.into_iter().filter(|&n| turns.takes(n)) {
                bandwidth_conforms_for::<T>(&device, n, (grid, block));
            }
        }
    }
}

fn bandwidth_conforms_for<T: Measured>(device: &Device, n: usize, (grid, block): (u32, u32)) {
    let (a, b) = (operands::<T>(n, 1), operands::<T>(n, 2));
    let both: Vec<T> = a.iter().zip(&b).map(|(&a, &b)| a ^ b).collect();
    let written = vec![T::from_word(WORD); n];
    let threads = (grid * block) as usize;
    let (da, db) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let mut arrays = Arrays { a: da, b: db, y: device.zeroed(0).unwrap() };
    for instance in T::INSTANCES {
        for kernel in BandwidthKernel::ALL {
            let reads = kernel == BandwidthKernel::Read;
            arrays.y = device.zeroed(if reads { threads } else { n }).unwrap();
            (instance.launch)(device, kernel, LaunchConfig::new(grid, block), &mut arrays).unwrap();
            let y = arrays.y.download().unwrap();
            let what = || format!("{} of {n}, <<<{grid}, {block}>>>", (instance.info)(kernel).name);
            match kernel {
                BandwidthKernel::Read => assert_eq!(exclusive_or(&y), exclusive_or(&a), "{}", what()),
                BandwidthKernel::Write => assert!(y == written, "{}", what()),
                BandwidthKernel::Copy | BandwidthKernel::CopyAlternating => assert!(y == a, "{}", what()),
                BandwidthKernel::Copy2 => assert!(y == both, "{}", what()),
            }
        }
    }
}

#[test]
fn bytes_are_read_written_and_copied() {
    bandwidth_conforms::<u8>();
}

#[test]
fn operands_of_two_bytes_are_read_written_and_copied() {
    bandwidth_conforms::<u16>();
}

#[test]
fn operands_of_four_bytes_are_read_written_and_copied() {
    bandwidth_conforms::<u32>();
}

#[test]
fn operands_of_eight_bytes_are_read_written_and_copied() {
    bandwidth_conforms::<u64>();
}

#[test]
fn operands_of_sixteen_bytes_are_read_written_and_copied() {
    bandwidth_conforms::<U32x4>();
}

#[test]
fn a_million_elements_more_or_less_are_copied() {
    for device in devices() {
        for n in [(1 << 20) - 1, (1 << 20) + 1] {
            let x = operands::<u16>(n, 5);
            let (a, b, y) = (device.upload(&x).unwrap(), device.zeroed(0).unwrap(), device.zeroed(n).unwrap());
            let mut arrays = Arrays { a, b, y };
            let config = LaunchConfig::new(264, 256);
            (u16::INSTANCES[2].launch)(&device, BandwidthKernel::Copy, config, &mut arrays).unwrap();
            assert!(arrays.y.download().unwrap() == x);
        }
    }
}

/// Tests the result of each thread separately. With an unroll factor of 2, thread `t` of a block reads elements `t` and
/// `t + block` of each group of elements.
#[test]
fn a_thread_reads_elements_a_block_apart() {
    let x = operands::<u32>(1000, 3);
    let (grid, block, unroll) = (3, 32, 2);
    for device in all_devices() {
        let (a, b) = (device.upload(&x).unwrap(), device.zeroed(0).unwrap());
        let mut arrays = Arrays { a, b, y: device.zeroed(grid * block).unwrap() };
        let config = LaunchConfig::new(grid as u32, block as u32);
        (u32::INSTANCES[1].launch)(&device, BandwidthKernel::Read, config, &mut arrays).unwrap();
        let mut expected = vec![0; grid * block];
        for (i, x) in x.iter().enumerate() {
            let group = i / (unroll * block);
            expected[group % grid * block + i % block] ^= x;
        }
        assert_eq!(arrays.y.download().unwrap(), expected);
    }
}

/// Tests that the reading kernel writes a result only for threads that read an element. The rest of the array must stay
/// unchanged.
#[test]
fn reading_alone_writes_nothing() {
    let x = operands::<u64>(5000, 4);
    let device = simulated(0);
    let (a, b) = (device.upload(&x).unwrap(), device.zeroed(0).unwrap());
    let mut arrays = Arrays { a, b, y: device.zeroed(0).unwrap() };
    (u64::INSTANCES[2].launch)(&device, BandwidthKernel::Read, LaunchConfig::new(4, 64), &mut arrays).unwrap();
    arrays.y = device.upload(&[7; 300]).unwrap();
    (u64::INSTANCES[2].launch)(&device, BandwidthKernel::Read, LaunchConfig::new(4, 64), &mut arrays).unwrap();
    let y = arrays.y.download().unwrap();
    assert_eq!(exclusive_or(&y[..256]), exclusive_or(&x));
    assert_eq!(y[256..], [7; 44]);
}

#[test]
fn every_instance_has_a_kernel_of_its_own() {
    let mut names = Vec::new();
    for kernel in BandwidthKernel::ALL {
        names.extend(u8::INSTANCES.map(|instance| (instance.info)(kernel).name));
        names.extend(U32x4::INSTANCES.map(|instance| (instance.info)(kernel).name));
    }
    assert!(names.contains(&"global_copy2_u32x4_16") && names.contains(&"global_copy_alternating_u8_1"), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 50);
}

#[test]
fn offset_access_counts_up_its_elements() {
    for device in all_devices() {
        for n in [0_usize, 1, 31, 255, 256, 257, 1009] {
            for offset in [0, 1, 7, 32] {
                let mut single = device.zeroed::<f32>(n + 40).unwrap();
                let mut double = device.zeroed::<f64>(n + 40).unwrap();
                let config = LaunchConfig::new(n.div_ceil(256).max(1) as u32, 256);
                device.launch(config, access_offset::<f32>(n, offset, single.view_mut())).unwrap();
                device.launch(config, access_offset::<f64>(n, offset, double.view_mut())).unwrap();
                let expected: Vec<f32> = (0..n + 40).map(|i| f32::from((offset..offset + n).contains(&i))).collect();
                assert_eq!(single.download().unwrap(), expected);
                assert!(double.download().unwrap().iter().zip(&expected).all(|(&a, &b)| a == f64::from(b)));
            }
        }
    }
}

#[test]
fn strided_access_counts_up_its_elements() {
    for device in all_devices() {
        for n in [0_usize, 1, 31, 255, 256, 257, 1009] {
            for stride in [1, 2, 7, 32] {
                let mut single = device.zeroed::<f32>(n * stride).unwrap();
                let mut double = device.zeroed::<f64>(n * stride).unwrap();
                let config = LaunchConfig::new(n.div_ceil(256).max(1) as u32, 256);
                device.launch(config, access_strided::<f32>(n, stride, single.view_mut())).unwrap();
                device.launch(config, access_strided::<f64>(n, stride, double.view_mut())).unwrap();
                let expected: Vec<f32> = (0..n * stride).map(|i| f32::from(i.is_multiple_of(stride))).collect();
                assert_eq!(single.download().unwrap(), expected);
                assert!(double.download().unwrap().iter().zip(&expected).all(|(&a, &b)| a == f64::from(b)));
            }
        }
    }
}

#[test]
fn both_branches_take_the_paths_that_they_should() {
    for device in all_devices() {
        for (n, rounds) in [(0_usize, 3), (1, 5), (31, 0), (33, 1), (256, 17), (257, 8), (1009, 100)] {
            let config = LaunchConfig::new(n.div_ceil(256).max(1) as u32, 256);
            let mut y = device.zeroed::<f32>(n).unwrap();
            let expected = |decision| (0..n).map(|i| reference(decision, i, rounds)).collect::<Vec<_>>();
            device.launch(config, divergence_by_thread(rounds, y.view_mut())).unwrap();
            assert_eq!(y.download().unwrap(), expected(Decision::Thread), "{n} {rounds}");
            device.launch(config, divergence_by_warp(rounds, y.view_mut())).unwrap();
            assert_eq!(y.download().unwrap(), expected(Decision::Warp), "{n} {rounds}");
        }
    }
}

#[test]
fn every_warp_records_where_and_when_it_ran() {
    for device in all_devices() {
        let multiprocessors = u64::from(device.properties().unwrap().multiprocessors);
        for (grid, block) in [(1, 1), (1, 33), (5, 64), (300, 32), (7, 100)] {
            let warps = (block as usize).div_ceil(32);
            let words = grid as usize * warps * RECORD;
            let mut records = device.upload(&vec![u64::MAX; words]).unwrap();
            let config = LaunchConfig::new(grid, block);
            device.launch(config, schedule_record(100, records.view_mut())).unwrap();
            let records = records.download().unwrap();
            for record in records.chunks_exact(RECORD) {
                let [multiprocessor, slot, begin, end] = record else { panic!("{record:?}") };
                assert!(begin <= end && *end < u64::MAX, "{record:?}");
                assert!(*multiprocessor < multiprocessors.max(1) && *slot < 64, "{record:?}");
            }
            let all = schedule::multiprocessors(&records, warps).unwrap();
            let mut blocks: Vec<_> = all.iter().flat_map(|one| &one.runs).map(|run| run.block).collect();
            blocks.sort_unstable();
            assert_eq!(blocks, (0..grid as usize).collect::<Vec<_>>());
        }
    }
}

#[test]
fn some_threads_of_each_block_print_who_they_are() {
    let (device, output) = simulated_with_output();
    device.launch(LaunchConfig::new(2, 40), schedule_print(16)).unwrap();
    let text = String::from_utf8(output.lock().unwrap().clone()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let line = |block, warp, thread| format!("block {block} of 2, warp {warp}, thread {thread}: multiprocessor 0");
    let expected = [line(0, 0, 0), line(0, 0, 16), line(0, 1, 32), line(1, 0, 0), line(1, 0, 16), line(1, 1, 32)];
    assert_eq!(lines, expected);
}
