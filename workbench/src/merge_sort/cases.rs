//! The cases of merge sort: every rung, one tile and several, in place and not, and merges of two vectors.

use cuda_std::Ladder;

use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::merge_sort::{Less, MergeSortRung, MergeSorter, merge_views, tile};

/// The number of elements in three tiles, the last of which is not whole.
const TILES: usize = 2 * tile(4) + 77;

pub(crate) fn cases() -> Vec<Case> {
    let case = |rung: MergeSortRung, kernels, what: &str, run: fn(&Stage) -> Result<(), CaseError>| {
        Case::new("merge_sort", rung.name(), kernels, what, run)
    };
    const RANKS: &[&str] = &["merge_sort_ranks"];
    const BLOCK: &[&str] = &["merge_sort_block"];
    const MERGE: &[&str] = &["merge_sort_merge_path", "merge_sort_block"];
    let path = MergeSortRung::MergePath;
    vec![
        case(MergeSortRung::Ranks, RANKS, "0, 1 and 300 elements, in place", |stage| {
            [0, 1, 300].into_iter().try_for_each(|n| sort(stage, MergeSortRung::Ranks, n))
        }),
        case(path, BLOCK, "one tile of 1, 33 or 700 elements", |stage| {
            [1, 33, 700].into_iter().try_for_each(|n| sort(stage, MergeSortRung::MergePath, n))
        }),
        case(path, MERGE, "three tiles", |stage| sort(stage, MergeSortRung::MergePath, TILES)),
        case(path, &["merge_sort_merge_path"], "two vectors of different lengths, from element 1 on", merge),
    ]
}

/// Checks the sort of `n` elements, few of which differ, into another vector and in place.
fn sort(stage: &Stage, rung: MergeSortRung, n: usize) -> Result<(), CaseError> {
    let mut expected: Vec<u32> = (0..n).map(|index| (bits(index) >> 54) as u32).collect();
    let (mut x, mut y) = (stage.device.upload(&expected)?, stage.device.alloc(n)?);
    let mut sorter = MergeSorter::new(&stage.device, rung, n)?;
    sorter.sort_into(stage.device.queue(), Less, &x, &mut y)?;
    sorter.sort_in(stage.device.queue(), Less, &mut x)?;
    expected.sort_unstable();
    equal("y", &y.download()?, &expected)?;
    equal("x", &x.download()?, &expected)
}

fn merge(stage: &Stage) -> Result<(), CaseError> {
    for [len_a, len_b] in [[tile(4) + 5, 100], [0, 33], [40, 0]] {
        let sorted = |first: usize, len: usize| {
            let mut run: Vec<u32> = (first..first + len).map(|index| (bits(index) >> 50) as u32).collect();
            run.sort_unstable();
            run
        };
        let (a, b) = (sorted(0, len_a + 1), sorted(len_a + 1, len_b + 1));
        let (da, db, mut y) = (stage.device.upload(&a)?, stage.device.upload(&b)?, stage.device.alloc(len_a + len_b)?);
        let views = (da.view().part(1, len_a), db.view().part(1, len_b));
        merge_views(stage.device.queue(), Less, views.0, views.1, y.view_mut())?;
        let mut expected = [&a[1..], &b[1..]].concat();
        expected.sort_unstable();
        equal("y", &y.download()?, &expected)?;
    }
    Ok(())
}
