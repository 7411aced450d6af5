//! What advances a board: a kernel on a device, the host's own cores, or several of these.

use std::ops::Range;

use anyhow::{Context, anyhow};
use life::{Bands, Board, LifeRung, Rule};

use super::cells::{Cells, Snapshot};
use super::growth::Extent;
use super::place::Team;
use super::setting::Setting;
use super::shape::ShapeHash;
use super::start::Source;
use super::{agree, growth, shape};
use program::ranks;

pub use super::place::{Engine, Place};

mod states;

/// A pattern outgrows its board, and there is no memory for a larger one. The board stays as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("generation {generation}: the pattern outgrows its board of {}x{}", size.0, size.1)]
pub struct Outgrown {
    generation: u64,
    size: (usize, usize),
}

/// A board that is being advanced. Where its setting is unbounded, it grows before anything reaches its edges.
pub struct Life {
    engine: Engine,
    cells: Cells,
    /// Columns and rows at first.
    first_size: (usize, usize),
    size: (usize, usize),
    /// Columns and rows added to the left and above.
    added: (usize, usize),
    /// Generations of the boards before this one.
    before: u64,
    /// Generations before the board has to be looked at again.
    room: u64,
}

impl Life {
    /// Puts `board` where `engine` is.
    ///
    /// # Errors
    /// When there is no room for it, or the device fails.
    pub fn new(engine: &Engine, board: &Board) -> anyhow::Result<Self> {
        Ok(Self::of(engine, Cells::new(engine, board, 0)?, (board.width(), board.height())))
    }

    /// Begins with what `source` gives.
    ///
    /// # Errors
    /// As [`new`](Self::new), and those of `source`.
    pub fn read(engine: &Engine, source: &Source) -> anyhow::Result<Self> {
        Ok(Self::of(engine, Cells::read(engine, source)?, source.size()))
    }

    /// As [`new`](Self::new), with a copy that was made `later` generations later than a run on `engine` begins.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn later(engine: &Engine, snapshot: &Snapshot, later: u64) -> anyhow::Result<Self> {
        let cells = Cells::of_snapshot(engine, snapshot, later)?;
        Ok(Self { before: later, ..Self::of(engine, cells, snapshot.size()) })
    }

    fn of(engine: &Engine, cells: Cells, size: (usize, usize)) -> Self {
        let room = if engine.setting().grows == [false; 2] { u64::MAX } else { 0 };
        Self { engine: engine.clone(), cells, first_size: size, size, added: (0, 0), before: 0, room }
    }

    /// Has the kernel loaded that a board of this size takes where `engine` is.
    ///
    /// # Errors
    /// When a device fails.
    pub fn warm_up(engine: &Engine, size: (usize, usize)) -> anyhow::Result<()> {
        let team = match engine {
            Engine::Team(team) => team,
            // It is loaded with the board; a small one takes another instance.
            Engine::Kernel(_, LifeRung::Resident, _) => return Ok(()),
            _ => return Self::new(engine, &Board::new(8, 8)?)?.advance(1),
        };
        // Each member has a row at least.
        let rows = 8 * team.group.as_ref().map_or(1, |group| group.members().len()) * ranks::communicator().size();
        let team = Team { kernel: team.rung(size)?, ..team.clone() };
        let mut bands = Bands::dead(ranks::communicator(), team.workers(), team.bands((8, rows), 0))?;
        bands.advance(1)?;
        Ok(bands.wait()?)
    }

    /// Runs `generations` generations, to their end.
    ///
    /// # Errors
    /// When the device fails, or memory does not suffice for what the board has to grow to.
    pub fn advance(&mut self, generations: u64) -> anyhow::Result<()> {
        let mut left = generations;
        while left > 0 {
            self.make_room()?;
            let now = left.min(self.room);
            self.cells.advance(now)?;
            self.take_room(now);
            left -= now;
        }
        Ok(())
    }

    fn take_room(&mut self, generations: u64) {
        if self.room < u64::MAX {
            self.room -= generations;
        }
    }

    /// Sees to it that nothing reaches an edge in the next generation that is to move away.
    fn make_room(&mut self) -> anyhow::Result<()> {
        let grows = self.engine.setting().grows;
        while self.room == 0 {
            if let Some(room) = self.room(grows)? {
                self.room = room;
                break;
            }
            let (size, (left, top)) = growth::larger(self.size, grows);
            let before = self.generation();
            let outgrown = Outgrown { generation: before, size: self.size };
            let fits = self.engine.check_memory(size, 2);
            if agree::most(fits.is_err().into())? == 1 {
                // Whichever rank has too little of it.
                let why = fits.err().unwrap_or_else(|| anyhow!("another rank has too little memory"));
                return Err(why.context(outgrown));
            }
            let grown = self.cells.grown(&self.engine, (size, (left, top)), before);
            self.cells = grown.with_context(|| outgrown.to_string())?;
            (self.size, self.before) = (size, before);
            self.added = (self.added.0 + left, self.added.1 + top);
        }
        Ok(())
    }

    /// The generations in which nothing reaches an edge that moves away, if they are worth a look.
    fn room(&self, grows: [bool; 2]) -> anyhow::Result<Option<u64>> {
        let mut extent = Extent::default();
        self.cells.parts(|rows, board| {
            extent.add(board, rows.start);
            Ok(())
        })?;
        // 0 for none: there are at least as many as are near.
        let room = agree::first(extent.room(self.size, grows).unwrap_or(0))?;
        Ok((room > 0).then_some(room))
    }

    /// Puts `board` in place of the one that there is, as it is `later` generations after the first one, with `added` columns and
    /// rows to the left and above.
    ///
    /// # Errors
    /// As [`new`](Self::new). Then it is as it was.
    pub fn replace(&mut self, board: &Board, later: u64, added: (usize, usize)) -> anyhow::Result<()> {
        let rule = &self.engine.setting().rule;
        let other =
            (Board::planes(rule.states()) != 1 + board.ages().len()).then(|| states::of(board, rule)).transpose()?;
        self.cells = Cells::new(&self.engine, other.as_ref().unwrap_or(board), later)?;
        (self.size, self.added, self.before) = ((board.width(), board.height()), added, later);
        self.room = if self.engine.setting().grows == [false; 2] { u64::MAX } else { 0 };
        Ok(())
    }

    /// Goes on by another rule. Of cells in states that it does not have nothing is left.
    ///
    /// # Errors
    /// When no engine has room for it, or the device fails. Then it is as it was.
    pub fn change_rule(&mut self, rule: Rule) -> anyhow::Result<()> {
        let engine = self.engine.with_rule(rule, self.size).map_err(anyhow::Error::from)?;
        let board = states::of(&self.board()?, &rule)?;
        let later = self.generation();
        self.cells = Cells::new(&engine, &board, later)?;
        (self.engine, self.before) = (engine, later);
        self.room = if self.engine.setting().grows == [false; 2] { u64::MAX } else { 0 };
        Ok(())
    }

    /// The rule, and what is beyond the edges.
    pub fn setting(&self) -> &Setting {
        self.engine.setting()
    }

    /// Live cells.
    ///
    /// # Errors
    /// When the device fails.
    pub fn population(&mut self) -> anyhow::Result<u64> {
        self.cells.population()
    }

    /// Runs one generation, and gives how many cells it has brought to life and how many have died in it.
    ///
    /// # Errors
    /// As for [`advance`](Self::advance).
    pub fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)> {
        self.make_room()?;
        self.take_room(1);
        self.cells.advance_counting()
    }

    /// A hash of the board: two boards of one run that differ have the same one in 1 of 2⁶⁴ cases. Another engine may give
    /// another one.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn hash(&mut self) -> anyhow::Result<u64> {
        self.cells.hash()
    }

    /// The board as it is now. Only the first of several ranks has it.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn board(&self) -> anyhow::Result<Board> {
        self.gathered()?.context("only the first rank has the board")
    }

    /// The board as it is now, for the first rank; for the others none.
    ///
    /// # Errors
    /// As for [`board`](Self::board).
    pub fn gathered(&self) -> anyhow::Result<Option<Board>> {
        self.cells.gathered()
    }

    /// As [`Cells::halos`].
    pub fn halos(&self) -> Option<String> {
        self.cells.halos()
    }

    /// Calls `take` on the first rank with the board's rows, part by part. Each part is of as many rows as fit 64 MiB.
    ///
    /// # Errors
    /// As for [`board`](Self::board), and those of `take`.
    pub fn parts(&self, take: impl FnMut(Range<usize>, &Board) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.cells.parts(take)
    }

    /// What is now where the first board was, for the first rank; for the others none.
    ///
    /// # Errors
    /// As for [`board`](Self::board).
    pub fn first_window(&self) -> anyhow::Result<Option<Board>> {
        let board = self.gathered()?;
        if self.size == self.first_size {
            return Ok(board);
        }
        let corner = (-(self.added.0 as i64), -(self.added.1 as i64));
        Ok(board.map(|board| growth::window(&board, self.first_size, corner)).transpose()?)
    }

    /// A copy of the board, to compare with or to begin again with.
    ///
    /// # Errors
    /// As for [`board`](Self::board).
    pub fn snapshot(&self) -> anyhow::Result<Snapshot> {
        self.cells.snapshot(self.size, self.engine.setting().grows != [false; 2])
    }

    /// A hash of the cells by which boards of one run are compared: of a board that grows, the same wherever they all are in
    /// the directions in which it does.
    ///
    /// # Errors
    /// As for [`hash`](Self::hash).
    pub fn fingerprint(&mut self) -> anyhow::Result<u64> {
        let grows = self.engine.setting().grows;
        if grows == [false; 2] {
            return self.hash();
        }
        let mut hash = ShapeHash::default();
        self.cells.parts(|rows, board| {
            hash.add(board, rows.start, grows);
            Ok(())
        })?;
        agree::first(hash.finish())
    }

    /// How many columns and rows the cells have moved from where those of a copy are, of the board that this began with, if they
    /// are the same but for that. Only in directions in which the board grows they can have moved.
    ///
    /// # Errors
    /// As for [`board`](Self::board).
    pub fn moved_from(&self, snapshot: &Snapshot) -> anyhow::Result<Option<(i64, i64)>> {
        if let Some(is) = self.cells.is(snapshot)? {
            return Ok(is.then_some((0, 0)));
        }
        let (grows, board) = (self.engine.setting().grows, self.gathered()?);
        let moved = snapshot.board().zip(board).and_then(|(then, now)| shape::moved(then, &now, grows));
        let (x, y) = moved.unwrap_or_default();
        let (x, y) = (x - self.added.0 as i64, y - self.added.1 as i64);
        let is = agree::first(moved.is_some().into())? == 1;
        let moved = (agree::first(x as u64)? as i64, agree::first(y as u64)? as i64);
        Ok(is.then_some(moved))
    }

    /// Whether the board is in bands.
    pub fn is_in_bands(&self) -> bool {
        matches!(self.engine, Engine::Team(_))
    }

    /// Columns and rows of the board as it is now.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Columns and rows that the board has grown by to the left and above.
    pub fn added(&self) -> (usize, usize) {
        self.added
    }

    /// Generations run so far.
    pub fn generation(&self) -> u64 {
        self.before + self.cells.generation()
    }

    /// What the device is called.
    pub fn device(&self) -> String {
        self.cells.device()
    }

    /// The kernel, or what the cores compute with.
    pub fn kernel(&self) -> String {
        self.cells.kernel()
    }

    /// Generations that together take about as long as one.
    pub fn generations_at_once(&self) -> u64 {
        self.cells.generations_at_once()
    }
}

#[cfg(test)]
mod tests;
