//! The cases of segments: reductions, scans and positions in short, long and empty segments, for offsets of both widths
//! and rows, for views that begin at any element, and with more tiles than a group has.

use std::fmt::Debug;

use cuda_std::Ladder;
use gpu::accumulate::{ArgMax, Indexed};
use gpu::operator::{Max, Operator, Sum};
use launch::Buffer;

use super::reference::{positions, reduced, scanned};
use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::numbers::Number;
use gridstride::scan::ScanKind;
use gridstride::segments::{SegmentBounds, SegmentElement, SegmentRunner, SegmentsRung, tile};

const KINDS: [ScanKind; 2] = [ScanKind::Inclusive, ScanKind::Exclusive];

pub(crate) fn cases() -> Vec<Case> {
    let rung = SegmentsRung::LookBack;
    let case = |what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
        Case::new("segments", rung.name(), rung.families(), what, work)
    };
    vec![
        case("sums of u32, 0 to 2500 elements, segments of up to 7", |stage| {
            [0, 1, 33, 2500].into_iter().try_for_each(|n| check::<u32, Sum>(stage, n, 7, &KINDS))
        }),
        case("sums of f64 and maxima of f32, segments over tiles", |stage| {
            check::<f64, Sum>(stage, 1700, 900, &KINDS)?;
            check::<f32, Max>(stage, 2900, 2000, &KINDS)
        }),
        case("sums of u64, segments over groups of tiles", |stage| {
            check::<u64, Sum>(stage, 33 * tile::<u64, Sum>(1) + 5, 20_000, &KINDS[..1])
        }),
        case("positions of maxima", |stage| {
            let n = 2 * tile::<f32, ArgMax>(1) + 9;
            let (x, offsets) = (elements::<f32>(n), offsets(n, 100));
            let bounds = stage.device.upload(&narrow(&offsets))?;
            let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc::<Indexed<f32>>(offsets.len() - 1)?);
            let mut runner = SegmentRunner::<f32, ArgMax>::new(&stage.device, n)?.with_search()?;
            runner.reduce(&stage.device, dx.view(), SegmentBounds::U32(bounds.view()), y.view_mut())?;
            equal("y", &y.download()?, &positions(&x, &offsets, |a, b| a > b))
        }),
    ]
}

/// Returns `n` elements.
fn elements<T: Number>(n: usize) -> Vec<T> {
    (0..n).map(|index| T::from_f64((bits(index) >> 60) as f64)).collect()
}

/// Returns the offsets of segments of up to `length` elements, some of them empty, in the elements 1 to `n` − 1.
fn offsets(n: usize, length: usize) -> Vec<usize> {
    let mut offsets = vec![n.min(1)];
    while let Some(&last) = offsets.last().filter(|&&last| last + 1 < n) {
        let length = (bits(offsets.len()) >> 32) as usize % (length + 1);
        offsets.push((last + length).min(n - 1));
    }
    offsets
}

fn narrow(offsets: &[usize]) -> Vec<u32> {
    offsets.iter().map(|&offset| offset as u32).collect()
}

/// Checks the reductions of `n` elements, from index 1 of a buffer on, and the scans of these kinds.
fn check<T, O>(stage: &Stage, n: usize, length: usize, kinds: &[ScanKind]) -> Result<(), CaseError>
where
    T: Number + SegmentElement<O, Output = T> + Debug,
    O: Operator<T>,
{
    let (x, offsets, device) = (elements::<T>(n + 1), offsets(n, length), &stage.device);
    let (dx, x) = (device.upload(&x)?, &x[1..]);
    let wide: Buffer<u64> = device.upload(&offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>())?;
    let narrow = device.upload(&narrow(&offsets))?;
    let mut runner = SegmentRunner::<T, O>::new(device, n)?;
    let (view, mut y) = (dx.view().part(1, n), device.alloc::<T>(n)?);
    for &kind in kinds {
        runner.scan(device, kind, view, SegmentBounds::U32(narrow.view()), y.view_mut())?;
        equal("y", &y.download()?, &scanned::<T, O>(kind, x, &offsets))?;
    }
    let mut runner = runner.with_search()?;
    let mut y = device.alloc::<T>(offsets.len() - 1)?;
    runner.reduce(device, view, SegmentBounds::U64(wide.view()), y.view_mut())?;
    equal("y", &y.download()?, &reduced::<T, O>(x, &offsets))?;
    let length = (1..=n.min(50)).rev().find(|length| n.is_multiple_of(*length)).unwrap_or(1);
    let rows: Vec<usize> = (0..=n / length).map(|row| row * length).collect();
    let mut y = device.alloc::<T>(n / length)?;
    runner.reduce(device, view, SegmentBounds::Rows(length), y.view_mut())?;
    equal("y", &y.download()?, &reduced::<T, O>(x, &rows))
}
