//! The division of a board's rows into bands, and the number of halo rows.
//!
//! # Design
//!
//! A cost model determines the number of halo rows. Fewer halo rows require more frequent exchanges. With more halo
//! rows, neighbouring bands compute more cells twice.

use std::ops::Range;

use life_cpu::{Automaton, Edges};

use super::BoardSpec;
use crate::cpu::engine_rule;
use crate::{LifeRung, Topology};

/// A division of a board's rows into bands of nearly equal height. Each member (a device, or the cores of a rank) gets
/// one band. If there are more members than rows, only as many members as rows get a band.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Division {
    pub(super) height: usize,
    /// The owner of each band: the rank, and the index of the member on that rank.
    owners: Vec<(usize, usize)>,
}

impl Division {
    /// Divides `height` rows into bands. `members` has one entry per rank: the rank's number of members.
    pub(super) fn new(height: usize, members: &[usize]) -> Self {
        let all =
            members.iter().enumerate().flat_map(|(rank, &members)| (0..members).map(move |member| (rank, member)));
        Self { height, owners: all.take(height).collect() }
    }

    pub(super) fn bands(&self) -> usize {
        self.owners.len()
    }

    /// Returns the rank that owns a band, and the index of the owning member on that rank.
    pub(super) fn owner(&self, band: usize) -> (usize, usize) {
        self.owners[band]
    }

    /// Returns the rows that a band owns.
    pub(super) fn rows(&self, band: usize) -> Range<usize> {
        let begin = |band: usize| (band as u128 * self.height as u128 / self.bands() as u128) as usize;
        begin(band)..begin(band + 1)
    }

    /// Returns the band that owns a row.
    pub(super) fn band_of(&self, row: usize) -> usize {
        (((row as u128 + 1) * self.bands() as u128 - 1) / self.height as u128) as usize
    }

    /// Returns the height of the highest band in rows.
    pub(super) fn max_rows(&self) -> usize {
        self.height.div_ceil(self.bands())
    }

    /// Divides `rows` at the bands' borders. Each part comes with the number of the band that owns it.
    pub(super) fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let bands = if rows.is_empty() { 0..0 } else { self.band_of(rows.start)..self.band_of(rows.end - 1) + 1 };
        bands.map(move |band| {
            let own = self.rows(band);
            (band, own.start.max(rows.start)..own.end.min(rows.end))
        })
    }
}

/// The kind of halo that the bands of a board have: whole rows, or cells on all four sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HaloKind {
    /// The halo has rows above and below the band. If `goes_around` is false, the first band has no halo rows above it,
    /// and the last band has no halo rows below it. `topology` says how the left and right edges of the band's board
    /// are joined.
    Rows { goes_around: bool, topology: Topology },
    /// The halo has cells on all four sides.
    Cells,
}

impl HaloKind {
    /// Returns the kind of halo for bands on the host's cores. Bands exchange whole rows if the topology copies rows
    /// unchanged across the upper and lower edges. In addition, all cells beyond the left and right edges must belong
    /// to the same band. Otherwise bands exchange single cells.
    pub(super) fn on_cores(topology: Topology) -> Self {
        match topology {
            Topology::Torus { across: 0, down: 0 } => Self::Rows { goes_around: true, topology },
            Topology::Tube(Edges::Horizontal) => Self::Rows { goes_around: true, topology: Topology::Plane },
            Topology::Plane | Topology::Tube(Edges::Vertical) => Self::Rows { goes_around: false, topology },
            _ => Self::Cells,
        }
    }

    /// The kind of halo for kernels, which support the torus only.
    pub(super) const BY_KERNELS: Self = Self::Rows { goes_around: true, topology: Topology::TORUS };
}

/// The number of generations that a kernel runs per launch. On a device, the height of a halo in rows is a multiple of
/// this constant.
const OF_KERNELS: usize = 24;
/// The number of generations that the host's cores run per pass. On the host, the height of a halo in rows is a
/// multiple of this constant.
pub(super) const OF_CORES: usize = 16;

/// The estimated time in seconds for one generation of one cell on a GPU.
const CELL: f64 = 2e-14;
/// The estimated time in seconds for one generation of one cell on the host's cores.
const CELL_ON_CORES: f64 = 5e-12;
/// The estimated time in seconds of an exchange within a host, without the time to transfer its bytes.
const EXCHANGE: f64 = 150e-6;
/// The estimated time in seconds of an exchange between hosts, without the time to transfer its bytes.
const EXCHANGE_OF_RANKS: f64 = 300e-6;

/// Returns the number of halo rows, which is the number of generations between two exchanges.
///
/// A band of width w with a halo of H rows computes 2·H·w cells of other bands per generation. There is one exchange
/// per H generations. With c seconds per cell and E seconds per exchange, the cost 2·H·w·c + E/H is least at H = √(E /
/// (2·w·c)).
///
/// A halo has at most half as many rows as its band, so that halos at most double the work on small boards. However, a
/// halo has at least one row for each generation of a launch.
pub(super) fn halo(spec: &BoardSpec, rows: usize, rung: Option<LifeRung>, is_far: bool, halo_kind: HaloKind) -> usize {
    let (least, cell) = if rung.is_some() { (OF_KERNELS, CELL) } else { (OF_CORES, CELL_ON_CORES) };
    let exchange = if is_far { EXCHANGE_OF_RANKS } else { EXCHANGE };
    let best = (exchange / (2.0 * spec.width as f64 * cell)).sqrt() as usize;
    let halo = best.min(rows / 2).next_multiple_of(least).max(least);
    match halo_kind {
        HaloKind::Rows { .. } => halo,
        HaloKind::Cells => halo.min(Automaton::depth_beyond(&engine_rule(&spec.rule), spec.topology)),
    }
}

/// The bandwidth in bytes per second of a transfer between ranks through page-locked memory and messages.
const BYTES_PER_SECOND: f64 = 3e9;
/// The latency of a message in seconds.
const MESSAGE: f64 = 100e-6;

/// Returns the number of generations that GPUs run while halos of `halo` rows are exchanged in both directions. Running
/// these generations takes about as long as the exchange. The result is at most a quarter of `rows`, the number of rows
/// of a band.
pub(super) fn late(spec: &BoardSpec, rows: usize, halo: usize) -> usize {
    let exchange = MESSAGE + 2.0 * halo as f64 * spec.width as f64 / 8.0 / BYTES_PER_SECOND;
    let generation = rows as f64 * spec.width as f64 * CELL;
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
            late(&BoardSpec { width, height: 2 * rows, rule: Rule::LIFE, topology, from: 0 }, rows, 240)
        };
        assert_eq!((of(65_536, 32_768), of(1_000_000, 500_000), of(65_536, 4096), of(100, 90)), (48, 24, 264, 0));
    }

    #[test]
    fn a_halo_costs_little() {
        let spec = |width, height| BoardSpec { width, height, rule: Rule::LIFE, topology: Topology::TORUS, from: 0 };
        let of = |width, rows, is_far| {
            halo(&spec(width, 2 * rows), rows, Some(LifeRung::Streaming), is_far, HaloKind::BY_KERNELS)
        };
        assert_eq!(of(65_536, 32_768, false), 240);
        assert_eq!(of(65_536, 32_768, true), 360);
        assert_eq!(of(1_000_000, 500_000, false), 72);
        assert_eq!(of(100, 5, false), 24);
        let of = |topology| halo(&BoardSpec { topology, ..spec(100, 60) }, 30, None, true, HaloKind::Cells);
        assert_eq!((of(Topology::Torus { across: 0, down: 1 }), of(Topology::Sphere)), (16, 1));
    }
}
