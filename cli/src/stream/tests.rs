//! Tests that the stages of a stream are measured.

use launch::{Device, DeviceChoice};

use super::measure;

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).unwrap()
}

#[test]
fn what_overlaps_is_measured() {
    let report = measure(&device(), 1009, &[1, 4], 2, 7).unwrap();
    assert_eq!(report.rows.iter().map(|row| (row.chunks, row.runs)).collect::<Vec<_>>(), [(Some(1), 2), (Some(4), 2)]);
    assert!(report.rows.iter().all(|row| row.seconds > 0.0 && row.share_of_two_way > 0.0), "{report:?}");
    assert!(measure(&device(), 1009, &[0], 1, 7).is_err());
}
