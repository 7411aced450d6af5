//! Evaluates the records of the kernel `schedule_record`: the multiprocessor and the times of each block, and the
//! blocks that ran concurrently.

use gpu::probe::RECORD;
use serde::Serialize;
use thiserror::Error;

/// The multiprocessor and the times of a block. Times are in nanoseconds since the first block of the grid began.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
pub struct BlockRun {
    /// The number of the block in the grid.
    pub block: usize,
    /// The number of the multiprocessor that ran the block.
    pub multiprocessor: u64,
    /// The time at which the block's first warp began.
    pub begin: u64,
    /// The time at which the block's last warp ended.
    pub end: u64,
    /// The slot of the block on the multiprocessor, from 0. Concurrent blocks have different slots.
    pub place: usize,
    /// The position of the block among the blocks of its slot, from 1.
    pub wave: usize,
}

/// The blocks that one multiprocessor ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multiprocessor {
    /// The number of the multiprocessor.
    pub number: u64,
    /// The blocks of the multiprocessor, in the order in which they began.
    pub runs: Vec<BlockRun>,
    /// The largest number of blocks that ran concurrently on the multiprocessor.
    pub at_once: usize,
}

/// The error of a block's record that contradicts itself or another record of the block.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the record of block {block} is wrong: {why}")]
pub struct WrongRecord {
    /// The number of the block.
    pub block: usize,
    why: String,
}

/// Returns the blocks that `records` describe, by multiprocessor. The recorded grid has `warps` warps per block.
///
/// # Errors
/// [`WrongRecord`] if the warps of a block ran on different multiprocessors, or if a warp ended before it began.
pub fn multiprocessors(records: &[u64], warps: usize) -> Result<Vec<Multiprocessor>, WrongRecord> {
    let mut all: Vec<BlockRun> = Vec::new();
    for (block, records) in records.chunks_exact(RECORD * warps.max(1)).enumerate() {
        let mut run: Option<BlockRun> = None;
        for record in records.chunks_exact(RECORD) {
            let (multiprocessor, begin, end) = (record[0], record[2], record[3]);
            if end < begin {
                let why = format!("a warp ended {} ns before it began", begin - end);
                return Err(WrongRecord { block, why });
            }
            run = Some(match run {
                None => BlockRun { block, multiprocessor, begin, end, place: 0, wave: 1 },
                Some(run) if run.multiprocessor == multiprocessor => {
                    BlockRun { begin: run.begin.min(begin), end: run.end.max(end), ..run }
                }
                Some(run) => {
                    let other = run.multiprocessor;
                    let why = format!("it has warps on {other} and on {multiprocessor}");
                    return Err(WrongRecord { block, why });
                }
            });
        }
        all.extend(run);
    }
    let first = all.iter().map(|run| run.begin).min().unwrap_or(0);
    for run in &mut all {
        run.begin -= first;
        run.end -= first;
    }
    all.sort_by_key(|run| (run.multiprocessor, run.begin, run.block));
    Ok(all.chunk_by(|a, b| a.multiprocessor == b.multiprocessor).map(Multiprocessor::of).collect())
}

impl Multiprocessor {
    /// Assigns to each block the first slot that is free when the block begins.
    fn of(runs: &[BlockRun]) -> Self {
        // `places` has, for each slot, the time at which the slot's last block ended, and the wave of that block.
        let mut places: Vec<(u64, usize)> = Vec::new();
        let mut placed = Vec::with_capacity(runs.len());
        for run in runs {
            let place = places.iter().position(|&(end, _)| end <= run.begin).unwrap_or_else(|| {
                places.push((0, 0));
                places.len() - 1
            });
            let wave = places[place].1 + 1;
            places[place] = (run.end, wave);
            placed.push(BlockRun { place, wave, ..*run });
        }
        Self { number: runs.first().map_or(0, |run| run.multiprocessor), runs: placed, at_once: places.len() }
    }
}

/// Returns the largest number of blocks that ran concurrently on the whole GPU.
pub fn at_once(multiprocessors: &[Multiprocessor]) -> usize {
    let runs = || multiprocessors.iter().flat_map(|one| &one.runs);
    // At equal times, the end of a block sorts before the beginning of another.
    let mut changes: Vec<(u64, i64)> = runs().flat_map(|run| [(run.begin, 1), (run.end, -1)]).collect();
    changes.sort_unstable();
    let mut now = 0;
    let counts = changes.into_iter().map(|(_, change)| {
        now += change;
        now
    });
    counts.max().map_or(0, |max| usize::try_from(max).unwrap_or(0))
}

/// Returns the number of blocks that began earlier than a block with a lower number.
pub fn early(multiprocessors: &[Multiprocessor]) -> usize {
    let mut runs: Vec<&BlockRun> = multiprocessors.iter().flat_map(|one| &one.runs).collect();
    runs.sort_by_key(|run| run.block);
    // `latest_before` is the latest time at which a block with a lower number began.
    let mut latest_before = None;
    let mut early = 0;
    for run in runs {
        early += usize::from(latest_before.is_some_and(|latest| run.begin < latest));
        latest_before = latest_before.max(Some(run.begin));
    }
    early
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the records of blocks with two warps each. `blocks` has the multiprocessor, the begin and the end of
    /// each block. The second warp of a block begins and ends one nanosecond after the first.
    fn records(blocks: &[(u64, u64, u64)]) -> Vec<u64> {
        let warps = |&(sm, begin, end): &(u64, u64, u64)| [[sm, 0, begin, end - 1], [sm, 1, begin + 1, end]];
        blocks.iter().flat_map(warps).flatten().collect()
    }

    #[test]
    fn blocks_that_run_at_once_have_different_places() {
        let blocks = [(3, 1000, 1100), (3, 1010, 1050), (7, 1000, 1020), (3, 1050, 1200), (3, 1100, 1150)];
        let all = multiprocessors(&records(&blocks), 2).unwrap();
        assert_eq!(all.iter().map(|one| (one.number, one.at_once)).collect::<Vec<_>>(), [(3, 2), (7, 1)]);
        let runs: Vec<_> = all[0].runs.iter().map(|run| (run.block, run.begin, run.end, run.place, run.wave)).collect();
        assert_eq!(runs, [(0, 0, 100, 0, 1), (1, 10, 50, 1, 1), (3, 50, 200, 1, 2), (4, 100, 150, 0, 2)]);
        assert_eq!(at_once(&all), 3);
    }

    #[test]
    fn a_block_is_early_if_one_before_it_had_not_begun() {
        let early = |begins: &[u64]| {
            let blocks: Vec<_> = begins.iter().map(|&begin| (0, begin, begin + 10)).collect();
            super::early(&multiprocessors(&records(&blocks), 2).unwrap())
        };
        assert_eq!(early(&[5, 6, 6, 7]), 0);
        assert_eq!(early(&[5, 9, 6, 7]), 2);
        assert_eq!(early(&[9, 5]), 1);
    }

    #[test]
    fn contradictory_records_are_an_error() {
        let message = |records: &[u64]| multiprocessors(records, 2).unwrap_err().to_string();
        assert!(message(&[1, 0, 10, 20, 2, 1, 10, 20]).contains("block 0 is wrong: it has warps on 1 and on 2"));
        assert!(message(&[1, 0, 10, 20, 1, 1, 30, 20]).contains("10 ns before it began"));
        assert!(multiprocessors(&[], 2).unwrap().is_empty());
        assert_eq!((at_once(&[]), early(&[])), (0, 0));
    }
}
