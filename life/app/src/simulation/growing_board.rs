//! Boards that grow in the unbounded directions of their universe.

use std::ops::Range;

use anyhow::{Context, anyhow};
use life::plane::PlaneError;
use life::{Bands, Board, LifeRung, Rule};

use super::advance::{Advance, CopiedCells, Snapshot};
use super::boards::{self, AnyBoard};
use super::growth::{self, Extent};
use super::plane_board::PlaneBoard;
use super::shape::{self, ShapeHash};
use crate::backend::{Backend, Team};
use crate::first_board::BoardSource;
use crate::ranks::Ranks;
use crate::universe::Universe;

/// The error that is returned if a pattern outgrows its board and memory is too small for a larger board. The board
/// stays unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("generation {generation}: the pattern outgrows its board of {}x{}", size.0, size.1)]
pub struct Outgrown {
    generation: u64,
    size: (usize, usize),
}

/// A board that advances. In unbounded directions, the board grows before live cells reach an edge.
pub struct GrowingBoard {
    backend: Backend,
    board: AnyBoard,
    /// The size of the first board as (columns, rows).
    first_size: (usize, usize),
    /// The size of `board` as (columns, rows), unless it is a plane.
    size: (usize, usize),
    /// The number of columns by which `board` has grown at the left, and the number of rows by which it has grown at
    /// the top, unless it is a plane.
    added: (usize, usize),
    /// The number of generations that the run had computed when `board` was made.
    before: u64,
    /// The number of generations for which no live cell can reach an edge, or [`u64::MAX`] if the board does not grow.
    room: u64,
}

impl GrowingBoard {
    /// Copies `board`, the first board of a run, into the memory of `backend`.
    ///
    /// # Errors
    /// If memory is too small or the device fails.
    pub fn new(backend: &Backend, board: &Board) -> anyhow::Result<Self> {
        Ok(Self::of(backend, boards::new(backend, board, 0)?, (board.width(), board.height())))
    }

    /// Makes the board that `source` describes in the memory of `backend`.
    ///
    /// # Errors
    /// Fails in the same cases as [`new`](Self::new), and if `source` fails.
    pub fn read(backend: &Backend, source: &BoardSource) -> anyhow::Result<Self> {
        Ok(Self::of(backend, boards::read(backend, source)?, source.size()))
    }

    /// Makes a board like [`new`](Self::new), from a copy that was made `later` generations after the first board.
    ///
    /// # Errors
    /// Fails in the same cases as [`new`](Self::new).
    pub fn later(backend: &Backend, snapshot: &Snapshot, later: u64) -> anyhow::Result<Self> {
        let cells = boards::of_snapshot(backend, snapshot, later)?;
        Ok(Self { before: later, ..Self::of(backend, cells, snapshot.size) })
    }

    fn of(backend: &Backend, board: AnyBoard, size: (usize, usize)) -> Self {
        let room = first_room(backend, &*board);
        Self { backend: backend.clone(), board, first_size: size, size, added: (0, 0), before: 0, room }
    }

    /// Loads the kernel that `backend` needs for a board of `size`, before time is measured.
    ///
    /// # Errors
    /// If a device fails.
    pub fn warm_up(backend: &Backend, size: (usize, usize)) -> anyhow::Result<()> {
        let team = match backend {
            Backend::Team(team) => team,
            // This rung loads its kernel when the board is made. A small board would load another kernel.
            Backend::Kernel(_, LifeRung::Resident, _) => return Ok(()),
            _ => return Self::new(backend, &Board::new(8, 8)?)?.advance(1),
        };
        // Each member of the team needs at least one row.
        let rows = 8 * team.group.as_ref().map_or(1, |group| group.members().len()) * team.ranks.size();
        let team = Team { kernel: team.rung(size)?, ..team.clone() };
        let mut bands = Bands::dead(team.ranks.communicator(), team.workers(), team.bands((8, rows), 0))?;
        bands.advance(1)?;
        Ok(bands.wait()?)
    }

    /// Grows the board if a cell could reach an edge in the next generation.
    fn make_room(&mut self) -> anyhow::Result<()> {
        let grows = self.backend.universe().grows;
        while self.room == 0 {
            let mut extent = Extent::default();
            self.parts(|rows, board| {
                extent.add(board, rows.start);
                Ok(())
            })?;
            self.room = self.backend.ranks().first(extent.room(self.size, grows).unwrap_or(0))?;
            if self.room > 0 {
                break;
            }
            let (size, (left, top)) = growth::larger(self.size, grows);
            let before = self.generation();
            let outgrown = Outgrown { generation: before, size: self.size };
            let fits = self.backend.check_memory(size, 2);
            if self.backend.ranks().max(fits.is_err().into())? == 1 {
                // Every rank must have enough memory.
                let why = fits.err().unwrap_or_else(|| anyhow!("another rank has too little memory"));
                return Err(why.context(outgrown));
            }
            let grown = boards::grown(&*self.board, &self.backend, (size, (left, top)), before);
            self.board = grown.with_context(|| outgrown.to_string())?;
            (self.size, self.before) = (size, before);
            self.added = (self.added.0 + left, self.added.1 + top);
        }
        Ok(())
    }

    /// Replaces the present board by `board`, which is `later` generations after the first board. `corner` is the
    /// position of its upper left cell relative to that of the first board. `whole` is the pattern of that generation
    /// on the plane, of which `board` replaces a rectangle, and `None` if the board is not on a plane.
    ///
    /// # Errors
    /// Fails in the same cases as [`new`](Self::new). After an error the board is unchanged.
    pub fn replace(
        &mut self,
        board: &Board,
        later: u64,
        corner: (i64, i64),
        whole: Option<&PlaneBoard>,
    ) -> anyhow::Result<()> {
        let rule = &self.backend.universe().rule;
        let other;
        let mut cells = board;
        if Board::planes(rule.states()) != 1 + board.ages().len() {
            other = growth::with_states_of(board, rule)?;
            cells = &other;
        }
        self.board = match whole {
            Some(plane) => {
                let mut plane = plane.begun_now();
                plane.change_rule(self.backend.universe())?;
                plane.put(corner, cells)?;
                Box::new(plane)
            }
            None => boards::new(&self.backend, cells, later)?,
        };
        let added = (-corner.0 as usize, -corner.1 as usize);
        (self.size, self.added, self.before) = ((board.width(), board.height()), added, later);
        self.room = first_room(&self.backend, &*self.board);
        Ok(())
    }

    /// Continues the run with another rule. A cell becomes dead if the new rule does not have the cell's state.
    ///
    /// # Errors
    /// If memory is too small or the device fails. After an error the board is unchanged.
    pub fn change_rule(&mut self, rule: Rule) -> anyhow::Result<()> {
        let backend = self.backend.with_rule(rule, self.size)?;
        if let Some(plane) = self.board.plane_mut() {
            plane.change_rule(backend.universe())?;
            self.backend = backend;
            return Ok(());
        }
        let board = growth::with_states_of(&self.board()?, &rule)?;
        let later = self.generation();
        self.board = boards::new(&backend, &board, later)?;
        (self.backend, self.before) = (backend, later);
        self.room = first_room(&self.backend, &*self.board);
        Ok(())
    }

    /// Returns true if the board grows in at least one direction.
    fn grows(&self) -> bool {
        self.backend.universe().grows != [false; 2]
    }

    /// Returns the present size of the board as (columns, rows). On the plane, the board is the smallest rectangle that
    /// contains the first board and all cells that are not dead.
    pub fn size(&self) -> (usize, usize) {
        self.board.plane().map(PlaneBoard::area).map_or(self.size, |area| (area.width as usize, area.height as usize))
    }

    /// Returns the number of columns by which the board extends beyond the first board at the left, and the number of
    /// rows by which it extends beyond the first board at the top.
    pub fn added(&self) -> (usize, usize) {
        self.board.plane().map(PlaneBoard::area).map_or(self.added, |area| (-area.x as usize, -area.y as usize))
    }

    /// Returns the ranks that share the board.
    pub fn ranks(&self) -> Ranks {
        self.backend.ranks()
    }

    /// Returns the universe of the board.
    pub fn universe(&self) -> &Universe {
        self.backend.universe()
    }

    /// Returns the whole board. If there are several ranks, this method succeeds only on the first rank.
    ///
    /// # Errors
    /// If the device fails, the host has too little memory, or this is not the first rank.
    pub fn board(&self) -> anyhow::Result<Board> {
        self.board.gathered()?.context("only the first rank has the board")
    }

    /// On the first rank, calls `take` with the board's rows, part by part. All ranks must call this method.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board), and if `take` fails.
    pub fn parts(&self, take: impl FnMut(Range<usize>, &Board) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut take = take;
        self.board.each_part(&mut |rows, part| part.map_or(Ok(()), |part| take(rows, part)))
    }

    /// Returns the part of the present board that the run's first board covered. Returns `None` on all ranks except the
    /// first.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn first_window(&self) -> anyhow::Result<Option<Board>> {
        if let Some(plane) = self.board.plane() {
            return plane.first_window().map(Some);
        }
        let board = self.board.gathered()?;
        if self.size == self.first_size {
            return Ok(board);
        }
        let corner = (-(self.added.0 as i64), -(self.added.1 as i64));
        Ok(board.map(|board| growth::window(&board, self.first_size, corner)).transpose()?)
    }

    /// Returns the positions of the cells that are not dead, as (column, row), sorted by row and column. (0, 0) is the
    /// upper left cell of the run's first board, if the board of which this board is a copy had grown by `added`
    /// columns at the left and rows at the top. A plane needs no such correction. Returns no cells on all ranks except
    /// the first.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn live_cells(&self, added: (usize, usize)) -> anyhow::Result<Vec<(i64, i64)>> {
        if let Some(plane) = self.board.plane() {
            return Ok(plane.cells().collect());
        }
        let (left, top) = ((added.0 + self.added.0) as i64, (added.1 + self.added.1) as i64);
        let mut cells = Vec::new();
        self.parts(|rows, board| {
            cells.extend(board.cells().map(|(x, y)| (x as i64 - left, (rows.start + y) as i64 - top)));
            Ok(())
        })?;
        Ok(cells)
    }

    /// Returns a copy of the board, for comparison with later boards or to continue from it.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn snapshot(&self) -> anyhow::Result<Snapshot> {
        let is_whole = self.grows() && self.board.plane().is_none();
        let cells = if is_whole { CopiedCells::Whole(self.board.gathered()?) } else { self.board.copied()? };
        Ok(Snapshot { size: self.size(), cells })
    }

    /// Returns a hash that is equal for equal boards of one run. If the board grows, the hash does not change when all
    /// cells move in a direction of growth.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn fingerprint(&mut self) -> anyhow::Result<u64> {
        let grows = self.backend.universe().grows;
        if grows == [false; 2] {
            return self.board.fingerprint();
        }
        if let Some(plane) = self.board.plane_mut() {
            return Ok(plane.shape_hash());
        }
        let mut hash = ShapeHash::default();
        self.parts(|rows, board| {
            hash.add(board, rows.start, grows);
            Ok(())
        })?;
        self.backend.ranks().first(hash.finish())
    }

    /// Returns a number of generations of which one takes about as long as a fingerprint, if fingerprints at many
    /// generations would take too long. Such boards grow and are not a plane, so that a fingerprint copies the board to
    /// the host. Returns 0 for all other boards.
    pub fn generations_per_fingerprint(&self) -> u64 {
        let is_copied = self.grows() && self.board.plane().is_none();
        if is_copied { 120 * ((self.size.0 as u64 * self.size.1 as u64) >> 18) } else { 0 }
    }

    /// Returns the hash of some rows of the board, like [`fingerprint`](Self::fingerprint). Returns `None` if such a
    /// hash would take as long as the fingerprint, or if the board grows.
    ///
    /// # Errors
    /// If a device or a rank fails.
    pub fn sample(&mut self) -> anyhow::Result<Option<u64>> {
        if self.grows() { Ok(None) } else { self.board.sample() }
    }

    /// Compares the board with `snapshot`, from which this board was made. Returns the numbers of columns and rows by
    /// which all cells have moved, or `None` if the cells have changed in another way. Cells may move only in
    /// directions of growth.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn moved_from(&self, snapshot: &Snapshot) -> anyhow::Result<Option<(i64, i64)>> {
        if let (Some(now), CopiedCells::Plane(then)) = (self.board.plane(), &snapshot.cells) {
            return Ok(now.moved_from(then));
        }
        if let Some(is) = self.board.equals(&snapshot.cells)? {
            return Ok(is.then_some((0, 0)));
        }
        let (grows, board) = (self.backend.universe().grows, self.board.gathered()?);
        let moved = snapshot.board().zip(board).and_then(|(then, now)| shape::moved(then, &now, grows));
        let (x, y) = moved.unwrap_or_default();
        let (x, y) = (x - self.added.0 as i64, y - self.added.1 as i64);
        let ranks = self.backend.ranks();
        let is = ranks.first(moved.is_some().into())? == 1;
        let moved = (ranks.first(x as u64)? as i64, ranks.first(y as u64)? as i64);
        Ok(is.then_some(moved))
    }

    /// Returns true if the board is in bands.
    pub fn is_in_bands(&self) -> bool {
        matches!(self.backend, Backend::Team(_))
    }

    /// Returns the board of the present size. This inner board never grows.
    pub fn engine(&self) -> &dyn Advance {
        &*self.board
    }

    /// Returns the same board as [`engine`](Self::engine), for methods that need `&mut`, such as methods that count or
    /// hash cells.
    pub fn engine_mut(&mut self) -> &mut dyn Advance {
        &mut *self.board
    }

    /// Runs `generations` generations and waits until the device has finished them.
    ///
    /// # Errors
    /// If a device or a rank fails. [`Outgrown`] if memory is too small for a larger board.
    pub fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        let mut left = generations;
        while left > 0 {
            self.make_room()?;
            let now = left.min(self.room);
            self.board.advance(now).map_err(|error| self.outgrown(error))?;
            self.room -= now;
            left -= now;
        }
        Ok(())
    }

    /// Runs one generation and returns its numbers of births and deaths.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        self.make_room()?;
        self.room -= 1;
        self.board.advance_counting().map_err(|error| self.outgrown(error))
    }

    /// Adds [`Outgrown`] to the error that memory is too small for the plane.
    fn outgrown(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast_ref() {
            Some(PlaneError::OutOfMemory { .. }) => {
                error.context(Outgrown { generation: self.generation(), size: self.size() })
            }
            _ => error,
        }
    }

    /// Returns the number of live cells.
    ///
    /// # Errors
    /// If a device or a rank fails.
    pub fn population(&mut self) -> anyhow::Result<u64> {
        self.board.population()
    }

    /// Returns the number of generations since the first board of the run.
    pub fn generation(&self) -> u64 {
        self.before + self.board.generation()
    }
}

/// Returns the initial value of `room`: 0 if the board grows, and the maximum otherwise.
fn first_room(backend: &Backend, board: &dyn Advance) -> u64 {
    if backend.universe().grows == [false; 2] || board.plane().is_some() { u64::MAX } else { 0 }
}
