//! The four programs give the right answer on the simulator.

use launch::DeviceChoice;

use super::*;
use crate::deviation::Wrong;
use crate::inputs::Inputs;
use crate::saxpy::reference;

const A: f32 = 2.0;
const SEED: u64 = 5;

/// Nothing, one, fewer than streams, around the warp and the block, primes, and no multiple of the streams.
const SIZES: [usize; 12] = [0, 1, 2, 7, 31, 32, 33, 255, 257, 1009, 65_537, 100_003];

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).unwrap()
}

fn vectors(n: usize) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    let [input_x, input_y] = inputs();
    input_x.fill(&mut x);
    input_y.fill(&mut y);
    (x, y, vec![f32::NAN; n])
}

fn inputs() -> [Inputs<f32>; 2] {
    [0, 1].map(|vector| Inputs::new(SEED, vector))
}

fn wrong(found: &[f32]) -> Option<Wrong> {
    let [x, y] = inputs();
    reference::deviation(A, x, y, found).wrong
}

#[test]
fn synchronous_conforms() {
    for n in SIZES {
        let (x, y, mut out) = vectors(n);
        let times = DeviceVectors::new(&device(), n).unwrap().synchronous(A, &x, &y, &mut out).unwrap();
        assert_eq!(wrong(&out), None, "{n}");
        let stages = [times.host_to_device, times.kernel, times.device_to_host].map(Option::unwrap);
        assert!(stages.iter().sum::<Duration>() <= times.wall, "{times:?}");
    }
}

#[test]
fn streams_conform() {
    let device = device();
    for n in SIZES {
        let (x, y, _) = vectors(n);
        let mut vectors = DeviceVectors::new(&device, n).unwrap();
        let (mut pinned_x, mut pinned_y) = (device.pinned(n).unwrap(), device.pinned(n).unwrap());
        pinned_x.copy_from_slice(&x);
        pinned_y.copy_from_slice(&y);
        let mut out = device.pinned(n).unwrap();
        for count in [1, 2, 3, 8] {
            out.fill(f32::NAN);
            let count = NonZeroUsize::new(count).unwrap();
            let times = vectors.in_streams(count, A, &pinned_x, &pinned_y, &mut out).unwrap();
            assert_eq!(wrong(&out), None, "{n} elements, {count} streams");
            // The stages of one stream are separate; those of several overlap.
            for stage in [times.host_to_device, times.kernel, times.device_to_host] {
                assert_eq!(stage.is_some(), count.get() == 1);
                assert!(stage.is_none_or(|stage| stage <= times.wall));
            }
        }
    }
}

#[test]
fn mapped_conforms() {
    let device = device();
    for n in SIZES {
        let (x, y, _) = vectors(n);
        let (mut mapped_x, mut mapped_y) = (device.mapped(n).unwrap(), device.mapped(n).unwrap());
        mapped_x.as_mut_slice().unwrap().copy_from_slice(&x);
        mapped_y.as_mut_slice().unwrap().copy_from_slice(&y);
        let times = mapped(A, &mapped_x, &mut mapped_y).unwrap();
        assert_eq!(wrong(mapped_y.as_slice().unwrap()), None, "{n}");
        assert_eq!(mapped_x.as_slice().unwrap(), x);
        assert!(times.kernel.unwrap() <= times.wall && times.host_to_device.is_none());
    }
}

#[test]
fn lengths_must_match() {
    let device = device();
    let mut vectors = DeviceVectors::new(&device, 4).unwrap();
    let (four, five) = ([1.0; 4], [1.0; 5]);
    for (x, y, out) in
        [(&five[..], &four[..], &mut [0.0; 4][..]), (&four, &five, &mut [0.0; 4]), (&four, &four, &mut [0.0; 5])]
    {
        for result in [vectors.synchronous(A, x, y, out), vectors.in_streams(NonZeroUsize::MIN, A, x, y, out)] {
            assert!(matches!(result, Err(Error::LengthMismatch { buffer: 4, other: 5, .. })), "{result:?}");
        }
    }
    let result = mapped(A, &device.mapped(3).unwrap(), &mut device.mapped(4).unwrap());
    assert!(matches!(result, Err(Error::LengthMismatch { buffer: 3, other: 4, .. })), "{result:?}");
}

#[test]
fn the_slower_direction_is_the_floor() {
    let link = Link { host_to_device: 50e9, device_to_host: 20e9 };
    // 8 bytes there at 50 GB/s, 4 bytes back at 20 GB/s.
    assert_eq!(link.floor(1_000_000_000), 0.2);
    assert_eq!(Link { device_to_host: 50e9, ..link }.floor(1_000_000_000), 0.16);
    assert_eq!(link.floor(0), 0.0);
}

#[test]
fn the_median_is_in_the_middle() {
    let median_of = |millis: &[u64]| median(millis.iter().copied().map(Duration::from_millis).collect()).as_millis();
    assert_eq!([&[][..], &[5], &[9, 1], &[9, 1, 5]].map(median_of), [0, 5, 9, 5]);
}

#[test]
fn the_link_is_measured() {
    let link = Link::measure(&device(), 0).unwrap();
    assert!(link.host_to_device.is_finite() && link.host_to_device > 0.0, "{link:?}");
    assert!(link.device_to_host.is_finite() && link.device_to_host > 0.0, "{link:?}");
}
