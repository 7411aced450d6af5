//! Selects the measurements of a recording that compare the rungs of each ladder.

use workbench::algorithm::Unit;
use workbench::bench::{MeasuredPoint, Recording, Rungs, Subject, Sweep, subject};

use super::tables::{all_works, is_of, names, size_text};

/// The largest size at which the rungs of a ladder are compared.
const LADDER_SIZE: u64 = 1 << 28;

/// The measurement of a rung or of a peer.
#[derive(Clone, PartialEq, Debug)]
pub struct RungRow<'a> {
    /// The name of the algorithm.
    pub algorithm: &'static str,
    /// The variant of the problem, such as `inclusive`.
    pub variant: Option<&'static str>,
    /// The name of the rung or the peer.
    pub name: &'a str,
    /// True for a peer.
    pub is_peer: bool,
    /// The size of the row, as a table shows it. It is less than `ladder_size` for a rung that runs in one block.
    pub size: String,
    /// The size at which the ladder's rungs are compared.
    pub ladder_size: String,
    /// The useful bytes per time, in 10⁹ bytes per second.
    pub gbps: f64,
    /// The 10¹² operations per second of a product of matrices.
    pub teraflops: Option<f64>,
    /// The time of the rung before, divided by the time of this rung, if both have the same size.
    pub step: Option<f64>,
}

/// Returns the rows of all ladders, in the order of the algorithms and rungs. Life is counted in cells and has none.
pub fn all(recording: &Recording) -> Vec<RungRow<'_>> {
    all_works().filter(is_ladder).flat_map(|work| of_ladder(&work, recording)).collect()
}

/// Returns true if a sweep compares the rungs of a ladder.
fn is_ladder(work: &Sweep) -> bool {
    matches!(work.subject, Subject::Algorithm(_)) && work.rungs == Rungs::All && work.subject.unit() != Unit::Cells
}

/// Returns the rows of a ladder.
fn of_ladder<'a>(work: &Sweep, recording: &'a Recording) -> Vec<RungRow<'a>> {
    let is_shown = |row: &&MeasuredPoint| is_of(work, row) && row.size.is_power_of_two() && row.size <= LADDER_SIZE;
    let rows: Vec<&MeasuredPoint> = recording.rows.iter().filter(is_shown).collect();
    let Some(largest) = rows.iter().copied().max_by_key(|row| row.size) else { return Vec::new() };
    let ladder_size = rows.iter().find(|row| row.size == largest.size).map_or_else(String::new, |row| size_text(row));
    let mut before: Option<&MeasuredPoint> = None;
    let mut found = Vec::new();
    for name in names(&rows) {
        // A rung that runs in one block was not measured at the largest size.
        let Some(row) = rows.iter().copied().filter(|row| row.name() == name).max_by_key(|row| row.size) else {
            continue;
        };
        let is_peer = row.peer.is_some();
        let same = before.filter(|before| !is_peer && before.size == row.size);
        found.push(RungRow {
            algorithm: work.subject.name(),
            variant: work.variant,
            name,
            is_peer,
            size: size_text(row),
            ladder_size: ladder_size.clone(),
            gbps: row.gbps,
            teraflops: (work.subject.unit() == Unit::Operations).then(|| subject::teraflops(row)),
            step: same.map(|before| before.median_us / row.median_us),
        });
        before = (!work.subject.is_yardstick(name)).then_some(row);
    }
    found
}
