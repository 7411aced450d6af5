//! Compares the counts of tensor cores and bulk copies with those of a GPU's own counters.
//!
//! The counters are those of Nsight Compute on an H100, 2026-11-27. docs/explain.md has their names.

use cuda_std::f16;
use explain::{KernelFigures, Totals};
use gpu::tensor_library::{self as kernels, BOX};
use launch::{Device, Kernel, LaunchConfig, Swizzle, TensorElement};

use super::explained::figures;
use super::{bulk, tensor_library, wgmma};
use crate::case::CaseError;

fn totals(run: impl FnOnce(&Device) -> Result<(), CaseError>) -> Totals {
    figures(run).totals
}

/// Returns requests and sectors of loads and stores.
fn global(totals: &Totals) -> [u64; 4] {
    let (load, store) = (totals.global.load, totals.global.store);
    [load.requests, load.sectors, store.requests, store.sectors]
}

#[test]
fn products_are_those_that_a_gpu_counts() {
    let pipelined = totals(|device| wgmma::pipelined(device, [512, 512, 320], 1));
    // A product of a warpgroup counts in each of its warps, and a multicast in each block.
    assert_eq!((pipelined.products.executions, pipelined.products.f16), (1_280, 167_772_160));
    assert_eq!((pipelined.bulk.load.copies, pipelined.bulk.load.delivered_bytes), (80, 1_966_080));
    assert_eq!(global(&pipelined), [0, 0, 4_096, 32_768]);

    let warp = totals(|device| tensor_library::matmul(device, false));
    assert_eq!((warp.products.executions, warp.products.f16), (48, 196_608));
    assert_eq!(global(&warp), [576, 4_608, 64, 512]);

    let shared = totals(|device| tensor_library::matmul(device, true));
    assert_eq!((shared.products.executions, shared.products.f16), (48, 196_608));
    // 96 instructions `ldmatrix`.
    assert_eq!((shared.shared.load.requests, shared.shared.load.wavefronts), (96, 288));
    assert_eq!(global(&shared), [288, 576, 64, 512]);
}

#[test]
fn bulk_copies_are_those_that_a_gpu_counts() {
    for totals in [totals(|device| bulk::copy(device, 6)), totals(|device| bulk::pipeline(device, 6))] {
        for copies in [totals.bulk.load, totals.bulk.store] {
            assert_eq!((copies.copies, copies.bytes, copies.sectors), (6, 6_144, 192));
        }
    }
}

/// Copies a box of a tensor of 53 × 41 elements, of which a row takes 64.
fn copy_a_box<T: TensorElement>(tile: [usize; 2], swizzle: Swizzle, [from, to]: [[i32; 2]; 2]) -> KernelFigures
where
    kernels::tensor_copy<T>: Kernel,
{
    figures(|device| {
        let (x, mut y) = (device.zeroed::<T>(64 * 41)?, device.zeroed::<T>(64 * 41)?);
        let mut z = device.zeroed::<T>(tile[0] * tile[1])?;
        let map = device.tensor_map(x.view(), [53, 41]).strides([1, 64]).tile(tile).swizzle(swizzle).build()?;
        let target = device.tensor_map(y.view_mut(), [53, 41]).strides([1, 64]).tile(tile).swizzle(swizzle).build()?;
        let bytes = (tile[0] * tile[1] * size_of::<T>()) as u32;
        let call = kernels::tensor_copy::<T>(map, target, z.view_mut(), from, to, bytes);
        device.launch(LaunchConfig::new(1, 64), call)?;
        Ok(())
    })
}

#[test]
fn boxes_are_those_that_a_gpu_counts() {
    let sectors = |kernel: KernelFigures| [kernel.totals.bulk.load.sectors, kernel.totals.bulk.store.sectors];
    let narrow = |tile, swizzle, places| sectors(copy_a_box::<f16>(tile, swizzle, places));
    let wide = |tile, swizzle, places| sectors(copy_a_box::<f32>(tile, swizzle, places));
    let (inside, partly) = ([[8, 5], [16, 3]], [[0, 0], [32, 20]]);
    assert_eq!(narrow([32, BOX], Swizzle::Bytes64, inside), [96, 64]);
    assert_eq!(narrow([16, BOX], Swizzle::Bytes32, inside), [64, 32]);
    assert_eq!(narrow([32, BOX], Swizzle::None, partly), [64, 42]);
    assert_eq!(wide([32, BOX], Swizzle::Bytes128, inside), [128, 128]);
    assert_eq!(wide([16, BOX], Swizzle::Bytes64, partly), [64, 42]);
    assert_eq!(wide([8, BOX], Swizzle::Bytes32, partly), [32, 21]);
    // The GPU's counter of loads contains the zeros for elements outside of the tensor: 94 and 128 sectors. Without
    // them there are two or three sectors in each of 30 rows.
    let outside = [[-8, -2], [0, 7]];
    assert_eq!(narrow([32, BOX], Swizzle::Bytes64, outside), [94 - 30 - 2 * 2, 64]);
    assert_eq!(wide([32, BOX], Swizzle::Bytes128, outside), [128 - 30 - 2 * 4, 128]);
}
