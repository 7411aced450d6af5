//! Tests a kernel in a module of the same name, re-exported under that name.

use launch::{Device, DeviceChoice, LaunchConfig};

mod thrice;
mod twice;

mod plus {
    use cuda_std::{GlobalMut, kernel, thread};

    /// Adds `n` to every `y[i]`.
    #[kernel]
    pub fn plus(n: u32, y: GlobalMut<u32>) {
        let i = thread::index_1d();
        y.store(i, y.load(i) + n);
    }
}

mod negate {
    use cuda_std::{Element, GlobalMut, kernel, thread};

    /// Negates every `y[i]`.
    #[kernel(instances(T = [i32, i64]))]
    pub fn negate<T: Element + core::ops::Neg<Output = T>>(y: GlobalMut<T>) {
        let i = thread::index_1d();
        y.store(i, -y.load(i));
    }
}

pub use negate::negate;
pub use plus::plus;
pub use thrice::thrice;
pub use twice::twice;

#[test]
fn a_kernel_may_have_the_name_of_its_module() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.upload(&[1_u32, 2]).unwrap();
    device.launch(LaunchConfig::new(1, 2), plus(3, y.view_mut())).unwrap();
    assert_eq!(y.download().unwrap(), [4, 5]);
    let mut z = device.upload(&[1_i64, 2]).unwrap();
    device.launch(LaunchConfig::new(1, 2), negate(z.view_mut())).unwrap();
    assert_eq!(z.download().unwrap(), [-1, -2]);
}

#[test]
fn a_kernel_may_have_the_name_of_its_file() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let mut y = device.upload(&[1_u32, 2]).unwrap();
    device.launch(LaunchConfig::new(1, 2), twice(y.view_mut())).unwrap();
    device.launch(LaunchConfig::new(1, 2), thrice(y.view_mut())).unwrap();
    assert_eq!(y.download().unwrap(), [6, 12]);
    assert_eq!(twice::KERNELS[0].name, "twice");
}
