//! The cases of histogram: every rung with both widths of keys, with several segments of bins, and on views that are
//! not aligned.

use cuda_std::Ladder;
use gpu::histogram::{Key, MAX_REPLICAS, STATE_WORDS, VALUES, histogram_privatised, histogram_replicated};
use launch::{Kernel, LaunchConfig};

use super::reference;
use crate::case::{Case, CaseError, Stage, bits, equal};
use gridstride::histogram::{Bins, Histogram, HistogramRung};

/// The number of keys. The keys form whole tiles of the launches below, then whole vectors, then single keys.
const N: usize = 4 * 2048 + 77;

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in HistogramRung::ALL {
        let mut add = |what: &str, work: fn(&Stage, HistogramRung) -> Result<(), CaseError>| {
            cases.push(Case::new("histogram", rung.name(), rung.families(), what, move |stage: &Stage| {
                work(stage, rung)
            }));
        };
        add("u8 keys in 256 bins, the planned launch", |stage, rung| {
            check::<u8>(stage, rung, Bins::even(256, 0, 256)?, |bits| bits as u8)
        });
        add("u32 keys in 100 bins, the planned launch", |stage, rung| {
            check::<u32>(stage, rung, Bins::even(100, 7, 1 << 32)?, |bits| bits as u32)
        });
    }
    let mut add = |rung: HistogramRung, families, what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
        cases.push(Case::new("histogram", rung.name(), families, what, work));
    };
    add(
        HistogramRung::Privatised,
        &["histogram_privatised"],
        "u32 keys, 2 x 2 blocks of 64 threads, two segments of bins",
        privatised,
    );
    add(
        HistogramRung::Replicated,
        &["histogram_replicated"],
        "u32 keys, 2 x 2 blocks of 64 threads, two segments of bins",
        replicated_words,
    );
    add(
        HistogramRung::Replicated,
        &["histogram_replicated"],
        "u8 keys from element 1 on, 2 blocks of 64 threads",
        replicated_bytes,
    );
    cases
}

/// Checks the rung with its planned launch.
fn check<K: Key>(stage: &Stage, rung: HistogramRung, bins: Bins, key: fn(u64) -> K) -> Result<(), CaseError> {
    let keys: Vec<K> = (0..N).map(|index| key(bits(index))).collect();
    let (dkeys, mut counts) = (stage.device.upload(&keys)?, stage.device.alloc(bins.count() as usize)?);
    Histogram::new::<K>(&stage.device, rung, N, bins)?.run(&stage.device, &dkeys, &mut counts)?;
    equal("counts", &counts.download()?, &reference::histogram(&keys, bins))
}

fn privatised(stage: &Stage) -> Result<(), CaseError> {
    let bins = Bins::even(100, 7, 1 << 32)?;
    let keys: Vec<u32> = (0..N).map(|index| bits(index) as u32).collect();
    let (dkeys, mut counts) = (stage.device.upload(&keys)?, stage.device.zeroed(100)?);
    let config = LaunchConfig::new((2, 2), 64).shared_bytes(60 * 4);
    stage.device.launch(config, histogram_privatised(dkeys.view(), bins.even_bins(), 60, counts.view_mut()))?;
    equal("counts", &counts.download()?, &reference::histogram(&keys, bins))
}

fn replicated_words(stage: &Stage) -> Result<(), CaseError> {
    replicated::<u32>(stage, Bins::even(100, 7, 1 << 32)?, (60, 4), 2, |bits| bits as u32)
}

fn replicated_bytes(stage: &Stage) -> Result<(), CaseError> {
    replicated::<u8>(stage, Bins::even(100, 3, 250)?, (VALUES, MAX_REPLICAS), 1, |bits| bits as u8)
}

/// Checks the kernel of the last rung in a grid of 2 x `rows` blocks of 64 threads, on a view that begins with the
/// second key. Launches the kernel twice with the same state.
fn replicated<K: Key>(
    stage: &Stage,
    bins: Bins,
    (segment, replicas): (u32, u32),
    rows: u32,
    key: fn(u64) -> K,
) -> Result<(), CaseError>
where
    histogram_replicated<K>: Kernel,
{
    let keys: Vec<K> = (0..N).map(|index| key(bits(index))).collect();
    let dkeys = stage.device.upload(&keys)?;
    let (mut state, mut counts) = (stage.device.zeroed(STATE_WORDS)?, stage.device.alloc(bins.count() as usize)?);
    let config = LaunchConfig::new((2, rows), 64).shared_bytes(segment * replicas * 4);
    for _ in 0..2 {
        let part = dkeys.view().part(1, N - 1);
        let call = histogram_replicated(part, bins.even_bins(), segment, replicas, state.view_mut(), counts.view_mut());
        stage.device.launch(config, call)?;
        equal("counts", &counts.download()?, &reference::histogram(&keys[1..], bins))?;
        equal("state", &state.download()?, &[0; STATE_WORDS])?;
    }
    Ok(())
}
