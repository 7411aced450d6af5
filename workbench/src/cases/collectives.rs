//! The cases of the kernels in [`crate::collectives`], which use each function of [`gpu::collective`] once.

use gpu::operator::{Affine, Compose, Operator};
use launch::LaunchConfig;

use crate::case::{Case, CaseError, Stage, bits, equal};
use crate::collectives as kernels;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
        cases.push(Case::new("collectives", kernel[0], kernel, what, work));
    };
    add(&["block_scans"], "blocks of 1 to 1024 threads", |stage| {
        [1, 31, 32, 33, 64, 100, 257, 1024].into_iter().try_for_each(|block| block_scans(stage, block))
    });
    add(&["warp_scans"], "blocks of 4 to 100 threads", |stage| {
        [4, 31, 32, 64, 100].into_iter().try_for_each(|block| warp_scans(stage, block))
    });
    add(&["reductions"], "blocks of 1 to 1024 threads", |stage| {
        [1, 16, 32, 64, 1024].into_iter().try_for_each(|block| reductions(stage, block))
    });
    add(&["full_block"], "3 blocks of 4 warps", full_block);
    add(&["copy_tiles"], "2 blocks of 64 threads, 0 to 383 elements", |stage| {
        [0, 1, 100, 191, 192, 193, 383].into_iter().try_for_each(|n| copy_tiles(stage, n))
    });
    add(&["tile_scan"], "a block of 4 warps, whole and partial tiles", |stage| {
        [1, 500, 1023, 1024].into_iter().try_for_each(|n| tile_scan(stage, n))
    });
    add(&["compaction"], "the odd ones of 64 elements", compaction);
    cases
}

fn compaction(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..64).map(|i| bits(i) as u32).collect();
    let odd: Vec<u32> = x.iter().copied().filter(|x| x % 2 == 1).collect();
    let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc(odd.len())?);
    stage.device.launch(LaunchConfig::new(1, 32), kernels::compaction(dx.view(), y.view_mut()))?;
    equal("y", &y.download()?, &odd)
}

/// Returns `n` affine maps whose composition depends on their order.
fn maps(n: u32) -> Vec<Affine> {
    (0..n).map(|i| Affine { factor: 2 * i + 3, offset: 7 * i + 1 }).collect()
}

fn composed(maps: &[Affine]) -> Affine {
    maps.iter().fold(Compose::IDENTITY, |all, &map| Compose::combine(all, map))
}

fn block_scans(stage: &Stage, block: u32) -> Result<(), CaseError> {
    let (device, maps) = (&stage.device, maps(block));
    let n = maps.len();
    let (x, mut inclusive) = (device.upload(&maps)?, device.alloc(n)?);
    let (mut exclusive, mut ends) = (device.alloc(n)?, device.alloc(3)?);
    let call = kernels::block_scans(x.view(), inclusive.view_mut(), exclusive.view_mut(), ends.view_mut());
    device.launch(LaunchConfig::new(1, block), call)?;
    let mut all = vec![Compose::IDENTITY];
    all.extend(maps.iter().scan(Compose::IDENTITY, |all, &map| {
        *all = Compose::combine(*all, map);
        Some(*all)
    }));
    equal("inclusive", &inclusive.download()?, &all[1..])?;
    equal("exclusive", &exclusive.download()?, &all[..n])?;
    equal("ends", &ends.download()?, &[all[n], all[n], maps[n - 1]])
}

fn warp_scans(stage: &Stage, block: u32) -> Result<(), CaseError> {
    let device = &stage.device;
    let values: Vec<u64> = (0..block).map(|i| u64::from(i) << 30 | 5).collect();
    let n = values.len();
    let (x, mut inclusive) = (device.upload(&values)?, device.alloc(n)?);
    let (mut exclusive, mut third) = (device.alloc(n)?, device.alloc(n)?);
    let call = kernels::warp_scans(x.view(), inclusive.view_mut(), exclusive.view_mut(), third.view_mut());
    device.launch(LaunchConfig::new(1, block), call)?;
    let first = |i: usize| i / 32 * 32;
    let sums = |end: fn(usize) -> usize| (0..n).map(|i| values[first(i)..end(i)].iter().sum()).collect::<Vec<u64>>();
    equal("inclusive", &inclusive.download()?, &sums(|i| i + 1))?;
    equal("exclusive", &exclusive.download()?, &sums(|i| i))?;
    equal("third", &third.download()?, &(0..n).map(|i| values[first(i) + 3]).collect::<Vec<_>>())
}

fn reductions(stage: &Stage, block: u32) -> Result<(), CaseError> {
    let (device, maps) = (&stage.device, maps(block));
    let (x, mut of_warps, mut of_block) =
        (device.upload(&maps)?, device.alloc(maps.len().div_ceil(32))?, device.alloc(1)?);
    let call = kernels::reductions(x.view(), of_warps.view_mut(), of_block.view_mut());
    device.launch(LaunchConfig::new(1, block), call)?;
    equal("of_warps", &of_warps.download()?, &maps.chunks(32).map(composed).collect::<Vec<_>>())?;
    equal("of_block", &of_block.download()?, &[composed(&maps)])
}

fn full_block(stage: &Stage) -> Result<(), CaseError> {
    let threads = 32 * kernels::WARPS;
    let x: Vec<u32> = (0..3 * threads).map(|i| bits(i) as u16 as u32).collect();
    let (dx, mut sums) = (stage.device.upload(&x)?, stage.device.alloc(3)?);
    stage.device.launch(LaunchConfig::new(3, threads as u32), kernels::full_block(dx.view(), sums.view_mut()))?;
    equal("sums", &sums.download()?, &x.chunks(threads).map(|block| block.iter().sum()).collect::<Vec<u32>>())
}

fn copy_tiles(stage: &Stage, n: u16) -> Result<(), CaseError> {
    let device = &stage.device;
    let values: Vec<u16> = (0..n).map(|i| i * 3).collect();
    let x = device.upload(&values)?;
    let (mut by_blocks, mut by_stripes) = (device.zeroed(values.len())?, device.zeroed(values.len())?);
    let call = kernels::copy_tiles(x.view(), by_blocks.view_mut(), by_stripes.view_mut());
    device.launch(LaunchConfig::new(2, 64), call)?;
    equal("by_blocks", &by_blocks.download()?, &values)?;
    equal("by_stripes", &by_stripes.download()?, &values)
}

fn tile_scan(stage: &Stage, n: usize) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..n).map(|i| bits(i) as u16 as u32).collect();
    let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc(n)?);
    let config = LaunchConfig::new(1, 32 * kernels::WARPS as u32);
    stage.device.launch(config, kernels::tile_scan(dx.view(), y.view_mut()))?;
    let sums = x.iter().scan(0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    equal("y", &y.download()?, &sums.collect::<Vec<u32>>())
}
