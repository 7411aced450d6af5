//! The cases of select: both rungs by intervals, flags and runs, with and without the rejected elements, for views that
//! begin at any element, for every width of elements, and with more tiles than a warp reads at once.

use std::fmt::Debug;

use cuda_std::{Element, Ladder};

use super::reference;
use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::select::{
    ByFlag, RunElement, RunLengthEncoder, Runs, SelectElement, SelectRung, Selection, Selector, pipelined_tile, tile,
    within,
};

const LOOK_BACK: &[&str] = &["select_look_back"];
const PIPELINED: &[&str] = &["select_pipelined"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in SelectRung::ALL {
        let mut add = |what: &str, work: fn(&Stage, SelectRung) -> Result<(), CaseError>| {
            let kernels: &[&str] = match rung {
                SelectRung::Textbook => &["select_mark", "select_scatter", "scan_look_back"],
                SelectRung::LookBack => LOOK_BACK,
                SelectRung::Pipelined => PIPELINED,
            };
            cases.push(Case::new("select", rung.name(), kernels, what, move |stage: &Stage| work(stage, rung)));
        };
        add("u32 in an interval, 0 to 3000 elements", |stage, rung| {
            [0, 1, 31, 33, 3000].into_iter().try_for_each(|n| interval(stage, rung, n))
        });
        add("partition of u32 by flags, views that are not aligned", |stage, rung| flagged::<u32>(stage, rung, 2500));
        add("unique u32, runs over tiles", |stage, rung| unique(stage, rung, 2500));
    }
    let mut add = |what: &str, kernels: &'static [&'static str], work: fn(&Stage) -> Result<(), CaseError>| {
        let rung = if kernels == PIPELINED { SelectRung::Pipelined } else { SelectRung::LookBack };
        cases.push(Case::new("select", rung.name(), kernels, what, work));
    };
    add("u32 in an interval, two whole tiles and a partial one", PIPELINED, |stage| {
        interval(stage, SelectRung::Pipelined, 2 * pipelined_tile(4) + 77)
    });
    add("flags for elements of 8 bytes, two tiles", PIPELINED, |stage| {
        flagged::<u64>(stage, SelectRung::Pipelined, pipelined_tile(8) + 9)
    });
    add("unique u32, four tiles", PIPELINED, |stage| unique(stage, SelectRung::Pipelined, 3 * pipelined_tile(4) + 9));
    add("u32 in an interval, 35 tiles", LOOK_BACK, |stage| interval(stage, SelectRung::LookBack, 34 * tile(1, 4) + 5));
    add("run lengths of u32 and u8 over 3 tiles, views that are not aligned", &["select_run_lengths"], |stage| {
        run_lengths::<u32>(stage, 2500)?;
        run_lengths::<u8>(stage, 2049)
    });
    add("flags for elements of 1, 2, 8 and 16 bytes", LOOK_BACK, |stage| {
        flagged::<u8>(stage, SelectRung::LookBack, 1500)?;
        flagged::<u16>(stage, SelectRung::LookBack, 1500)?;
        flagged::<u64>(stage, SelectRung::LookBack, 1500)?;
        flagged::<[u32; 4]>(stage, SelectRung::LookBack, 700)
    });
    cases
}

/// Returns element `index` of an input of type `T`, from random bytes.
fn element<T: Element>(index: usize) -> T {
    let mut element = T::zeroed();
    let bytes = bits(index).to_le_bytes();
    bytemuck::bytes_of_mut(&mut element).iter_mut().zip(bytes.iter().cycle()).for_each(|(to, from)| *to = *from);
    element
}

/// Returns the index at which the views of a case begin: for the pipelined kernel a multiple of 16 bytes, so that it
/// copies and loads vectors.
fn first(rung: SelectRung) -> usize {
    if rung == SelectRung::Pipelined { 4 } else { 1 }
}

/// Checks a partition of the elements from index [`first`] on. The output has one element before and after each part,
/// which must not change.
fn check<T: Element + PartialEq + Debug + SelectElement<C>, C: 'static>(
    stage: &Stage,
    rung: SelectRung,
    x: &[T],
    flags: &[u8],
    criterion: C,
    selects: impl Fn(usize) -> bool,
) -> Result<(), CaseError> {
    let first = first(rung);
    let (device, n) = (&stage.device, x.len() - first);
    let (dx, dflags) = (device.upload(x)?, device.upload(flags)?);
    let [mut y, mut rejected] = [device.zeroed::<T>(n + 2)?, device.zeroed::<T>(n + 2)?];
    let mut count = device.upload(&[u64::MAX])?;
    let mut selector = Selector::new(device, rung, n)?;
    let selection = Selection::new(dx.view().part(first, n), criterion, y.view_mut().part(1, n), count.view_mut());
    let selection = match flags {
        [] => selection,
        _ => selection.flags(dflags.view().part(first, n)),
    };
    selector.run(device.queue(), selection.rejected(rejected.view_mut().part(1, n)))?;
    let parts = reference::partition(&x[first..], selects);
    equal("count", &count.download()?, &[parts.0.len() as u64])?;
    for (what, found, expected) in [("y", y, parts.0), ("rejected", rejected, parts.1)] {
        let mut padded = vec![T::zeroed(); n + 2];
        padded[1..=expected.len()].copy_from_slice(&expected);
        equal(what, &found.download()?, &padded)?;
    }
    Ok(())
}

fn interval(stage: &Stage, rung: SelectRung, n: usize) -> Result<(), CaseError> {
    let own = first(rung);
    let x: Vec<u32> = (0..own + n).map(element).collect();
    check(stage, rung, &x, &[], within(1 << 30..3 << 30), |index| (1 << 30..3 << 30).contains(&x[own + index]))
}

fn flagged<T>(stage: &Stage, rung: SelectRung, n: usize) -> Result<(), CaseError>
where
    T: Element + PartialEq + Debug + SelectElement<ByFlag>,
{
    let own = first(rung);
    let x: Vec<T> = (0..own + n).map(element).collect();
    let flags: Vec<u8> = (0..own + n).map(|index| (bits(index) >> 32) as u8 & 3).collect();
    check(stage, rung, &x, &flags, ByFlag, |index| flags[own + index] != 0)
}

fn unique(stage: &Stage, rung: SelectRung, n: usize) -> Result<(), CaseError> {
    let own = first(rung);
    let x: Vec<u32> = (0..own + n).map(|index| (bits(index / 7) % 3) as u32).collect();
    check(stage, rung, &x, &[], Runs, |index| reference::begins_run(&x[own..], index))
}

fn run_lengths<T: RunElement + PartialEq + Debug>(stage: &Stage, n: usize) -> Result<(), CaseError> {
    let (device, x) = (&stage.device, (0..=n).map(|index| element::<T>(index / 900)).collect::<Vec<_>>());
    let dx = device.upload(&x)?;
    let (mut y, mut lengths, mut count) = (device.zeroed::<T>(n)?, device.zeroed(n)?, device.zeroed(1)?);
    let mut encoder = RunLengthEncoder::new(device, n)?;
    let part = dx.view().part(1, n);
    encoder.run(device.queue(), part, y.view_mut(), lengths.view_mut(), count.view_mut())?;
    let (elements, expected) = reference::run_lengths(&x[1..]);
    equal("count", &count.download()?, &[elements.len() as u64])?;
    equal("y", &y.download()?[..elements.len()], &elements)?;
    equal("lengths", &lengths.download()?[..elements.len()], &expected)
}
