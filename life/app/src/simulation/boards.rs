//! Makes boards in the memory of the device or host that will advance the board.

use std::ops::Range;

use anyhow::Context;
use life::{Bands, Board, CpuSimulation, Simulation};

use super::advance::{Advance, CopiedCells, Snapshot};
use super::engines::TeamBands;
use super::growth;
use super::plane_board::PlaneBoard;
use crate::backend::{Backend, Team};
use crate::first_board::BoardSource;

/// A board that some back end advances.
pub type AnyBoard = Box<dyn Advance>;

/// Copies `board`, which is `later` generations after the first board of the run, into the memory of `backend`.
///
/// # Errors
/// If memory is too small or the device fails.
pub fn new(backend: &Backend, board: &Board, later: u64) -> anyhow::Result<AnyBoard> {
    of_first(backend, Some(board), (board.width(), board.height()), later)
}

/// Makes a board of `size` like [`new`], but only the first rank passes `board`.
fn of_first(backend: &Backend, board: Option<&Board>, size: (usize, usize), later: u64) -> anyhow::Result<AnyBoard> {
    let universe = backend.universe();
    let from = universe.generation.wrapping_add(later);
    Ok(match backend {
        Backend::Team(team) => {
            let dead = || Board::with_states(size.0, size.1, universe.rule.states());
            in_bands(team, size, later, |rows| Ok(board.map_or_else(dead, |board| board.part(rows))?))?
        }
        Backend::Kernel(device, kernel, _) => {
            let life = Simulation::with_rule(device, *kernel, board.context(ONE_RANK)?, &universe.rule, from)?;
            Box::new(life.on(universe.kernel_topology())?)
        }
        Backend::Cpu(universe) if universe.is_unbounded() => {
            Box::new(PlaneBoard::of(universe, size, (board.context(ONE_RANK)?, (0, 0)), later)?)
        }
        Backend::Cpu(_) => {
            Box::new(CpuSimulation::with(board.context(ONE_RANK)?, &universe.rule, universe.topology, from)?)
        }
    })
}

/// The error for a state that cannot occur: there are several ranks, but the back end is not a team.
const ONE_RANK: &str = "this rank does not have the board";

/// Makes a board in bands. The first rank calls `read` for all rows, in ascending order.
fn in_bands(
    team: &Team,
    size: (usize, usize),
    later: u64,
    read: impl FnMut(Range<usize>) -> anyhow::Result<Board>,
) -> anyhow::Result<AnyBoard> {
    let mut bands = Bands::dead(team.ranks.communicator(), team.workers(), team.bands(size, later))?;
    bands.put(read)?;
    Ok(Box::new(TeamBands { bands, team: team.clone() }))
}

/// Makes the board that `source` describes in the memory of `backend`.
///
/// # Errors
/// Fails in the same cases as [`new`], and if `source` fails.
pub fn read(backend: &Backend, source: &BoardSource) -> anyhow::Result<AnyBoard> {
    match (backend, source) {
        (Backend::Team(team), BoardSource::Soup { size, density, seed }) => {
            let (workers, universe) = (team.workers(), team.bands(*size, 0));
            let bands = Bands::soup(team.ranks.communicator(), workers, universe, *density, *seed)?;
            Ok(Box::new(TeamBands { bands, team: team.clone() }))
        }
        (Backend::Kernel(device, kernel, universe), BoardSource::Soup { size, density, seed }) => {
            let life = Simulation::soup(device, *kernel, *size, *density, *seed, &universe.rule)?;
            Ok(Box::new(life.on(universe.kernel_topology())?))
        }
        (Backend::Cpu(universe), source) if universe.is_unbounded() => {
            Ok(Box::new(PlaneBoard::read(universe, source)?))
        }
        (_, BoardSource::Soup { size, density, seed }) => {
            new(backend, &Board::random(size.0, size.1, *density, *seed)?, 0)
        }
        (Backend::Team(team), BoardSource::Pattern(placed)) => {
            in_bands(team, source.size(), 0, |rows| placed.rows(rows))
        }
        (_, BoardSource::Pattern(placed)) => new(backend, &placed.board()?, 0),
        (_, BoardSource::OfFirstRank { size }) => of_first(backend, None, *size, 0),
        (Backend::Team(team), BoardSource::Saved(saved)) => {
            let read = || {
                let mut body = saved.body()?;
                let cells = in_bands(team, saved.header.size, 0, |rows| body.rows(rows.len()))?;
                body.finish()?;
                anyhow::Ok(cells)
            };
            read().with_context(|| saved.failed())
        }
        (_, BoardSource::Saved(saved)) => new(backend, &saved.board()?, 0),
    }
}

/// Makes a board from `snapshot` in the memory of `backend`. The snapshot must be `later` generations after the first
/// board of the run.
///
/// # Errors
/// Fails in the same cases as [`new`].
pub fn of_snapshot(backend: &Backend, snapshot: &Snapshot, later: u64) -> anyhow::Result<AnyBoard> {
    match (backend, &snapshot.cells) {
        (Backend::Team(team), CopiedCells::Bands(copied)) => {
            let universe = team.bands(snapshot.size, later);
            let mut bands = Bands::dead(team.ranks.communicator(), team.workers(), universe)?;
            bands.put_copy(copied)?;
            Ok(Box::new(TeamBands { bands, team: team.clone() }))
        }
        (_, CopiedCells::Plane(plane)) => Ok(Box::new(plane.begun_now())),
        _ => of_first(backend, snapshot.board(), snapshot.size, later),
    }
}

/// Makes a board of `size` with the cells of `board`. The upper left corner of `board` is placed at column `left` and
/// row `top`.
///
/// # Errors
/// Fails in the same cases as [`new`].
pub fn grown(
    board: &dyn Advance,
    backend: &Backend,
    (size, (left, top)): ((usize, usize), (usize, usize)),
    later: u64,
) -> anyhow::Result<AnyBoard> {
    let Backend::Team(team) = backend else {
        let board = board.gathered()?;
        let corner = (left as i64, top as i64);
        let board = board.map(|board| growth::window(&board, size, corner)).transpose()?;
        return of_first(backend, board.as_ref(), size, later);
    };
    let mut larger = Bands::dead(team.ranks.communicator(), team.workers(), team.bands(size, later))?;
    board.each_part(&mut |rows, part| {
        let there = rows.start + top..rows.end + top;
        let corner = (left as i64, 0);
        let part = part.map(|part| growth::window(part, (size.0, rows.len()), corner)).transpose()?;
        Ok(larger.put_rows(there, part.as_ref())?)
    })?;
    Ok(Box::new(TeamBands { bands: larger, team: team.clone() }))
}
