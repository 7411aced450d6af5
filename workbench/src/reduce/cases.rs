//! The cases of reduce: every rung with its planned launches, in blocks of several sizes, and with one or several tiles
//! per block. Some cases compose affine maps, which do not commute.

use std::fmt::Debug;

use cuda_std::{Ladder, f16};
use gpu::collective::flagged_words::words;
use gpu::operator::{Affine, Compose, Min, Minimum, Operator, Sum};
use gpu::reduce::{ONE_TILE_BLOCK, reduce_grid_stride, reduce_one_tile, reduce_unaligned};
use launch::{Buffer, LaunchConfig};

use crate::case::{Case, CaseError, Stage, bits, equal, right};
use crate::inputs::RandomVector;
use crate::reduce::reference::{self, Reference};
use gridstride::capabilities;
use gridstride::numbers::Number;
use gridstride::reduce::{ArgMax, Indexed, Plan, ReduceElement, ReduceInput, ReduceRung, Reducer, Widened};

/// Launches that plans for few elements never choose. Each consists of the number of blocks, the number of threads per
/// block, and the number of elements per segment. In these launches, blocks have several tiles, a partial last tile,
/// half a warp, or no elements.
const SEGMENTS: [(u32, u32, u32); 4] = [(3, 64, 2003), (2, 256, 4300), (4, 16, 300), (3, 32, 4000)];

/// The kernel of the grid-stride rung for small inputs.
const ONE_TILE: &[&str] = &["reduce_one_tile"];
/// The kernel of the grid-stride rung for larger inputs.
const GRID_STRIDE: &[&str] = &["reduce_grid_stride"];
/// The kernel of the grid-stride rung for views that are not aligned.
const UNALIGNED: &[&str] = &["reduce_unaligned"];

/// The kernel of the grid-stride rung whose intermediate values have another type than the elements.
const WITH_ACCUMULATOR: &[&str] = &["reduce_with_accumulator"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in ReduceRung::ALL {
        let (planned, other) = match rung {
            ReduceRung::GridStride => (ONE_TILE, GRID_STRIDE),
            _ => (rung.families(), rung.families()),
        };
        let mut add = |families, what: &str, work: fn(&Stage, ReduceRung) -> Result<(), CaseError>| {
            cases.push(Case::new("reduce", rung.name(), families, what, move |stage| work(stage, rung)));
        };
        add(planned, "sum of i32, 0 to 9001 elements, the planned launches", |stage, rung| {
            [0, 1, 257, 9001].into_iter().try_for_each(|n| check::<i32, Sum>(stage, plan::<i32>(stage, rung, n)))
        });
        add(planned, "sum of f32, 3001 elements, the planned launches", |stage, rung| {
            check::<f32, Sum>(stage, plan::<f32>(stage, rung, 3001))
        });
        add(other, "sum of i32, blocks of 16 to 1024 threads", |stage, rung| {
            let blocks = [(16, 300), (32, 700), (64, 1500), (1024, 9001)];
            blocks.into_iter().try_for_each(|(block, n)| check::<i32, Sum>(stage, Plan::with_block(rung, n, 4, block)))
        });
        if rung == ReduceRung::GridStride {
            add(other, "sum of i32, 1 to 70 blocks with a grid-stride loop", |stage, rung| {
                check::<i32, Sum>(stage, plan::<i32>(stage, rung, 40_009))?;
                [(1, 64), (2, 32), (3, 128), (70, 64)]
                    .into_iter()
                    .try_for_each(|(blocks, block)| check::<i32, Sum>(stage, Plan::grid_stride(5003, 4, blocks, block)))
            });
            add(other, "minimum of f64, 3 blocks of 64 threads", |stage, _| {
                check::<f64, Min>(stage, Plan::grid_stride(3001, 8, 3, 64))
            });
            add(other, "sum of i32, 3 blocks of 64 threads, a view that is not aligned", |stage, _| {
                check_not_aligned(stage, false)
            });
            add(planned, "sum of i32, 4095 to 20481 elements, one tile per block", |stage, _| {
                [4095, 4096, 4097, 5 * 4096 + 1].into_iter().try_for_each(|n| check_one_tile::<i32, Sum>(stage, n))
            });
            add(planned, "minimum of f64, 4099 elements, one tile per block", |stage, _| {
                check_one_tile::<f64, Min>(stage, 2 * 2048 + 3)
            });
            add(UNALIGNED, "minimum of f32 that propagates NaN, 3 tiles, and 3 blocks of 64 threads", |stage, _| {
                check_one_tile::<f32, Minimum>(stage, 2 * 4096 + 3)?;
                check::<f32, Minimum>(stage, Plan::grid_stride(30_001, 4, 3, 64))
            });
            add(planned, "sum of i32, 2 blocks with one tile each, a view that is not aligned", |stage, _| {
                check_not_aligned(stage, true)
            });
            add(UNALIGNED, "sum of i32, 1 to 3 blocks, views that begin with element 0, 1, 2 or 3", |stage, _| {
                [(1, 64, 0), (3, 64, 1), (2, 32, 2), (3, 16, 3), (1, 1, 1)]
                    .into_iter()
                    .try_for_each(|(blocks, block, from)| check_unaligned::<i32, Sum>(stage, from, blocks, block))
            });
            add(UNALIGNED, "minimum of f64, 3 blocks of 64 threads, a view that is not aligned", |stage, _| {
                check_unaligned::<f64, Min>(stage, 1, 3, 64)
            });
            add(WITH_ACCUMULATOR, "sum of f16, 0 to 9001 elements, the planned launches", |stage, rung| {
                [0, 1, 257, 9001].into_iter().try_for_each(|n| {
                    let x: Vec<f16> = (0..n).map(|i| f16::from_f32((i % 17) as f32 - 8.0)).collect();
                    let sum = f16::from_f32(x.iter().map(|x| x.to_f32()).sum::<f32>() + 0.0);
                    check_accumulated::<_, Sum>(stage, plan::<f16>(stage, rung, n), &x, 0, sum)
                })
            });
            add(WITH_ACCUMULATOR, "sum of u8 as u64, 3 blocks of 64 threads, views that begin anywhere", |stage, _| {
                let x = input::<u8>(5003);
                [0, 1, 15].into_iter().try_for_each(|from| {
                    let sum = x[from..].iter().map(|&x| u64::from(x)).sum();
                    let plan = Plan::grid_stride(x.len() - from, 1, 3, 64);
                    check_accumulated::<_, Widened<Sum, u64>>(stage, plan, &x, from, sum)
                })
            });
            add(WITH_ACCUMULATOR, "first position of the greatest i64, 1 to 3 blocks, equal elements", |stage, _| {
                let x: Vec<i64> = (0..3001).map(|i| i * 7 % 100).collect();
                let greatest = Indexed { index: 57, value: 99 };
                [(1, 16), (3, 64)].into_iter().try_for_each(|(blocks, block)| {
                    let plan = Plan::grid_stride(x.len(), 8, blocks, block);
                    check_accumulated::<_, ArgMax>(stage, plan, &x, 0, greatest)
                })
            });
        } else {
            add(other, "sum of i32, 2 to 4 blocks with several tiles each", |stage, rung| {
                SEGMENTS.into_iter().try_for_each(|(blocks, block, part)| check_parts(stage, rung, blocks, block, part))
            });
        }
        if rung.rung().entry(&capabilities::of_operator::<Affine, Compose>()).is_some() {
            add(other, "composition of 3001 affine maps, blocks of 32 to 256 threads", check_maps);
        }
    }
    cases
}

fn plan<T>(stage: &Stage, rung: ReduceRung, n: usize) -> Plan {
    Plan::new(rung, n, size_of::<T>(), stage.device.multiprocessors())
}

fn input<T: Number>(n: usize) -> Vec<T> {
    let inputs = RandomVector::new(3, 0);
    (0..n).map(|index| inputs.element(index)).collect()
}

/// Checks a reduction by `plan`. Reduces twice in the same memory, so that the second run starts from the state that
/// the first one left.
fn check<T: Number + ReduceElement<O>, O: Reference<T>>(stage: &Stage, plan: Plan) -> Result<(), CaseError> {
    let x = input::<T>(plan.n());
    let answer = reference::reduce::<T, O>(x.len(), |index| x[index]);
    let x = stage.device.upload(&x)?;
    let roundings = plan.roundings();
    let mut reduction = Reducer::<T, O>::with_plan(&stage.device, plan)?;
    for _ in 0..2 {
        right(answer.deviation(reduction.reduce(&x)?, roundings))?;
    }
    Ok(())
}

/// Reduces the elements of `x` from index `from` on by `plan`, twice in the same memory.
fn check_accumulated<T: ReduceInput<O>, O: 'static>(
    stage: &Stage,
    plan: Plan,
    x: &[T],
    from: usize,
    expected: T::Output,
) -> Result<(), CaseError>
where
    T::Output: PartialEq + Debug,
{
    let x = stage.device.upload(x)?;
    let mut reduction = Reducer::<T, O>::with_plan(&stage.device, plan)?;
    for _ in 0..2 {
        let found = reduction.run_view(stage.device.queue(), x.view().part(from, x.len() - from))?.download()?;
        if found != [expected] {
            return Err(CaseError::Wrong(format!("y is {found:?} instead of {expected:?}")));
        }
    }
    Ok(())
}

fn check_one_tile<T: Number + ReduceElement<O>, O: Reference<T>>(stage: &Stage, n: usize) -> Result<(), CaseError> {
    let plan = Plan::one_tile(n, size_of::<T>()).ok_or_else(|| CaseError::Impossible("too many tiles".into()))?;
    check::<T, O>(stage, plan)
}

/// Launches a rung's kernel once. The kernel writes one partial result per block.
fn step<T: ReduceElement<O>, O: Operator<T>>(
    stage: &Stage,
    rung: ReduceRung,
    config: LaunchConfig,
    part: u32,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), CaseError> {
    let call = rung.step::<T, O>(part, x.view(), y.view_mut());
    let call = call.ok_or_else(|| CaseError::Impossible(format!("{rung} is not built for the type and operator")))?;
    Ok(stage.device.launch(config, call)?)
}

fn check_parts(stage: &Stage, rung: ReduceRung, blocks: u32, block: u32, part: u32) -> Result<(), CaseError> {
    let x = input::<i32>(5003);
    let dx = stage.device.upload(&x)?;
    let mut y: Buffer<i32> = stage.device.alloc(blocks as usize)?;
    step::<i32, Sum>(stage, rung, LaunchConfig::new(blocks, block), part, &dx, &mut y)?;
    let sum = |part: &[i32]| part.iter().fold(0_i32, |sum, &x| sum.wrapping_add(x));
    let mut expected: Vec<i32> = x.chunks(part as usize).map(sum).collect();
    expected.resize(blocks as usize, 0);
    equal("y", &y.download()?, &expected)
}

fn check_not_aligned(stage: &Stage, is_one_tile: bool) -> Result<(), CaseError> {
    let x = input::<i32>(if is_one_tile { 5000 } else { 1500 });
    let device = &stage.device;
    let (dx, mut partials) = (device.upload(&x)?, device.zeroed(2)?);
    let mut y = device.alloc(1)?;
    let view = dx.view().part(1, x.len() - 1);
    if is_one_tile {
        let call = reduce_one_tile::<i32, Sum, 4>(view, partials.view_mut(), y.view_mut());
        device.launch(LaunchConfig::new(2, ONE_TILE_BLOCK), call)?;
    } else {
        let call = reduce_grid_stride::<i32, Sum, 4>(view, partials.view_mut(), y.view_mut());
        device.launch(LaunchConfig::new(3, 64), call)?;
    }
    equal("y", &y.download()?, &[x[1..].iter().fold(0_i32, |sum, &x| sum.wrapping_add(x))])
}

/// Checks `reduce_unaligned` on a view that begins with element `from` of a buffer. Runs it twice in the same memory.
fn check_unaligned<T: Number + ReduceElement<O>, O: Reference<T>>(
    stage: &Stage,
    from: usize,
    blocks: u32,
    block: u32,
) -> Result<(), CaseError> {
    let x = input::<T>(1501);
    let (n, device) = (x.len() - from, &stage.device);
    let answer = reference::reduce::<T, O>(n, |index| x[from + index]);
    let x = device.upload(&x)?;
    let (mut partials, mut result) = (device.zeroed(blocks as usize * words::<T>())?, device.alloc::<T>(1)?);
    for _ in 0..2 {
        let (x, partials, y) = (x.view().part(from, n), partials.view_mut(), result.view_mut());
        let call = match size_of::<T>() {
            8 => reduce_unaligned::if_built::<T, O, 2>(x, partials, y),
            _ => reduce_unaligned::if_built::<T, O, 4>(x, partials, y),
        };
        let call = call
            .ok_or_else(|| CaseError::Impossible("reduce_unaligned is not built for the type and operator".into()))?;
        device.launch(LaunchConfig::new(blocks, block), call)?;
        let mut found = [T::zeroed()];
        result.download_into(&mut found)?;
        right(answer.deviation(found[0], n))?;
    }
    Ok(())
}

fn check_maps(stage: &Stage, rung: ReduceRung) -> Result<(), CaseError> {
    let maps: Vec<Affine> =
        (0..3001).map(|i| Affine { factor: bits(i) as u32 | 1, offset: (bits(i) >> 32) as u32 }).collect();
    let x = stage.device.upload(&maps)?;
    // The expected value applies all maps to a number, so that it does not depend on the operator.
    let value = |maps: &[Affine], start| maps.iter().fold(start, |value, map| map.apply(value));
    for block in [32, 64, 256] {
        let plan = Plan::with_block(rung, maps.len(), size_of::<Affine>(), block);
        let all = Reducer::<Affine, Compose>::with_plan(&stage.device, plan)?.reduce(&x)?;
        equal("the map at 0 and 1", &[0, 1].map(|start| all.apply(start)), &[0, 1].map(|start| value(&maps, start)))?;
    }
    let (blocks, block, part) = SEGMENTS[0];
    let mut y: Buffer<Affine> = stage.device.alloc(blocks as usize)?;
    step::<Affine, Compose>(stage, rung, LaunchConfig::new(blocks, block), part, &x, &mut y)?;
    let mut expected: Vec<u32> = maps.chunks(part as usize).map(|part| value(part, 5)).collect();
    expected.resize(blocks as usize, 5);
    let found: Vec<u32> = y.download()?.iter().map(|map| map.apply(5)).collect();
    equal("the maps at 5", &found, &expected)
}
