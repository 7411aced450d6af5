//! Exchanges single cells between bands. A topology needs this if it joins edges of different bands, or if it rotates
//! or reflects cells.

use super::BoardSpec;
use super::band::{Band, Engine};
use super::division::Division;
use crate::error::LifeError;
use multi::ranks::Communicator;

/// The cells of band `from` that are copied into the halo of band `to`.
pub(super) struct CellLink {
    from: usize,
    to: usize,
    /// The column and row of each cell on the board of band `from`. Empty if band `from` is on another rank.
    sources: Vec<(u32, u32)>,
    /// The column and row of each cell on the board of band `to`. Empty if band `to` is on another rank.
    targets: Vec<(u32, u32)>,
    cells: usize,
}

/// Returns all links whose source or target band belongs to `rank`, in the same order on every rank. Together the links
/// fill a halo of `halo` cells on all four sides of each band. The topology determines which cells are copied.
pub(super) fn links(spec: &BoardSpec, division: &Division, halo: usize, rank: usize) -> Vec<CellLink> {
    let (width, height, reach) = (spec.width, spec.height, halo as i64);
    let mut links: Vec<CellLink> = Vec::new();
    for to in 0..division.bands() {
        let own = division.rows(to);
        let (first, last) = (own.start as i64 - reach, own.end as i64 + reach);
        let begin = links.len();
        for y in first..last {
            let is_own_row = (own.start as i64..own.end as i64).contains(&y);
            // Beside the band's own rows, only the cells to the left and right belong to the halo.
            let (left, right) =
                (-reach..if is_own_row { 0 } else { width as i64 + reach }, width as i64..width as i64 + reach);
            for x in left.chain(right.filter(|_| is_own_row)) {
                let Some((source_x, source_y)) = spec.topology.source(width, height, x, y) else { continue };
                let from = division.band_of(source_y);
                if ![from, to].map(|band| division.owner(band).0).contains(&rank) {
                    continue;
                }
                let at = links[begin..].iter().position(|link| link.from == from).map_or(links.len(), |at| begin + at);
                if at == links.len() {
                    links.push(CellLink { from, to, sources: Vec::new(), targets: Vec::new(), cells: 0 });
                }
                let link = &mut links[at];
                link.cells += 1;
                if division.owner(from).0 == rank {
                    let row = source_y - division.rows(from).start + halo;
                    link.sources.push(((source_x + halo) as u32, row as u32));
                }
                if division.owner(to).0 == rank {
                    link.targets.push(((x + reach) as u32, (y - first) as u32));
                }
            }
        }
        links[begin..].sort_by_key(|link| link.from);
    }
    links
}

/// Fills the halos of all bands with the cells of `links`. `planes` is the number of bits per cell.
pub(super) fn fill_halos(
    links: &[CellLink],
    planes: usize,
    division: &Division,
    bands: &mut [Band],
    ranks: &dyn Communicator,
) -> Result<(), LifeError> {
    let words = |link: &CellLink| vec![0_u32; (link.cells * planes).div_ceil(32)];
    let mut packed: Vec<Vec<u32>> = links.iter().map(words).collect();
    for (link, packed) in links.iter().zip(&mut packed) {
        let Some(life) = cores(bands, link.from) else { continue };
        for (i, &(x, y)) in link.sources.iter().enumerate() {
            let cell = life.automaton.cell(x as usize, y as usize);
            for (plane, i) in (i * planes..(i + 1) * planes).enumerate() {
                packed[i / 32] |= u32::from(cell >> plane & 1) << (i % 32);
            }
        }
    }
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for (link, packed) in links.iter().zip(&mut packed) {
        let [from, to] = [link.from, link.to].map(|band| division.owner(band).0);
        match (from == ranks.rank(), to == ranks.rank()) {
            (true, false) => sends.push((to, bytemuck::cast_slice(packed))),
            (false, true) => receives.push((from, bytemuck::cast_slice_mut(packed))),
            _ => {}
        }
    }
    ranks.exchange(&sends, &mut receives)?;
    for (link, packed) in links.iter().zip(&packed) {
        let Some(life) = cores(bands, link.to) else { continue };
        for (i, &(x, y)) in link.targets.iter().enumerate() {
            let bit = |i: usize| (packed[i / 32] >> (i % 32) & 1) as u16;
            let cell = (0..planes).fold(0, |cell, plane| cell | bit(i * planes + plane) << plane);
            life.automaton.put_cell(x as usize, y as usize, cell);
        }
    }
    Ok(())
}

/// Returns the CPU simulation of band `number`, or `None` if that band is not in `bands`. Bands on devices never
/// exchange single cells.
fn cores(bands: &mut [Band], number: usize) -> Option<&mut crate::CpuSimulation> {
    let band = bands.iter_mut().find(|band| band.number == number)?;
    match &mut band.engine {
        Engine::Cores(life) => Some(life),
        Engine::Kernel(_) => None,
    }
}
