//! The cases of the kernels in [`gpu::tensor_library`] with bulk copies and tensor maps.

use gpu::tensor_library::{self as kernels, BOX, TILE};
use launch::{Device, LaunchConfig, Swizzle};

use crate::case::{Case, CaseError, equal};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Device) -> Result<(), CaseError>| {
        cases.push(Case::new("tensor_library", kernel[0], kernel, what, move |stage| work(&stage.device)));
    };
    add(&["bulk_copy"], "2 blocks, a tile each", |device| copy(device, 2));
    add(&["bulk_pipeline"], "a block, 5 tiles in two stages", |device| pipeline(device, 5));
    add(&["bulk_reduce"], "2 blocks, a tile of f32 each", reduce);
    add(&["bulk_combine"], "a block, five operations with u32", combine);
    add(&["bulk_exchange"], "a cluster of 2 blocks", exchange);
    add(&["bulk_multicast"], "a cluster of 2 blocks, 3 tiles", multicast);
    add(&["tensor_copy"], "a box of 32 x 32 elements with a swizzle, partly outside of the tensor", tensor_copy);
    add(&["tensor_dimensions"], "boxes of 1, 3, 4 and 5 dimensions", dimensions);
    add(&["tensor_reduce"], "2 blocks that add to one box", tensor_reduce);
    add(&["tensor_multicast"], "a cluster of 2 blocks", tensor_multicast);
    cases
}

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect()
}

/// Copies each of `tiles` tiles by a block.
pub(super) fn copy(device: &Device, tiles: usize) -> Result<(), CaseError> {
    let x = numbers(tiles * TILE);
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(x.len())?);
    device.launch(LaunchConfig::new(tiles as u32, 64), kernels::bulk_copy(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &x.iter().map(|x| x.wrapping_add(1)).collect::<Vec<u32>>())
}

/// Copies `tiles` tiles by one block.
pub(super) fn pipeline(device: &Device, tiles: usize) -> Result<(), CaseError> {
    let x = numbers(tiles * TILE);
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(x.len())?);
    device.launch(LaunchConfig::new(1, 64), kernels::bulk_pipeline(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &x)
}

pub(super) fn reduce(device: &Device) -> Result<(), CaseError> {
    let x: Vec<f32> = (0..2 * TILE as u16).map(f32::from).collect();
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(TILE)?);
    device.launch(LaunchConfig::new(2, 64), kernels::bulk_reduce(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &(0..TILE).map(|i| x[i] + x[i + TILE]).collect::<Vec<f32>>())
}

fn combine(device: &Device) -> Result<(), CaseError> {
    let x = numbers(TILE);
    let (dx, mut y) = (device.upload(&x)?, device.upload(&vec![1_u32 << 30; 5 * TILE])?);
    device.launch(LaunchConfig::new(1, 64), kernels::bulk_combine(dx.view(), y.view_mut()))?;
    let operations: [fn(u32) -> u32; 5] =
        [|x| x.min(1 << 30), |x| x.max(1 << 30), |x| x & 1 << 30, |x| x | 1 << 30, |x| x ^ 1 << 30];
    let expected: Vec<u32> = operations.iter().flat_map(|f| x.iter().map(|&x| f(x))).collect();
    equal("y", &y.download()?, &expected)
}

pub(super) fn exchange(device: &Device) -> Result<(), CaseError> {
    let x = numbers(2 * TILE);
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(x.len())?);
    device.launch(LaunchConfig::new(2, 64), kernels::bulk_exchange(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &[&x[TILE..], &x[..TILE]].concat())
}

pub(super) fn multicast(device: &Device) -> Result<(), CaseError> {
    let x = numbers(3 * TILE);
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(2 * x.len())?);
    device.launch(LaunchConfig::new(2, 64), kernels::bulk_multicast(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &[&x[..], &x[..]].concat())
}

/// The number of columns and rows of the matrix of the cases with tensor maps.
const SHAPE: [usize; 2] = [40, 36];

fn matrix() -> Vec<f32> {
    (0..(SHAPE[0] * SHAPE[1]) as u16).map(f32::from).collect()
}

pub(super) fn tensor_copy(device: &Device) -> Result<(), CaseError> {
    let x = matrix();
    let (dx, mut y, mut z) = (device.upload(&x)?, device.zeroed(x.len())?, device.zeroed(BOX * BOX)?);
    let from = device.tensor_map(dx.view(), SHAPE).tile([BOX, BOX]).swizzle(Swizzle::Bytes128).build()?;
    let to = device.tensor_map(y.view_mut(), SHAPE).tile([BOX, BOX]).swizzle(Swizzle::Bytes128).build()?;
    device.launch(LaunchConfig::new(1, 64), kernels::tensor_copy(from, to, z.view_mut(), [12, -3], [4, 2], 4096))?;
    let expected = (0..x.len()).map(|i| {
        // The column of `x`, and the row, of which the first three of the box are outside.
        let (column, row) = (i % SHAPE[0] + 12 - 4, i / SHAPE[0]);
        let is_copied = (12..SHAPE[0]).contains(&column) && (2 + 3..2 + BOX).contains(&row);
        if is_copied { x[(row - 5) * SHAPE[0] + column] } else { 0.0 }
    });
    equal("y", &y.download()?, &expected.collect::<Vec<f32>>())
}

fn dimensions(device: &Device) -> Result<(), CaseError> {
    let x = numbers(16 * 4 * 3 * 3 * 2);
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(4 * 64)?);
    let one = device.tensor_map(dx.view(), [200]).tile([64]).build()?;
    let three = device.tensor_map(dx.view(), [16, 4, 3]).tile([8, 4, 2]).build()?;
    let four = device.tensor_map(dx.view(), [16, 4, 3, 3]).tile([8, 4, 2, 2]).element_strides([1, 2, 1, 1]).build()?;
    let five = device.tensor_map(dx.view(), [16, 4, 3, 3, 2]).tile([4, 2, 2, 2, 2]).build()?;
    device.launch(LaunchConfig::new(1, 64), kernels::tensor_dimensions(one, three, four, five, y.view_mut()))?;
    equal("the box of one dimension", &y.download()?[..64], &x[4..68])
}

fn tensor_reduce(device: &Device) -> Result<(), CaseError> {
    let x = matrix();
    let mut y = device.upload(&x)?;
    let map = device.tensor_map(y.view_mut(), SHAPE).tile([BOX, BOX]).build()?;
    device.launch(LaunchConfig::new(2, 64), kernels::tensor_reduce(map, [0, 8]))?;
    let expected =
        x.iter().enumerate().map(|(i, x)| x + if i % SHAPE[0] < BOX && i / SHAPE[0] >= 8 { 2.0 } else { 0.0 });
    equal("y", &y.download()?, &expected.collect::<Vec<f32>>())
}

fn tensor_multicast(device: &Device) -> Result<(), CaseError> {
    let x = matrix();
    let (dx, mut y) = (device.upload(&x)?, device.zeroed(2 * BOX * BOX)?);
    let map = device.tensor_map(dx.view(), SHAPE).tile([BOX, BOX]).build()?;
    device.launch(LaunchConfig::new(2, 64), kernels::tensor_multicast(map, y.view_mut()))?;
    let expected = (0..2 * BOX * BOX).map(|i| x[i / BOX % BOX * SHAPE[0] + i % BOX]);
    equal("y", &y.download()?, &expected.collect::<Vec<f32>>())
}
