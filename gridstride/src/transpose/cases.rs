//! transpose: every rung on elements of every size; matrices of whole tiles and of parts, of whole vectors and not.

use cuda_std::Ladder;
use gpu::transpose::{Bits, transpose_unaligned};
use launch::Kernel;

use crate::algorithm::Size;
use crate::case::{Case, CaseError, Stage, bits, equal};
use crate::transpose::{TransposeRung, is_transpose, reference, transpose, unaligned_plan};

/// Widths and heights.
type Sizes = &'static [(usize, usize)];

/// Whole vectors, of which some tiles are whole and some not.
const ALIGNED: Sizes = &[(160, 144)];

/// No whole vectors; less than a tile; and a single element.
const UNALIGNED: Sizes = &[(133, 67), (5, 70), (1, 1)];

/// No whole vectors, and a tile in the midst of several.
const TALL: Size = Size { width: 131, height: 387 };

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in TransposeRung::ALL {
        let sizes: &[(&'static [&'static str], &str, Sizes)] = match rung {
            TransposeRung::Vectorised => {
                &[(&["transpose_vectorised"], "", ALIGNED), (&["transpose_unaligned"], ", any size", UNALIGNED)]
            }
            _ => &[(rung.families(), "", ALIGNED), (rung.families(), ", any size", UNALIGNED)],
        };
        for &(families, suffix, sizes) in sizes {
            let mut add = |what: &str, work: fn(&Stage, TransposeRung, Sizes) -> Result<(), CaseError>| {
                let work = move |stage: &Stage| work(stage, rung, sizes);
                cases.push(Case::new("transpose", rung.name(), families, format!("{what}{suffix}"), work));
            };
            add("bytes", |stage, rung, sizes| check::<u8>(stage, rung, sizes, |bits| bits as u8));
            add("halves", |stage, rung, sizes| check::<u16>(stage, rung, sizes, |bits| bits as u16));
            add("words", |stage, rung, sizes| check::<u32>(stage, rung, sizes, |bits| bits as u32));
            add("double words", |stage, rung, sizes| check::<u64>(stage, rung, sizes, |bits| bits));
        }
        if rung == TransposeRung::Vectorised {
            let mut add = |what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
                let families = &["transpose_unaligned"];
                cases.push(Case::new("transpose", rung.name(), families, what, work));
            };
            add("bytes, views that are not aligned", |stage| check_not_aligned::<u8>(stage, 1, 3, |bits| bits as u8));
            add("halves, views that are not aligned", |stage| {
                check_not_aligned::<u16>(stage, 7, 1, |bits| bits as u16)
            });
            add("words, views that are not aligned", |stage| check_not_aligned::<u32>(stage, 1, 6, |bits| bits as u32));
            add("double words, views that are not aligned", |stage| check_not_aligned::<u64>(stage, 1, 3, |bits| bits));
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
        transpose(&stage.device, rung, size, &dx, &mut dy)?;
        let expected = if is_transpose(rung) { reference::transpose(size, &x) } else { x };
        equal("y", &dy.download()?, &expected)?;
    }
    Ok(())
}

/// From element `from` of a buffer on, to element `to` of another.
fn check_not_aligned<T: Bits + PartialEq + std::fmt::Debug>(
    stage: &Stage,
    from: usize,
    to: usize,
    element: fn(u64) -> T,
) -> Result<(), CaseError>
where
    transpose_unaligned<T>: Kernel,
{
    let n = TALL.width * TALL.height;
    let x: Vec<T> = (0..from + n + 1).map(|index| element(bits(index))).collect();
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.zeroed::<T>(to + n + 1)?);
    let (part, to_part) = (dx.view().part(from, n), dy.view_mut().part(to, n));
    let call = transpose_unaligned(part, to_part, TALL.width, TALL.height);
    stage.device.launch(unaligned_plan::<T>(TALL).config, call)?;
    let y = dy.download()?;
    let zero = element(0);
    equal("what precedes y", &y[..to], &vec![zero; to])?;
    equal("y", &y[to..to + n], &reference::transpose(TALL, &x[from..from + n]))?;
    equal("what follows y", &y[to + n..], &[zero])
}
