//! How the rows of a board are divided, and how many rows of their neighbours bands have.
//!
//! # Design
//!
//! The number of halo rows is chosen by a model of what an exchange and the repeated rows cost.

use std::ops::Range;

use life_cpu::{Automaton, Edges};

use super::Setting;
use crate::cpu::of_cpu;
use crate::{LifeRung, Topology};

/// The rows of a board, in as many parts of nearly equal height as there are members, or rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Division {
    height: usize,
    /// The rank of each band, and which of the rank's members it is.
    owners: Vec<(usize, usize)>,
}

impl Division {
    /// For so many members of each rank.
    pub(super) fn new(height: usize, members: &[usize]) -> Self {
        let all =
            members.iter().enumerate().flat_map(|(rank, &members)| (0..members).map(move |member| (rank, member)));
        Self { height, owners: all.take(height).collect() }
    }

    pub(super) fn bands(&self) -> usize {
        self.owners.len()
    }

    /// Rows of the board.
    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// The rank of a band, and which of the rank's members it is.
    pub(super) fn owner(&self, band: usize) -> (usize, usize) {
        self.owners[band]
    }

    /// The rows that are a band's own.
    pub(super) fn rows(&self, band: usize) -> Range<usize> {
        let begin = |band: usize| (band as u128 * self.height as u128 / self.bands() as u128) as usize;
        begin(band)..begin(band + 1)
    }

    /// The band whose own a row is.
    pub(super) fn band_of(&self, row: usize) -> usize {
        (((row as u128 + 1) * self.bands() as u128 - 1) / self.height as u128) as usize
    }

    /// Rows of the highest band.
    pub(super) fn max_rows(&self) -> usize {
        self.height.div_ceil(self.bands())
    }

    /// The parts of `rows` that are a band's own, with that band.
    pub(super) fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let bands = if rows.is_empty() { 0..0 } else { self.band_of(rows.start)..self.band_of(rows.end - 1) + 1 };
        bands.map(move |band| {
            let own = self.rows(band);
            (band, own.start.max(rows.start)..own.end.min(rows.end))
        })
    }
}

/// What is beyond the edges of a band.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beyond {
    /// Above and below are other rows of the board, or of the first and the last band nothing if these do not go
    /// around. The left and right edges are the board's own, which `topology` joins.
    Rows { goes_around: bool, topology: Topology },
    /// Other cells on all sides.
    Cells,
}

impl Beyond {
    /// On the host's cores. Where rows beyond the upper and lower edge are those of the board, as they are, and the
    /// left and right edges lead to no other band, whole rows are exchanged.
    pub(super) fn on_cores(topology: Topology) -> Self {
        match topology {
            Topology::Torus { across: 0, down: 0 } => Self::Rows { goes_around: true, topology },
            Topology::Tube(Edges::Horizontal) => Self::Rows { goes_around: true, topology: Topology::Plane },
            Topology::Plane | Topology::Tube(Edges::Vertical) => Self::Rows { goes_around: false, topology },
            _ => Self::Cells,
        }
    }

    /// By a kernel, which knows the torus alone.
    pub(super) const BY_KERNELS: Self = Self::Rows { goes_around: true, topology: Topology::TORUS };
}

/// Generations that a kernel runs at once, and the host's cores: halos are a multiple of the one or the other.
const OF_KERNELS: usize = 24;
pub(super) const OF_CORES: usize = 16;

/// Estimates, in seconds: one generation of a cell on a GPU, and on a core; and an exchange without the time for its
/// bytes, between members of a group or ranks of one host, and between other ranks.
const CELL: f64 = 2e-14;
const CELL_ON_CORES: f64 = 5e-12;
const EXCHANGE: f64 = 150e-6;
const EXCHANGE_OF_RANKS: f64 = 300e-6;

/// Rows of a halo, which are the generations from one exchange to the next.
///
/// A band of width w whose halo has H rows computes 2·H·w cells per generation that are others' own, and shares an
/// exchange among H generations: with c for a cell and E for an exchange, 2·H·w·c + E/H is least for H = √(E /
/// (2·w·c)). A halo has at most half as many rows as its band, so that small boards take at most twice the time of
/// their own rows, but never fewer rows than a launch runs generations.
pub(super) fn halo(setting: &Setting, rows: usize, rung: Option<LifeRung>, is_far: bool, beyond: Beyond) -> usize {
    let (least, cell) = if rung.is_some() { (OF_KERNELS, CELL) } else { (OF_CORES, CELL_ON_CORES) };
    let exchange = if is_far { EXCHANGE_OF_RANKS } else { EXCHANGE };
    let best = (exchange / (2.0 * setting.width as f64 * cell)).sqrt() as usize;
    let halo = best.min(rows / 2).next_multiple_of(least).max(least);
    match beyond {
        Beyond::Rows { .. } => halo,
        Beyond::Cells => halo.min(Automaton::depth_beyond(&of_cpu(&setting.rule), setting.topology)),
    }
}

/// Bytes per second through page-locked memory and messages, and the seconds that a message takes in addition.
const BYTES_PER_SECOND: f64 = 3e9;
const MESSAGE: f64 = 100e-6;

/// Generations that GPUs run during an exchange of `halo` rows each way: as many as take as long as the exchange, but
/// no more than a quarter of a band's rows.
pub(super) fn late(setting: &Setting, rows: usize, halo: usize) -> usize {
    let exchange = MESSAGE + 2.0 * halo as f64 * setting.width as f64 / 8.0 / BYTES_PER_SECOND;
    let generation = rows as f64 * setting.width as f64 * CELL;
    let wanted = ((exchange / generation) as usize).next_multiple_of(OF_KERNELS).max(OF_KERNELS);
    wanted.min(rows / 4 / OF_KERNELS * OF_KERNELS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;

    #[test]
    fn each_row_is_one_bands() {
        for (height, members) in [(1, vec![1, 1]), (5, vec![2, 0, 1]), (7, vec![7]), (100, vec![3, 4]), (3, vec![9])] {
            let division = Division::new(height, &members);
            assert_eq!(division.bands(), height.min(members.iter().sum()));
            let mut next = 0;
            for band in 0..division.bands() {
                let rows = division.rows(band);
                assert!(rows.start == next && !rows.is_empty() && rows.len() <= division.max_rows());
                assert!(rows.clone().all(|row| division.band_of(row) == band));
                next = rows.end;
            }
            assert_eq!(next, height);
            let all: Vec<_> = division.parts(0..height).collect();
            assert_eq!(all, (0..division.bands()).map(|band| (band, division.rows(band))).collect::<Vec<_>>());
        }
    }

    #[test]
    fn bands_go_on_as_long_as_an_exchange_takes() {
        let of = |width, rows| {
            let topology = Topology::TORUS;
            late(&Setting { width, height: 2 * rows, rule: Rule::LIFE, topology, from: 0 }, rows, 240)
        };
        assert_eq!((of(65_536, 32_768), of(1_000_000, 500_000), of(65_536, 4096), of(100, 90)), (48, 24, 264, 0));
    }

    #[test]
    fn a_halo_costs_little() {
        let setting = |width, height| Setting { width, height, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 };
        let of = |width, rows, is_far| {
            halo(&setting(width, 2 * rows), rows, Some(LifeRung::Streaming), is_far, Beyond::BY_KERNELS)
        };
        assert_eq!(of(65_536, 32_768, false), 240);
        assert_eq!(of(65_536, 32_768, true), 360);
        assert_eq!(of(1_000_000, 500_000, false), 72);
        assert_eq!(of(100, 5, false), 24);
        let of = |topology| halo(&Setting { topology, ..setting(100, 60) }, 30, None, true, Beyond::Cells);
        assert_eq!((of(Topology::Torus { across: 0, down: 1 }), of(Topology::Sphere)), (16, 1));
    }
}
