//! The cases of sort: every rung, and the last rung with values, in several tiles and portions, on views that are not
//! aligned, and on keys that are all equal.

use cuda_std::Ladder;
use gpu::sort::NoPayload;

use super::fields::{sort_by_fields, structures};
use super::reference::{ReferenceKey, argsort};
use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::sort::{SegmentSorter, SortMethod, SortOptions, SortRung, Sorter, plan};

/// The number of keys for the first rungs: they form whole tiles of four bits, and a tile that is not whole.
const FEW: usize = 1024 + 77;

/// A number of keys that form several tiles of the last rung, the last of which is not whole.
const TILES: usize = 13_133;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in &SortRung::ALL[..SortRung::ALL.len() - 1] {
        let what = format!("{FEW} u32 keys, the planned launches");
        let kernels: &[&str] = match rung {
            SortRung::Split => &["sort_split_flags", "sort_split_move", "scan_look_back"],
            SortRung::FourBit => &["sort_four_bit_counts", "sort_four_bit_move", "scan_look_back"],
            _ => rung.families(),
        };
        cases.push(Case::new("sort", rung.name(), kernels, what, move |stage: &Stage| {
            sort::<u32>(stage, rung, FEW, |bits| bits as u32, &SortOptions::default())
        }));
    }
    let mut add = |what: &str, kernels, run: fn(&Stage) -> Result<(), CaseError>| {
        cases.push(Case::new("sort", SortRung::OneSweep.name(), kernels, what, run));
    };
    const SWEEP: &[&str] = &["sort_one_sweep", "sort_digit_counts"];
    add("u32 keys in several tiles, two passes", SWEEP, |stage| {
        let options = SortOptions { bits: Some(0..16), ..by(SortMethod::ManyBlocks) };
        sort::<u32>(stage, SortRung::OneSweep, TILES, |bits| bits as u32 & 0xffff, &options)
    });
    add("u64 keys, counted by several blocks, three passes", SWEEP, |stage| {
        let options = SortOptions { bits: Some(0..24), ..by(SortMethod::ManyBlocks) };
        sort::<u64>(stage, SortRung::OneSweep, TILES, |bits| bits & 0xff_ffff, &options)
    });
    add("f32 keys by bits 20..32, from element 1 on, with indices, two portions of a pass", SWEEP, indices);
    add("u8 keys that are all equal, in place", SWEEP, equal_keys);
    add("u64 keys in one block, with values, in place", &["sort_one_block"], |stage| {
        pairs(stage, SortMethod::OneBlock)
    });
    add("u64 keys in a cluster, with values, in place", &["sort_cluster"], |stage| {
        pairs(stage, SortMethod::Cluster { blocks: 3 })
    });
    add("u32 keys into another buffer, in a cluster", &["sort_cluster"], |stage| {
        let options = by(SortMethod::Cluster { blocks: 2 });
        sort::<u32>(stage, SortRung::OneSweep, 600, |bits| bits as u32, &options)
    });
    add("u32 keys into another buffer, in one block", &["sort_one_block"], |stage| {
        sort::<u32>(stage, SortRung::OneSweep, 600, |bits| bits as u32, &SortOptions::default())
    });
    add("i32 keys in segments, in place", &["sort_one_block"], segments);
    add("structures by two of their fields", &["sort_gather", "sort_one_block"], fields);
    cases
}

/// Returns the options for an ascending sort by `method`.
fn by(method: SortMethod) -> SortOptions {
    SortOptions { method: Some(method), ..SortOptions::default() }
}

/// Checks the sort of `n` keys.
fn sort<K: ReferenceKey>(
    stage: &Stage,
    rung: SortRung,
    n: usize,
    key: fn(u64) -> K,
    options: &SortOptions,
) -> Result<(), CaseError> {
    let keys: Vec<K> = (0..n).map(|index| key(bits(index))).collect();
    let (dkeys, mut sorted) = (stage.device.upload(&keys)?, stage.device.alloc(n)?);
    Sorter::new(&stage.device, rung, n, options)?.sort_into(stage.device.queue(), &dkeys, &mut sorted)?;
    let expected: Vec<K> = argsort(&keys, options).into_iter().map(|index| keys[index]).collect();
    equal("keys", &sorted.download()?, &expected)
}

fn indices(stage: &Stage) -> Result<(), CaseError> {
    const N: usize = 3 * 10 * 384 + 5;
    let device = &stage.device;
    // By these bits, keys are equal if their signs, exponents and upper three fraction bits are.
    let keys: Vec<f32> = (0..=N).map(|index| f32::from_bits((bits(index) >> 32) as u32 & 0x8fff_ffff)).collect();
    let options = SortOptions { bits: Some(20..32), ..by(SortMethod::ManyBlocks) };
    let plan = plan::<f32, u32>(device, SortRung::OneSweep, N, &options)?.with_portion(2 * 10 * 384);
    let values: Vec<u32> = (0..N as u32).collect();
    let (dkeys, dvalues) = (device.upload(&keys)?, device.upload(&values)?);
    let (mut sorted, mut indices) = (device.alloc(N)?, device.alloc::<u32>(N)?);
    let mut sorter = Sorter::with_plan(device, plan, &options)?;
    let input = (dkeys.view().part(1, N), dvalues.view());
    sorter.sort_pairs_views(device.queue(), input, (sorted.view_mut(), indices.view_mut()))?;
    let cut: Vec<f32> = keys[1..].iter().map(|key| cut(*key)).collect();
    let expected = argsort(&cut, &SortOptions::default());
    let found: Vec<usize> = indices.download()?.into_iter().map(|index| index as usize).collect();
    equal("indices", &found, &expected)?;
    let expected: Vec<f32> = expected.into_iter().map(|index| keys[index + 1]).collect();
    equal("keys", &sorted.download()?, &expected)
}

/// Returns the least key whose encoding has the same bits 20..32.
fn cut(key: f32) -> f32 {
    f32::from_bits(if key.is_sign_negative() { key.to_bits() | 0xf_ffff } else { key.to_bits() & !0xf_ffff })
}

fn equal_keys(stage: &Stage) -> Result<(), CaseError> {
    const N: usize = 22 * 384 + 5;
    let mut keys = stage.device.upload(&[7_u8; N])?;
    let mut sorter = Sorter::<u8, NoPayload>::new(&stage.device, SortRung::OneSweep, N, &SortOptions::default())?;
    sorter.sort_in(stage.device.queue(), &mut keys)?;
    equal("keys", &keys.download()?, &[7; N])
}

fn pairs(stage: &Stage, method: SortMethod) -> Result<(), CaseError> {
    const N: usize = 2 * 512 + 5;
    let keys: Vec<u64> = (0..N).map(|index| (bits(index) % 300) << 40).collect();
    let values: Vec<u32> = (0..N as u32).collect();
    let options = SortOptions { bits: Some(36..52), descending: true, ..by(method) };
    let (mut dkeys, mut dvalues) = (stage.device.upload(&keys)?, stage.device.upload(&values)?);
    let mut sorter = Sorter::new(&stage.device, SortRung::OneSweep, N, &options)?;
    sorter.sort_pairs_in(stage.device.queue(), &mut dkeys, &mut dvalues)?;
    let expected = argsort(&keys, &options);
    let found: Vec<usize> = dvalues.download()?.into_iter().map(|index| index as usize).collect();
    equal("values", &found, &expected)?;
    let expected: Vec<u64> = expected.into_iter().map(|index| keys[index]).collect();
    equal("keys", &dkeys.download()?, &expected)
}

fn fields(stage: &Stage) -> Result<(), CaseError> {
    let mut structures = structures(300);
    let sorted = sort_by_fields(&stage.device, &structures)?.download()?;
    structures.sort_by_key(|structure| (structure.major, u32::MAX - structure.minor));
    equal("y", &sorted, &structures)
}

fn segments(stage: &Stage) -> Result<(), CaseError> {
    const OFFSETS: [usize; 4] = [3, 40, 41, 600];
    let mut keys: Vec<i32> = (0..610).map(|index| bits(index) as i32).collect();
    let mut dkeys = stage.device.upload(&keys)?;
    let mut sorter = SegmentSorter::new(&stage.device, keys.len(), &OFFSETS, &SortOptions::default())?;
    sorter.sort_in(stage.device.queue(), &mut dkeys)?;
    OFFSETS.windows(2).for_each(|segment| keys[segment[0]..segment[1]].sort_unstable());
    equal("keys", &dkeys.download()?, &keys)
}
