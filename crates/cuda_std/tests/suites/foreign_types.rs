//! The types of the crates glam and half as elements and parameters. Run with `--features glam-0-30,half`.

use crate::common::{Device, download, view, view_mut};
use cuda_std::{Global, GlobalMut, kernel, thread};
use glam_0_30::Vec3;
use half_crate::{bf16, f16};

#[kernel]
fn scale(by: f16, x: Global<Vec3>, y: GlobalMut<Vec3>, sums: GlobalMut<bf16>) {
    let i = thread::index_1d();
    y[i] = x[i] * by.to_f32();
    sums[i] = bf16::from_f32(x[i].element_sum());
}

#[test]
fn types_of_glam_and_half_are_elements() {
    let device = Device::new();
    let x = device.upload(&[Vec3::new(1.0, 2.0, 3.0), Vec3::ONE]);
    let (y, sums) = (device.room::<Vec3>(2), device.room::<bf16>(2));
    device.run(1, 2, &scale(f16::from_f32(0.5), view(&x), view_mut(&y), view_mut(&sums))).unwrap();
    assert_eq!(download::<Vec3>(&y), [Vec3::new(0.5, 1.0, 1.5), Vec3::splat(0.5)]);
    assert_eq!(download::<bf16>(&sums), [bf16::from_f32(6.0), bf16::from_f32(3.0)]);
}
