//! Tests the instructions of tensor cores on every device.

use launch::Device;
use tests::{all_devices, gpu, simulated};
use workbench::cases::tensor_library::{conversions, matmul, moves, products, tiles, whole_tiles};
use workbench::cases::wgmma;

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

/// Returns the `devices` that have products of a warpgroup: simulators, and a GPU of compute capability 9.0.
fn with_warpgroups(devices: impl Iterator<Item = Device>) -> impl Iterator<Item = Device> {
    devices.filter(|device| {
        let capability = device.properties().unwrap().compute_capability;
        capability.is_none_or(|capability| capability == (9, 0))
    })
}

#[test]
fn products_of_a_warpgroup_are_those_of_the_host() {
    for device in with_warpgroups([simulated(0)].into_iter().chain(gpu())) {
        wgmma::products(&device).unwrap();
        wgmma::products_of_fragments(&device).unwrap();
        wgmma::rounded_products(&device).unwrap();
        wgmma::pipelined(&device, [512, 512, 320], 1).unwrap();
    }
    for device in with_warpgroups(all_devices()) {
        wgmma::transposed_products(&device).unwrap();
        wgmma::groups(&device).unwrap();
        wgmma::double(&device).unwrap();
        wgmma::warpgroups(&device).unwrap();
        wgmma::registers(&device).unwrap();
    }
}
