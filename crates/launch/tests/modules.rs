//! A kernel in a file of its own name, brought out under that name.

use launch::{Device, DeviceChoice, LaunchConfig};

mod thrice;
mod twice;

pub use thrice::thrice;
pub use twice::twice;

#[test]
fn a_kernel_may_have_the_name_of_its_file() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.upload(&[1_u32, 2]).unwrap();
    device.launch(LaunchConfig::new(1, 2), twice(y.view_mut())).unwrap();
    device.launch(LaunchConfig::new(1, 2), thrice(y.view_mut())).unwrap();
    assert_eq!(y.download().unwrap(), [6, 12]);
    assert_eq!(twice::KERNELS[0].name, "twice");
}
