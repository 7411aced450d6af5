//! The kernels that the stand-in driver knows by name, and functions to launch them.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Device, DeviceChoice, Error, LaunchConfig, PtxImage, PtxModule};

/// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
#[kernel]
pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, a.mul_add(x.load(i), y.load(i)));
    }
}

/// Fails on the stand-in driver some time after its launch.
#[kernel]
pub fn fail() {}

/// Needs more registers than the stand-in GPU has.
#[kernel]
pub fn greedy() {}

const ENTRIES: &str = ".version 7.0\n.target sm_70\n.entry saxpy(\n.entry fail(\n.entry greedy(\n";

/// The part of the kernels' PTX that the stand-in driver reads.
pub const PTX: PtxImage = PtxImage::new(70, ENTRIES);

/// The modules with the PTX of these kernels, for the whole test program.
pub const MODULES: &[PtxModule] = &[PtxModule { path: env!("CARGO_CRATE_NAME"), images: &[PTX] }];

/// The environment with which the stand-in driver prints its operations.
pub const LOG: &[(&str, &str)] = &[("STAND_IN_LOG", "1")];

/// Returns a launch of one warp.
pub fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

/// Opens the stand-in GPU with [`MODULES`].
pub fn open() -> Result<Device, Error> {
    Device::open(DeviceChoice::Gpu(None), MODULES)
}
