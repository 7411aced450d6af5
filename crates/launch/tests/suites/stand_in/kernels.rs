//! The kernels that the driver knows by name, and how the suites launch them.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{Device, DeviceChoice, Error, LaunchConfig, PtxImage, PtxModule};

/// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
#[kernel]
pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, a.mul_add(x.load(i), y.load(i)));
    }
}

/// Fails, a while after it was launched.
#[kernel]
pub fn fail() {}

/// Needs more registers than there are.
#[kernel]
pub fn greedy() {}

const ENTRIES: &str = ".version 7.0\n.target sm_70\n.entry saxpy(\n.entry fail(\n.entry greedy(\n";

/// Their PTX, as far as the driver looks at it.
pub const PTX: PtxImage = PtxImage::new(70, ENTRIES);

/// The PTX of the suite's kernels, of which these are some.
pub const MODULES: &[PtxModule] = &[PtxModule { path: env!("CARGO_CRATE_NAME"), images: &[PTX] }];

/// Has the driver say what it does.
pub const LOG: &[(&str, &str)] = &[("STAND_IN_LOG", "1")];

/// One warp.
pub fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

/// The GPU.
pub fn open() -> Result<Device, Error> {
    Device::open(DeviceChoice::Gpu(None), MODULES)
}
