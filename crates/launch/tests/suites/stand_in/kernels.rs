//! The kernels that the driver knows by name, and functions to launch them.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Device, DeviceChoice, Error, LaunchConfig, PtxImage, PtxModule};

/// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
#[kernel]
pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, a.mul_add(x.load(i), y.load(i)));
    }
}

/// Fails some time after its launch.
#[kernel]
pub fn fail() {}

/// Needs more registers than there are.
#[kernel]
pub fn greedy() {}

const ENTRIES: &str = ".version 7.0\n.target sm_70\n.entry saxpy(\n.entry fail(\n.entry greedy(\n";

/// The part of their PTX that the driver reads.
pub const PTX: PtxImage = PtxImage::new(70, ENTRIES);

/// The PTX of the suite's kernels, which include these.
pub const MODULES: &[PtxModule] = &[PtxModule { path: env!("CARGO_CRATE_NAME"), images: &[PTX] }];

/// Makes the driver print its operations.
pub const LOG: &[(&str, &str)] = &[("STAND_IN_LOG", "1")];

/// Returns a launch of one warp.
pub fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

/// Opens the GPU.
pub fn open() -> Result<Device, Error> {
    Device::open(DeviceChoice::Gpu(None), MODULES)
}
