//! Tests the instructions of tensor cores on every device.

use tests::{all_devices, gpu, simulated};
use workbench::cases::tensor_library::{conversions, matmul, moves, products, tiles, whole_tiles};

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
        matmul(&device, false).unwrap();
        matmul(&device, true).unwrap();
    }
}

#[test]
fn floats_of_8_bits_are_rounded_as_a_gpu_does() {
    [simulated(0)].into_iter().chain(gpu()).for_each(|device| conversions(&device, 1 << 16).unwrap());
}
