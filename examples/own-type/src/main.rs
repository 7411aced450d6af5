//! Reduces, scans, sorts and counts elements of the program's own types, and multiplies matrices with an epilogue of
//! its own, on a GPU or in the simulator.

use gridstride::histogram::Bins;
use gridstride::matmul::{Matmul, Matrix as Operand, MatrixMut};
use gridstride::prelude::*;
use gridstride::reduce::{Reducer, default_rung};
use launch::LaunchConfig;
use own_type_kernels::select::{ITEMS, keep_positive};
use own_type_kernels::{Farthest, IsNear, Matrix, NearestTo, Pixel, Point, Swish};

fn main() -> Result<(), AlgorithmError> {
    let device = Device::open(DeviceChoice::Auto, modules())?;
    println!("{}", device.summary());
    run(&device)
}

/// Returns the PTX of the library's kernels and of this program's instances.
fn modules() -> &'static [launch::PtxModule] {
    [gridstride::MODULES, launch::include_ptx!("own_type_kernels")].concat().leak()
}

fn run(device: &Device) -> Result<(), AlgorithmError> {
    let points: Vec<_> = (0..10_000).map(|i| Point { x: (i % 101) as f32, y: (i % 89) as f32, z: 1.0 }).collect();
    let farthest = device.reduce(&points, Farthest)?;
    println!("the farthest of {} points is {farthest:?}", points.len());
    assert_eq!(farthest, Point { x: 100.0, y: 88.0, z: 1.0 });

    let near = device.select(&points, IsNear { square: 2.0 })?;
    println!("{} points are near the origin", near.len());
    assert_eq!(near.len(), points.iter().filter(|point| point.x * point.x + point.y * point.y <= 1.0).count());

    let sorted = device.sorted_by(&points, NearestTo(Point { x: 50.0, y: 40.0, z: 1.0 }))?;
    println!("the nearest point is {:?}, and the last one {:?}", sorted[0], sorted[9_999]);
    assert_eq!(sorted[0], Point { x: 50.0, y: 40.0, z: 1.0 });
    // Points of one distance keep their order.
    assert_eq!(sorted[1..3], [Point { x: 50.0, y: 39.0, z: 1.0 }, Point { x: 51.0, y: 40.0, z: 1.0 }]);

    // The powers of this matrix have the Fibonacci numbers.
    let powers = device.scan_inclusive(&[Matrix([[1, 1], [1, 0]]); 40], Product)?;
    println!("the 40th Fibonacci number is {}", powers[39].0[0][1]);
    assert_eq!(powers[39].0[0][1], 102_334_155);

    let (_, products) = device.reduce_by_key(&[1, 1, 1, 2_u32], &[Matrix([[1, 1], [1, 0]]); 4], Product)?;
    assert_eq!(products, [Matrix([[3, 2], [2, 1]]), Matrix([[1, 1], [1, 0]])]);

    let products = device.reduce_segments(&[Matrix([[1, 1], [1, 0]]); 4], &[0_u32, 3, 4], Product)?;
    assert_eq!(products, [Matrix([[3, 2], [2, 1]]), Matrix([[1, 1], [1, 0]])]);

    let picture: Vec<_> = (0..=255).map(|red| Pixel([red, 0, 0, 255])).collect();
    let brightness = device.histogram(&picture, Bins::even(4, 0, 256)?)?;
    println!("pixels by brightness: {brightness:?}");
    assert_eq!(brightness, [256, 0, 0, 0]);

    // The first matrix has ones, and the second one zeros but for its first column.
    let a = device.upload(&[bf16::from_f32(1.0); 16 * 32])?;
    let b: Vec<_> = (0..32 * 24).map(|i| bf16::from_f32(if i % 24 == 0 { 0.125 } else { 0.0 })).collect();
    let (b, mut c) = (device.upload(&b)?, device.alloc(16 * 24)?);
    let mut product = Matmul::<bf16>::new(device, [16, 24, 32])?.epilogue(Swish { beta: 1.0 });
    let (a, b) = (Operand::row_major(&a, 16, 32)?, Operand::row_major(&b, 32, 24)?);
    product.run(device.queue(), a, b, MatrixMut::row_major(&mut c, 16, 24)?)?;
    let c = c.download()?;
    println!("the first elements of the product are {} and {}", c[0].to_f32(), c[1].to_f32());
    assert!((c[0].to_f32() - 4.0 / (1.0 + (-4.0_f32).exp())).abs() < 0.02 && c[1].to_f32() == 0.0);

    let waves: Vec<_> = (0..5_000).map(|i| (i % 7) as f32 - 3.0).collect();
    let kept = positive(device, &waves)?;
    println!("{} of {} elements are positive", kept.len(), waves.len());
    assert_eq!(kept.iter().sum::<f32>(), waves.iter().filter(|&&x| x > 0.0).sum());
    assert_eq!(sum_of_positive(device, &waves)?, kept.iter().sum::<f32>());
    Ok(())
}

/// Returns the positive elements of `x`, by a kernel of this program.
fn positive(device: &Device, x: &[f32]) -> Result<Vec<f32>, AlgorithmError> {
    let (x, mut kept, mut count) = (device.upload(x)?, device.zeroed(x.len())?, device.zeroed(1)?);
    let blocks = x.len().div_ceil(256 * ITEMS) as u32;
    let call = keep_positive(x.view(), kept.view_mut(), count.view_mut());
    device.launch(LaunchConfig::new(blocks, 256), call)?;
    let mut kept = kept.download()?;
    kept.truncate(count.download()?[0] as usize);
    Ok(kept)
}

/// Returns the sum of the positive elements of `x`: a kernel of this program writes them to a buffer, and a kernel of
/// the library sums that buffer, in the same queue and without a copy to the host between the two.
fn sum_of_positive(device: &Device, x: &[f32]) -> Result<f32, AlgorithmError> {
    let x = device.upload(x)?;
    let (mut kept, mut count) = (device.zeroed(x.len())?, device.zeroed(1)?);
    let mut sum = Reducer::<f32, Sum>::new(device, default_rung::<f32, Sum>(), x.len())?;
    let stream = device.stream()?;
    let blocks = x.len().div_ceil(256 * ITEMS) as u32;
    let call = keep_positive(x.view(), kept.view_mut(), count.view_mut());
    stream.queue().launch(LaunchConfig::new(blocks, 256), call)?;
    sum.run_in(stream.queue(), &kept)?; // begins when the launch before it in the queue has ended
    stream.queue().synchronize()?;
    Ok(sum.result().download()?[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program on devices that look for data races and uninitialised reads, each in another order of threads
    /// and blocks, and on a GPU if there is one.
    #[test]
    fn the_program_runs() -> Result<(), AlgorithmError> {
        launch::checked_devices().chain(Device::open(DeviceChoice::Auto, modules())).try_for_each(|device| run(&device))
    }
}
