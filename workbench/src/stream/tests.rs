//! Tests of the errors of the stream programs, and of the measurement of the link.

use std::num::NonZeroUsize;

use launch::DeviceChoice;

use super::*;

const A: f32 = 2.0;

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).unwrap()
}

#[test]
fn lengths_must_match() {
    let device = device();
    let mut vectors = DeviceVectors::new(&device, 4).unwrap();
    let (four, five) = ([1.0; 4], [1.0; 5]);
    for (x, y, out) in
        [(&five[..], &four[..], &mut [0.0; 4][..]), (&four, &five, &mut [0.0; 4]), (&four, &four, &mut [0.0; 5])]
    {
        for result in [
            vectors.synchronous(A, x, y, out),
            vectors.in_streams(NonZeroUsize::MIN, A, x, y, out),
            vectors.in_stages(NonZeroUsize::MIN, A, x, y, out),
        ] {
            assert!(matches!(result, Err(Error::LengthMismatch { buffer: 4, other: 5, .. })), "{result:?}");
        }
    }
    let result = mapped(A, &device.mapped(3).unwrap(), &mut device.mapped(4).unwrap());
    assert!(matches!(result, Err(Error::LengthMismatch { buffer: 3, other: 4, .. })), "{result:?}");
}

#[test]
fn the_slower_direction_is_the_floor() {
    let link = Link { host_to_device: 50e9, device_to_host: 20e9, both: 60e9 };
    // The link copies 8 bytes per element to the device at 50 GB/s, and 4 bytes back at 20 GB/s.
    assert_eq!(link.floor(1_000_000_000), 0.2);
    assert_eq!(Link { device_to_host: 50e9, ..link }.floor(1_000_000_000), 0.16);
    assert_eq!(link.floor(0), 0.0);
    // The link copies 12 bytes per element at 60 GB/s.
    assert_eq!((link.two_way(1_000_000_000), link.two_way(0)), (0.2, 0.0));
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
    assert!(link.both.is_finite() && link.both > 0.0, "{link:?}");
}
