//! Asserts that a fault is reported with a remedy, and that the remedy makes the kernel correct.

use launch::{Device, Error, Fault, checked_devices};

/// Asserts that every order reports the faulty kernel with a message that contains `words`, and that the cured kernel
/// returns `right`. The second argument of `launch` selects the kernel: true for the faulty one. Returns the first
/// fault.
#[track_caller]
pub fn assert_cured(
    words: &str,
    right: &[u32],
    launch: impl Fn(&Device, bool) -> Result<Vec<u32>, Error>,
) -> Box<Fault> {
    let faults: Vec<Box<Fault>> = checked_devices()
        .enumerate()
        .map(|(order, device)| match launch(&device, true) {
            Err(Error::Fault(fault)) => {
                assert!(fault.to_string().contains(words), "order {order}: {fault}");
                fault
            }
            other => panic!("order {order}: {other:?}"),
        })
        .collect();
    assert_sound(right, |device| launch(device, false));
    faults.into_iter().next().unwrap()
}

/// Asserts that the kernel has no fault in any order and returns `right`.
#[track_caller]
pub fn assert_sound(right: &[u32], launch: impl Fn(&Device) -> Result<Vec<u32>, Error>) {
    for (order, device) in checked_devices().enumerate() {
        match launch(&device) {
            Ok(found) => assert_eq!(found, right, "order {order}"),
            Err(error) => panic!("order {order}: {error}"),
        }
    }
}

/// Returns the number of the first line of `source` that contains `marker`.
#[track_caller]
pub fn line_of(source: &str, marker: &str) -> u32 {
    source.lines().position(|line| line.contains(marker)).unwrap() as u32 + 1
}
