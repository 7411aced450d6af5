//! The measurements of Life on teams of devices. The board consists of copies of a small board. The small board is
//! advanced alone, as the reference.

use std::ops::Range;

use launch::Group;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::{ScalingMeasurement, SplitWork};
use life::bands::BoardSpec;
use life::{Bands, Board, CpuSimulation, Rule, Topology, Workers};
use multi::team::Team;

/// Returns the measurements of Life on teams of devices.
pub(super) fn measurements() -> Vec<ScalingMeasurement> {
    // Each cell takes the memory of one bit in each of two boards, with margins and halos.
    let life = ScalingMeasurement::new("cells", 0.0, 0.3, |team, n| Life::prepare(team, n));
    vec![ScalingMeasurement { whole: cells, ..life }]
}

/// The largest width and height of the small board that is repeated.
const TILE: usize = 256;

/// The number of parts of the board, called pieces, that are compared with the reference.
const PIECES: usize = 16;
/// The number of rows of a piece.
const PIECE: usize = 16;

/// Returns the number of generations of a run.
fn generations(is_simulated: bool) -> u64 {
    if is_simulated { 24 } else { 2400 }
}

/// Returns the width and height of a board of whole tiles with at most `n` cells.
fn size(n: usize) -> (usize, usize) {
    let width = 1 << (n.max(1).ilog2() / 2);
    let height = (n.max(1) / width).max(1);
    (width, if height > TILE { height / TILE * TILE } else { height })
}

/// Returns the number of cells of the board that [`size`] returns for at most `n` cells.
fn cells(n: usize) -> usize {
    let (width, height) = size(n);
    width * height
}

/// The work of Life on a board that is split into bands.
struct Life<'t> {
    /// The bands of this rank's devices; `None` on a rank without a member.
    bands: Option<Bands<'t>>,
    is_first: bool,
    generations: u64,
    /// The small board that the board repeats.
    tile: Board,
}

impl<'t> Life<'t> {
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        let (width, height) = size(n);
        let tile = Board::random(width.min(TILE), height.min(TILE), 0.3, 1)?;
        let mut life = Self { bands: None, is_first: false, generations: 0, tile };
        if let Some(device) = team.devices().first() {
            let setting = BoardSpec { width, height, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 };
            let group = Group::of(team.devices().to_vec())?;
            let ranks = team.with_members();
            life.bands = Some(Bands::dead(ranks, Workers::Kernels(&group, None), setting)?);
            (life.is_first, life.generations) = (ranks.rank() == 0, generations(device.is_simulated()));
        }
        Ok(Box::new(life))
    }
}

/// Returns the rows `rows` of the board that repeats `tile`.
fn rows_of(tile: &Board, width: usize, rows: Range<usize>) -> Result<Board, WorkbenchError> {
    let mut words = Vec::with_capacity(width.div_ceil(32) * rows.len());
    for y in rows.clone() {
        // A tile whose rows do not fill whole words is as wide as the board.
        let row = tile.row(y % tile.height());
        words.extend(row.iter().cycle().take(width.div_ceil(32)));
    }
    Ok(Board::from_words(width, rows.len(), words)?)
}

impl SplitWork for Life<'_> {
    fn generations(&self) -> Option<u64> {
        Some(self.generations)
    }

    fn run(&mut self) -> Result<(), WorkbenchError> {
        let generations = self.generations;
        self.bands.as_mut().map_or(Ok(()), |bands| Ok(bands.advance(generations)?))
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let mut deviation = Deviation::default();
        let Self { bands: Some(bands), is_first, tile, .. } = self else { return Ok(deviation) };
        let (width, height) = bands.size();
        bands.put::<WorkbenchError>(|rows| rows_of(tile, width, rows))?;
        // These generations need several exchanges of halos, also before a halo is used up.
        let generations = 2 * bands.halo() as u64 + 7;
        bands.advance(generations)?;
        let mut expected = CpuSimulation::new(tile)?;
        expected.advance(generations);
        let expected = expected.board()?;
        let tiles = (width / tile.width() * (height / tile.height())) as u64;
        deviation.add_exact(0, bands.population()?, tiles * expected.population());
        for piece in 0..PIECES {
            let first = (height.saturating_sub(PIECE) as u128 * piece as u128 / (PIECES - 1) as u128) as usize;
            let rows = first..(first + PIECE).min(height);
            let Some(found) = bands.rows(rows.clone())?.filter(|_| *is_first) else { continue };
            let right = rows_of(&expected, width, rows)?;
            for (at, (&found, &right)) in found.words().iter().zip(right.words()).enumerate() {
                deviation.add_exact(first * width + at * 32, found, right);
            }
        }
        Ok(deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multi::ranks::{alone, in_threads};

    #[test]
    fn tiles_cover_a_board_of_any_number_of_cells() {
        for n in [0, 1, 2, 3, 1000, 5003, 10_006, 1 << 16, (1 << 20) + 77, 1 << 32, 1 << 33, 3 << 32] {
            let (width, height) = size(n);
            assert!(cells(n) <= n.max(1) && cells(n) * 2 > n, "{n}: {width}x{height}");
            assert!(width % width.min(TILE) == 0 && height % height.min(TILE) == 0);
        }
        assert_eq!([1 << 32, 1 << 33].map(size), [(1 << 16, 1 << 16), (1 << 16, 1 << 17)]);
    }

    #[test]
    fn boards_are_right_on_teams_of_any_size_and_a_wrong_cell_is_found() {
        let group = |text: &str| Group::open(&text.parse().unwrap(), crate::MODULES).unwrap();
        for (text, n) in [("sim:1", 5003), ("sim:3", 5003), ("sim:2", 1 << 17)] {
            let ranks = alone();
            let group = group(text);
            let team = Team::new(&group, &ranks).unwrap();
            let mut life = Life::prepare(&team, n).unwrap();
            assert_eq!(life.verify().unwrap(), Deviation::default(), "{text}, {n}");
            assert!(crate::scaling::time(&team, &mut *life).unwrap() > 0.0);
        }
        in_threads(3, |ranks| {
            let team = Team::new(&group("sim:2"), ranks).unwrap();
            for members in 1..=6 {
                let team = team.of_first(members);
                let mut life = Life::prepare(&team, 5003).unwrap();
                assert_eq!(life.verify().unwrap(), Deviation::default(), "{members} members");
            }
        });
        let tile = Board::random(70, 30, 0.3, 1).unwrap();
        let mut other = tile.clone();
        other.set(3, 29, !tile.get(3, 29));
        assert_ne!(rows_of(&tile, 70, 20..31).unwrap(), rows_of(&other, 70, 20..31).unwrap());
    }
}
