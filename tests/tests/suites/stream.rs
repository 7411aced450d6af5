//! Tests saxpy on data in host memory with several streams, by every method and on every device. Also tests the
//! guarantees that the crate `launch` gives for streams.

use std::num::NonZeroUsize;
use std::time::Duration;

use gpu::saxpy::saxpy_grid_stride;
use launch::{Device, LaunchConfig};
use tests::{devices, devices_and_turns};
use workbench::deviation::Wrong;
use workbench::inputs::RandomVector;
use workbench::saxpy::reference;
use workbench::stream::{DeviceVectors, mapped};

const A: f32 = 2.0;
const SEED: u64 = 5;

/// Numbers of elements: 0 and 1; fewer than the number of streams; sizes near the warp, the block and a chunk's
/// alignment; primes; sizes that are no multiples of the number of streams.
const SIZES: [usize; 14] = [0, 1, 2, 7, 31, 32, 33, 63, 65, 255, 257, 1009, 65_537, (1 << 20) + 1];

fn inputs() -> [RandomVector<f32>; 2] {
    [0, 1].map(|vector| RandomVector::new(SEED, vector))
}

fn vectors(n: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    let [input_x, input_y] = inputs();
    input_x.fill(&mut x);
    input_y.fill(&mut y);
    (x, y)
}

fn wrong(found: &[f32]) -> Option<Wrong> {
    let [x, y] = inputs();
    reference::deviation(A, x, y, found).wrong
}

#[test]
fn synchronous_conforms() {
    for (device, turns) in devices_and_turns(1009) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            let ((x, y), mut out) = (vectors(n), vec![f32::NAN; n]);
            let times = DeviceVectors::new(&device, n).unwrap().synchronous(A, &x, &y, &mut out).unwrap();
            assert_eq!(wrong(&out), None, "{n}");
            let stages = [times.host_to_device, times.kernel, times.device_to_host].map(Option::unwrap);
            assert!(stages.iter().sum::<Duration>() <= times.wall, "{times:?}");
        }
    }
}

#[test]
fn streams_conform() {
    for (device, turns) in devices_and_turns(1009) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            let (x, y) = vectors(n);
            let (mut pinned_x, mut pinned_y) = (device.pinned(n).unwrap(), device.pinned(n).unwrap());
            pinned_x.copy_from_slice(&x);
            pinned_y.copy_from_slice(&y);
            let mut out = device.pinned(n).unwrap();
            let mut vectors = DeviceVectors::new(&device, n).unwrap();
            for count in [1, 2, 3, 8].map(|count| NonZeroUsize::new(count).unwrap()) {
                out.fill(f32::NAN);
                let times = vectors.in_streams(count, A, &pinned_x, &pinned_y, &mut out).unwrap();
                assert_eq!(wrong(&out), None, "{n} elements, {count} streams");
                // The stages of one stream do not overlap, but those of several streams do.
                for stage in [times.host_to_device, times.kernel, times.device_to_host] {
                    assert_eq!(stage.is_some(), count.get() == 1);
                    assert!(stage.is_none_or(|stage| stage <= times.wall), "{times:?}");
                }
                for chunks in [1, 5, 64].map(|count| NonZeroUsize::new(count).unwrap()) {
                    out.fill(f32::NAN);
                    vectors.in_chunks(count, chunks, A, &pinned_x, &pinned_y, &mut out).unwrap();
                    assert_eq!(wrong(&out), None, "{n} elements, {count} streams, {chunks} chunks");
                }
                // Pageable host memory must have the same results.
                let mut pageable = vec![f32::NAN; n];
                vectors.in_streams(count, A, &x, &y, &mut pageable).unwrap();
                assert_eq!(pageable, *out);
            }
        }
    }
}

#[test]
fn stages_conform() {
    for (device, turns) in devices_and_turns(1009) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            let (x, y) = vectors(n);
            let (mut pinned_x, mut pinned_y) = (device.pinned(n).unwrap(), device.pinned(n).unwrap());
            pinned_x.copy_from_slice(&x);
            pinned_y.copy_from_slice(&y);
            let mut out = device.pinned(n).unwrap();
            let mut vectors = DeviceVectors::new(&device, n).unwrap();
            for chunks in [1, 2, 3, 64].map(|count| NonZeroUsize::new(count).unwrap()) {
                out.fill(f32::NAN);
                vectors.in_stages(chunks, A, &pinned_x, &pinned_y, &mut out).unwrap();
                assert_eq!(wrong(&out), None, "{n} elements, {chunks} chunks");
                let mut pageable = vec![f32::NAN; n];
                vectors.in_stages(chunks, A, &x, &y, &mut pageable).unwrap();
                assert_eq!(pageable, *out);
            }
        }
    }
}

#[test]
fn mapped_conforms() {
    for (device, turns) in devices_and_turns(1009) {
        for n in SIZES.into_iter().filter(|&n| turns.takes(n)) {
            let (x, y) = vectors(n);
            let (mut mapped_x, mut mapped_y) = (device.mapped(n).unwrap(), device.mapped(n).unwrap());
            mapped_x.as_mut_slice().unwrap().copy_from_slice(&x);
            mapped_y.as_mut_slice().unwrap().copy_from_slice(&y);
            let times = mapped(A, &mapped_x, &mut mapped_y).unwrap();
            assert_eq!(wrong(mapped_y.as_slice().unwrap()), None, "{n}");
            assert_eq!(mapped_x.as_slice().unwrap(), x);
            assert!(times.kernel.unwrap() <= times.wall && times.host_to_device.is_none());
        }
    }
}

/// Launches a kernel `count` times on one vector and returns the vector. Each launch is in another stream than the
/// previous launch, for which it waits.
fn relay(device: &Device, count: usize, streams: usize) -> Vec<f32> {
    let n = 100_003;
    let x = device.upload(&vec![1.0_f32; n]).unwrap();
    let mut y = device.zeroed::<f32>(n).unwrap();
    let (x, y_view) = (x.view(), y.view_mut());
    device
        .streams(streams, |streams| {
            for i in 0..count {
                let (this, next) = (&streams[i % streams.len()], &streams[(i + 1) % streams.len()]);
                // This launch computes a = i only for the last half of the vector, which is a part of each view.
                let (x, y) = (x.part(n / 2, n - n / 2), y_view.part(n / 2, n - n / 2));
                this.launch(LaunchConfig::new(64, 256), saxpy_grid_stride(i as f32, x, y))?;
                next.wait(&this.record()?)?;
            }
            Ok(())
        })
        .unwrap();
    y.download().unwrap()
}

#[test]
fn streams_wait_for_each_other() {
    for device in devices() {
        let y = relay(&device, 20, 3);
        let (first, last) = y.split_at(100_003 / 2);
        assert!(first.iter().all(|&y| y == 0.0));
        assert!(last.iter().all(|&y| y == 190.0), "{:?}", &last[..4]);
    }
}

#[test]
fn a_scope_runs_after_earlier_and_before_later_work() {
    for device in devices() {
        let n = 1 << 20;
        let x = device.upload(&vec![1.0_f32; n]).unwrap();
        let mut y = device.upload(&vec![1.0_f32; n]).unwrap();
        let config = LaunchConfig::new(64, 256);
        for _ in 0..3 {
            device.launch(config, saxpy_grid_stride(1.0, x.view(), y.view_mut())).unwrap();
            let (x, view) = (x.view(), y.view_mut());
            device.streams(2, |streams| streams[1].launch(config, saxpy_grid_stride(2.0, x, view))).unwrap();
        }
        assert!(y.download().unwrap().iter().all(|&y| y == 10.0));
    }
}
