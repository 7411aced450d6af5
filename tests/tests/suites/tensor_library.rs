//! Tests the instructions of tensor cores on every device.

use tests::{all_devices, devices};
use workbench::cases::tensor_library::{conversions, moves, products, tiles, whole_tiles};

#[test]
fn products_of_small_whole_numbers_are_exact() {
    all_devices().for_each(|device| products(&device).unwrap());
}

#[test]
fn matrices_are_moved() {
    for device in all_devices() {
        moves(&device).unwrap();
        tiles(&device).unwrap();
        whole_tiles(&device).unwrap();
    }
}

#[test]
fn floats_of_8_bits_are_rounded_as_a_gpu_does() {
    devices().for_each(|device| conversions(&device, 1 << 16).unwrap());
}
