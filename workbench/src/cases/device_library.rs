//! The cases of the kernels in [`gpu::device_library`], which use each part of `cuda_std` once.

use gpu::device_library as kernels;
use gpu::operator::{Affine, Compose, Max, Operator, Sum};
use launch::LaunchConfig;

use crate::case::{Case, CaseError, Stage, bits, equal};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str; 1], what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
        cases.push(Case::new("device_library", kernel[0], kernel, what, work));
    };
    add(&["atomics_integer"], "4 blocks of 96 threads", atomics_integer);
    add(&["atomics_float"], "3 blocks of 40 threads", atomics_float);
    add(&["hand_over"], "20 blocks of 32 threads", |stage| hand_over(stage, false));
    add(&["hand_over_fenced"], "20 blocks of 32 threads", |stage| hand_over(stage, true));
    add(&["wide_products"], "3 blocks of 64 threads", wide_products);
    add(&["combine_block"], "2 blocks of 64 threads: f32, i64 and affine maps", combine_block);
    add(&["timers"], "2 blocks of 40 threads", timers);
    add(&["coordinates"], "3 x 2 x 2 blocks of 5 x 3 x 4 threads", coordinates);
    add(&["bounded"], "2 blocks of 128 threads", bounded);
    add(&["add_neighbours"], "2 launches, each of 2 blocks of 64 threads", add_neighbours);
    add(&["add_slices"], "4 blocks of 64 threads", add_slices);
    add(&["print_numbers"], "2 blocks of one thread", print_numbers);
    add(&["store_at"], "2 blocks of 32 threads, one of which stores the last element", store_at);
    add(&["copy_wide"], "2 blocks of 64 threads", copy_wide);
    add(&["copy_hinted"], "2 blocks of 64 threads", copy_hinted);
    add(&["copy_async"], "2 blocks of 64 threads, 5 tiles", copy_async);
    add(&["copy_async_by_elements"], "2 blocks of 64 threads, 699 elements from element 1 on", copy_async_by_elements);
    add(&["block_sum"], "3 blocks of 256 threads", block_sum);
    add(&["count_even"], "3 blocks of 70 threads", count_even);
    add(&["shuffles"], "a block of 96 threads", shuffles);
    add(&["votes"], "a block of 45 threads, one whole warp and a partial one", votes);
    add(&["cluster_sum"], "2 clusters of 3 blocks of 64 threads", cluster_sum);
    add(&["cluster_reverse"], "2 clusters of 2 blocks of 64 threads", cluster_reverse);
    cases
}

fn cluster_sum(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..6 * 64).collect();
    let (x_on_device, mut sums) = (stage.device.upload(&x)?, stage.device.zeroed(2)?);
    let call = kernels::cluster_sum(x_on_device.view(), sums.view_mut());
    stage.device.launch(LaunchConfig::new(6, 64).cluster(3), call)?;
    let expected: Vec<u32> = x.chunks(3 * 64).map(|chunk| chunk.iter().sum()).collect();
    equal("sums", &sums.download()?, &expected)
}

fn cluster_reverse(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<f64> = (0..4 * 64).map(f64::from).collect();
    let (x_on_device, mut y) = (stage.device.upload(&x)?, stage.device.zeroed(x.len())?);
    let call = kernels::cluster_reverse(x_on_device.view(), y.view_mut());
    stage.device.launch(LaunchConfig::new(4, 64), call)?;
    let expected: Vec<f64> = x.chunks(128).flat_map(|chunk| chunk.iter().rev().copied()).collect();
    equal("y", &y.download()?, &expected)
}

fn atomics_integer(stage: &Stage) -> Result<(), CaseError> {
    let (grid, block) = (4, 96);
    let threads = grid * block;
    let mut counters = stage.device.upload(&[0_u32, 0, 0, u32::MAX, 0, 0, 0])?;
    let mut signed = stage.device.upload(&[0_i64, i64::MAX, i64::MIN])?;
    stage
        .device
        .launch(LaunchConfig::new(grid, block), kernels::atomics_integer(counters.view_mut(), signed.view_mut()))?;
    let all_xor = (0..threads).fold(0, |xor, i| xor ^ i);
    let expected = [grid * (0..block).sum::<u32>(), 5, u32::MAX, u32::MAX << 7, all_xor, 77, 3 * threads];
    equal("counters", &counters.download()?, &expected)?;
    let sum: i64 = (0..i64::from(threads)).sum();
    equal("signed", &signed.download()?, &[-sum << 33, 1 - i64::from(threads), -1])
}

fn atomics_float(stage: &Stage) -> Result<(), CaseError> {
    let (mut single, mut double) = (stage.device.upload(&[0.5_f32])?, stage.device.upload(&[0.25_f64])?);
    stage.device.launch(LaunchConfig::new(3, 40), kernels::atomics_float(single.view_mut(), double.view_mut()))?;
    equal("single", &single.download()?, &[120.5])?;
    equal("double", &double.download()?, &[60.25])
}

fn hand_over(stage: &Stage, is_fenced: bool) -> Result<(), CaseError> {
    let (device, blocks) = (&stage.device, 20_usize);
    let (mut ticket, mut flags, mut sums) = (device.zeroed(1)?, device.zeroed(blocks)?, device.alloc(blocks)?);
    let config = LaunchConfig::new(blocks as u32, 32);
    let views = (ticket.view_mut(), flags.view_mut(), sums.view_mut());
    if is_fenced {
        device.launch(config, kernels::hand_over_fenced(views.0, views.1, views.2))?;
    } else {
        device.launch(config, kernels::hand_over(views.0, views.1, views.2))?;
    }
    equal("sums", &sums.download()?, &(0..blocks as u64).map(|t| t * (t + 1) / 2).collect::<Vec<_>>())
}

fn wide_products(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..500).map(|i| bits(i) as u32).collect();
    let (dx, mut products, mut counts) =
        (stage.device.upload(&x)?, stage.device.alloc(x.len())?, stage.device.zeroed::<u32>(2)?);
    let call = kernels::wide_products(0x8765_4321, dx.view(), products.view_mut(), counts.view_mut());
    stage.device.launch(LaunchConfig::new(3, 64), call)?;
    let expected: Vec<u64> = x.iter().map(|&x| u64::from(x) * 0x8765_4321).collect();
    equal("products", &products.download()?, &expected)?;
    let upper = expected.iter().filter(|&&product| product >> 32 > product & 0xffff_ffff).count() as u32;
    equal("counts", &counts.download()?, &[500 - upper, upper])
}

fn combine_block(stage: &Stage) -> Result<(), CaseError> {
    let (device, config) = (&stage.device, LaunchConfig::new(2, 64));
    let floats: Vec<f32> = (0..2 * 192).map(|i| bits(i) as u16 as f32).collect();
    let (x, mut y) = (device.upload(&floats)?, device.alloc(2)?);
    device.launch(config, kernels::combine_block::<f32, Max, 3>(x.view(), y.view_mut()))?;
    let max = |block: &[f32]| block.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    equal("y", &y.download()?, &floats.chunks(192).map(max).collect::<Vec<_>>())?;

    let integers: Vec<i64> = (0..2 * 64).map(|i| (bits(i) >> 8) as i64).collect();
    let (x, mut y) = (device.upload(&integers)?, device.alloc(2)?);
    device.launch(config, kernels::combine_block::<i64, Sum, 1>(x.view(), y.view_mut()))?;
    equal("y", &y.download()?, &integers.chunks(64).map(|block| block.iter().sum()).collect::<Vec<i64>>())?;

    let maps: Vec<Affine> = (0..2 * 128).map(|i| Affine { factor: 2 * i + 3, offset: 7 * i }).collect();
    let (x, mut y) = (device.upload(&maps)?, device.alloc(2)?);
    device.launch(config, kernels::combine_block::<Affine, Compose, 2>(x.view(), y.view_mut()))?;
    let composed = |block: &[Affine]| block.iter().fold(Compose::IDENTITY, |all, &map| Compose::combine(all, map));
    equal("y", &y.download()?, &maps.chunks(128).map(composed).collect::<Vec<_>>())
}

fn timers(stage: &Stage) -> Result<(), CaseError> {
    let mut out = stage.device.alloc::<u64>(3 * 80)?;
    stage.device.launch(LaunchConfig::new(2, 40), kernels::timers(out.view_mut()))?;
    let backwards = out.download()?.chunks(3).position(|thread| thread[0] >= 1 << 40 || thread[1] >= 1 << 40);
    equal("thread whose time goes backwards", &Vec::from_iter(backwards), &[])
}

fn coordinates(stage: &Stage) -> Result<(), CaseError> {
    let ((grid, block), threads) = (((3, 2, 2), (5, 3, 4)), 3 * 2 * 2 * 5 * 3 * 4);
    let mut out = stage.device.alloc::<u32>(8 * threads)?;
    stage.device.launch(LaunchConfig::new(grid, block), kernels::coordinates(out.view_mut()))?;
    let expected = |i: u32| {
        let (b, t) = (i / 60, i % 60);
        [t % 5, t / 5 % 3, t / 15, b % 3, b / 3 % 2, b / 6, t % 32, t / 32]
    };
    equal("out", &out.download()?, &(0..threads as u32).flat_map(expected).collect::<Vec<_>>())
}

fn bounded(stage: &Stage) -> Result<(), CaseError> {
    let mut out = stage.device.alloc::<u32>(700)?;
    stage.device.launch(LaunchConfig::new(2, 128), kernels::bounded(out.view_mut()))?;
    equal("out", &out.download()?, &(0..700).collect::<Vec<u32>>())
}

fn add_neighbours(stage: &Stage) -> Result<(), CaseError> {
    let (mut x, mut y) = (stage.device.upload(&(0..100).collect::<Vec<u32>>())?, stage.device.alloc::<u32>(100)?);
    for _ in 0..2 {
        stage.device.launch(LaunchConfig::new(2, 64), kernels::add_neighbours(x.view(), y.view_mut()))?;
        std::mem::swap(&mut x, &mut y);
    }
    let expected = |i: u32| i + 2 * ((i + 1) % 100) + (i + 2) % 100;
    equal("out", &x.download()?, &(0..100).map(expected).collect::<Vec<_>>())
}

fn add_slices(stage: &Stage) -> Result<(), CaseError> {
    let [a, b] = [0, 250].map(|first| (first..first + 250).map(|i| bits(i) as u16 as f32).collect::<Vec<_>>());
    let (da, db, mut dc) = (stage.device.upload(&a)?, stage.device.upload(&b)?, stage.device.zeroed::<f32>(250)?);
    // SAFETY: `c` has as many elements as `a`.
    let call = unsafe { kernels::add_slices(da.view(), db.view(), dc.view_mut()) };
    stage.device.launch(LaunchConfig::new(4, 64), call)?;
    equal("c", &dc.download()?, &a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<_>>())
}

fn print_numbers(stage: &Stage) -> Result<(), CaseError> {
    stage.device.launch(LaunchConfig::new(2, 1), kernels::print_numbers(-7, 0xBEEF, 0.125))?;
    let expected = [0, 1].map(|i| format!("thread {i} of 100%: -7 0000beef 0.125"));
    equal("line", &stage.printed(), &expected)
}

fn store_at(stage: &Stage) -> Result<(), CaseError> {
    let mut out = stage.device.zeroed::<u32>(10)?;
    stage.device.launch(LaunchConfig::new(2, 32), kernels::store_at(out.view_mut(), 9, 33))?;
    equal("out", &out.download()?, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
}

fn copy_wide(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u8> = (0..32 * 16).map(|i| bits(i) as u8).collect();
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.alloc(5 * x.len())?);
    stage.device.launch(LaunchConfig::new(2, 64), kernels::copy_wide(dx.view(), dy.view_mut()))?;
    equal("y", &dy.download()?, &x.repeat(5))
}

fn copy_hinted(stage: &Stage) -> Result<(), CaseError> {
    let (device, n) = (&stage.device, 300);
    let x: Vec<f64> = (0..n).map(|i| bits(i) as u32 as f64).collect();
    let x32: Vec<f32> = (0..n).map(|i| bits(i) as u16 as f32).collect();
    let (dx, mut dy) = (device.upload(&x)?, device.alloc(2 * n)?);
    let (dx32, mut dy32) = (device.upload(&x32)?, device.alloc(n)?);
    let call = kernels::copy_hinted(dx.view(), dy.view_mut(), dx32.view(), dy32.view_mut());
    device.launch(LaunchConfig::new(2, 64), call)?;
    equal("y", &dy.download()?, &x.repeat(2))?;
    let reversed = x32.chunks(4).flat_map(|four| four.iter().rev().copied());
    equal("y32", &dy32.download()?, &reversed.collect::<Vec<_>>())
}

fn copy_async(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..5 * 4 * 64).map(|i| bits(i) as u32).collect();
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.alloc(2 * x.len())?);
    stage.device.launch(LaunchConfig::new(2, 64), kernels::copy_async(dx.view(), dy.view_mut()))?;
    let y = dy.download()?;
    equal("y", &y[..x.len()], &x)?;
    let turned = x.chunks(4 * 64).flat_map(|block| block.chunks(4).rev().flatten().copied());
    equal("y", &y[x.len()..], &turned.collect::<Vec<_>>())
}

fn copy_async_by_elements(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<f32> = (0..700).map(|i| bits(i) as u16 as f32).collect();
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.alloc(704)?);
    let call = kernels::copy_async_by_elements::<_, 4>(dx.view().part(1, 699), dy.view_mut());
    stage.device.launch(LaunchConfig::new(2, 64), call)?;
    equal("y", &dy.download()?, &[&x[1..], &[0.0; 5]].concat())
}

fn block_sum(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<f64> = (0..3 * 256).map(|i| bits(i) as u32 as f64).collect();
    let (dx, mut sums) = (stage.device.upload(&x)?, stage.device.alloc(3)?);
    stage.device.launch(LaunchConfig::new(3, 256), kernels::block_sum(dx.view(), sums.view_mut()))?;
    equal("sums", &sums.download()?, &x.chunks(256).map(|block| block.iter().sum()).collect::<Vec<f64>>())
}

fn count_even(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..3 * 70).map(|i| bits(i) as u32).collect();
    let (dx, mut counts, mut reversed) =
        (stage.device.upload(&x)?, stage.device.alloc(3)?, stage.device.alloc(x.len())?);
    let call = kernels::count_even(dx.view(), counts.view_mut(), reversed.view_mut());
    stage.device.launch(LaunchConfig::new(3, 70), call)?;
    let from_the_end = x.chunks(70).flat_map(|block| block.iter().rev().copied());
    equal("reversed", &reversed.download()?, &from_the_end.collect::<Vec<_>>())?;
    let even = |block: &[u32]| block.iter().filter(|x| x.is_multiple_of(2)).count() as u32;
    equal("counts", &counts.download()?, &x.chunks(70).map(even).collect::<Vec<_>>())
}

fn shuffles(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u64> = (0..96).map(bits).collect();
    let (dx, mut out) = (stage.device.upload(&x)?, stage.device.zeroed::<u64>(5 * x.len())?);
    stage.device.launch(LaunchConfig::new(1, 96), kernels::shuffles(dx.view(), out.view_mut()))?;
    let expected = |i: usize| {
        let (warp, lane) = (i / 32 * 32, i % 32);
        let of = |lane: usize| x[warp + lane];
        let up = if lane >= 3 { lane - 3 } else { lane };
        let down = if lane + 5 < 32 { lane + 5 } else { lane };
        let narrow = if lane % 2 == 1 { of(lane ^ 2) & 0xFF } else { 0 };
        [of((7 * lane + 3) % 32), of(up), of(down), of(lane ^ 9), narrow]
    };
    equal("out", &out.download()?, &(0..96).flat_map(expected).collect::<Vec<_>>())
}

fn votes(stage: &Stage) -> Result<(), CaseError> {
    let x: Vec<u32> = (0..45).collect();
    let (dx, mut out) = (stage.device.upload(&x)?, stage.device.alloc::<u32>(5 * x.len())?);
    stage.device.launch(LaunchConfig::new(1, 45), kernels::votes(dx.view(), out.view_mut()))?;
    let expected = |i: usize| {
        let warp = &x[i / 32 * 32..(i / 32 * 32 + 32).min(45)];
        let ballot = (0..warp.len()).filter(|&lane| warp[lane].is_multiple_of(3)).map(|lane| 1 << lane).sum();
        let mask = if warp.len() == 32 { u32::MAX } else { (1 << warp.len()) - 1 };
        let before = warp[(i % 32 + warp.len() - 1) % warp.len()];
        [ballot, warp.contains(&40).into(), warp.iter().all(|&x| x < 40).into(), mask, before]
    };
    equal("out", &out.download()?, &(0..45).flat_map(expected).collect::<Vec<_>>())
}
