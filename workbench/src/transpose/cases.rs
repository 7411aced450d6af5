//! The cases of transpose: every rung with elements of every size, with whole and partial tiles, and with and without
//! whole vectors.

use cuda_std::{Global, GlobalMut, Ladder};
use gpu::transpose::{Bits, transpose_gathered, transpose_plain, transpose_unaligned, transpose_vectorised};
use launch::{Call, Kernel};

use super::reference;
use crate::algorithm::Size;
use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::capabilities;
use gridstride::transpose::{
    Plan, TransposeRung, gathered_plan, is_transpose, plain_plan, plan, transpose, unaligned_plan,
};

/// Pairs of the width and height of a matrix.
type Sizes = &'static [(usize, usize)];

/// Matrices whose rows and columns consist of whole vectors, in whole and partial tiles.
const ALIGNED: Sizes = &[(160, 144)];

/// Matrices whose rows are not whole vectors, among them one smaller than a tile and a single element.
const UNALIGNED: Sizes = &[(133, 67), (5, 70), (1, 1)];

/// The size of a matrix whose rows are not whole vectors, with a tile that has neighbours on all sides.
const TALL: Size = Size { width: 131, height: 387 };

/// The size of a matrix like [`TALL`], but for the larger tiles of the gathering kernel.
const GATHERED_SIZE: Size = Size { width: 500, height: 389 };

const UNALIGNED_KERNEL: &[&str] = &["transpose_unaligned"];
const GATHERED: &[&str] = &["transpose_gathered"];
const PLAIN: &[&str] = &["transpose_plain"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in TransposeRung::ALL {
        let sizes: &[(&'static [&'static str], &str, Sizes)] = match rung {
            TransposeRung::Vectorised => &[
                (&["transpose_vectorised"], ", a matrix of 160x144", ALIGNED),
                (&["transpose_unaligned"], ", matrices of 133x67, 5x70 and 1x1", UNALIGNED),
            ],
            _ => &[
                (rung.families(), ", a matrix of 160x144", ALIGNED),
                (rung.families(), ", matrices of 133x67, 5x70 and 1x1", UNALIGNED),
            ],
        };
        for &(families, suffix, sizes) in sizes {
            let mut add = |what: &str, work: fn(&Stage, TransposeRung, Sizes) -> Result<(), CaseError>| {
                let work = move |stage: &Stage| work(stage, rung, sizes);
                cases.push(Case::new("transpose", rung.name(), families, format!("{what}{suffix}"), work));
            };
            add("u8", |stage, rung, sizes| check::<u8>(stage, rung, sizes, |bits| bits as u8));
            add("u16", |stage, rung, sizes| check::<u16>(stage, rung, sizes, |bits| bits as u16));
            add("u32", |stage, rung, sizes| check::<u32>(stage, rung, sizes, |bits| bits as u32));
            add("u64", |stage, rung, sizes| check::<u64>(stage, rung, sizes, |bits| bits));
        }
        if rung == TransposeRung::Vectorised {
            let mut add = |families, what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
                cases.push(Case::new("transpose", rung.name(), families, what, work));
            };
            add(UNALIGNED_KERNEL, "u8, a matrix of 131x387, views that are not aligned", |stage| {
                check_not_aligned(stage, 1, 3, TALL, unaligned_plan::<u8>, transpose_unaligned, |bits| bits as u8)
            });
            add(UNALIGNED_KERNEL, "u16, a matrix of 131x387, views that are not aligned", |stage| {
                check_not_aligned(stage, 7, 1, TALL, unaligned_plan::<u16>, transpose_unaligned, |bits| bits as u16)
            });
            add(UNALIGNED_KERNEL, "u32, a matrix of 131x387, views that are not aligned", |stage| {
                check_not_aligned(stage, 1, 6, TALL, unaligned_plan::<u32>, transpose_unaligned, |bits| bits as u32)
            });
            add(UNALIGNED_KERNEL, "u64, a matrix of 131x387, views that are not aligned", |stage| {
                check_not_aligned(stage, 1, 3, TALL, unaligned_plan::<u64>, transpose_unaligned, |bits| bits)
            });
            add(GATHERED, "u8, a matrix of 500x389, the gathering kernel", |stage| {
                check_not_aligned(stage, 5, 3, GATHERED_SIZE, gathered_plan::<u8>, transpose_gathered, |bits| {
                    bits as u8
                })
            });
            add(GATHERED, "u16, a matrix of 131x387, the gathering kernel", |stage| {
                check_not_aligned(stage, 7, 1, TALL, gathered_plan::<u16>, transpose_gathered, |bits| bits as u16)
            });
            add(PLAIN, "u32, the plain kernel in blocks of 128 threads", |stage| {
                check_plain::<u32, 128>(stage, 0, 1, |bits| bits as u32)
            });
            add(PLAIN, "u32, the plain kernel in blocks of 256 threads", |stage| {
                check_plain::<u32, 256>(stage, 0, 1, |bits| bits as u32)
            });
            add(PLAIN, "u32, the plain kernel in blocks of 512 threads", |stage| {
                check_plain::<u32, 512>(stage, 1, 0, |bits| bits as u32)
            });
            add(PLAIN, "u64, the plain kernel in blocks of 128 threads", |stage| {
                check_plain::<u64, 128>(stage, 0, 1, |bits| bits)
            });
            add(PLAIN, "u64, the plain kernel in blocks of 256 threads", |stage| {
                check_plain::<u64, 256>(stage, 1, 0, |bits| bits)
            });
            add(PLAIN, "u64, the plain kernel in blocks of 512 threads", |stage| {
                check_plain::<u64, 512>(stage, 0, 1, |bits| bits)
            });
        }
    }
    cases
}

fn check<T: Bits + PartialEq + std::fmt::Debug>(
    stage: &Stage,
    rung: TransposeRung,
    sizes: Sizes,
    element: fn(u64) -> T,
) -> Result<(), CaseError> {
    for &(width, height) in sizes {
        let size = Size { width, height };
        let x: Vec<T> = (0..width * height).map(|index| element(bits(index))).collect();
        let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.alloc(x.len())?);
        if rung == TransposeRung::Vectorised {
            // For small matrices of words, `transpose` would launch a kernel other than the tested one.
            let Plan { config, is_aligned } = plan::<T>(rung, size);
            let (x, y) = (dx.view(), dy.view_mut());
            let call = match is_aligned {
                true => transpose_vectorised::if_built::<T>(x, y, width, height),
                false => transpose_unaligned::if_built::<T>(x, y, width, height),
            };
            let call = call.ok_or_else(|| capabilities::not_built(rung, &capabilities::of_type::<T>()))?;
            stage.device.launch(config, call)?;
        } else {
            transpose(&stage.device, rung, size, &dx, &mut dy)?;
        }
        let expected = if is_transpose(rung) { reference::transpose(size, &x) } else { x };
        equal("y", &dy.download()?, &expected)?;
    }
    Ok(())
}

/// Checks the plain kernel with blocks of `THREADS` threads.
fn check_plain<T: Bits + PartialEq + std::fmt::Debug, const THREADS: usize>(
    stage: &Stage,
    from: usize,
    to: usize,
    element: fn(u64) -> T,
) -> Result<(), CaseError>
where
    transpose_plain<T, THREADS>: Kernel,
{
    check_not_aligned(stage, from, to, TALL, plain_plan::<T, THREADS>, transpose_plain::<T, THREADS>, element)
}

/// Checks `kernel` on an input view that begins with element `from` of its buffer and an output view that begins with
/// element `to`.
fn check_not_aligned<T: Bits + PartialEq + std::fmt::Debug>(
    stage: &Stage,
    from: usize,
    to: usize,
    size: Size,
    plan: fn(Size) -> Plan,
    kernel: impl for<'a> Fn(Global<'a, T>, GlobalMut<'a, T>, usize, usize) -> Call<'a>,
    element: fn(u64) -> T,
) -> Result<(), CaseError> {
    let n = size.width * size.height;
    let x: Vec<T> = (0..from + n + 1).map(|index| element(bits(index))).collect();
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.zeroed::<T>(to + n + 1)?);
    let (part, to_part) = (dx.view().part(from, n), dy.view_mut().part(to, n));
    stage.device.launch(plan(size).config, kernel(part, to_part, size.width, size.height))?;
    let y = dy.download()?;
    let zero = element(0);
    equal("the padding before y", &y[..to], &vec![zero; to])?;
    equal("y", &y[to..to + n], &reference::transpose(size, &x[from..from + n]))?;
    equal("the padding after y", &y[to + n..], &[zero])
}
