//! Runs a soup on the plane until its ash is periodic and its spaceships have escaped.

use life::Rule;
use life_cpu::{ActiveBoard, OutOfMemory, Stop};

use super::super::cell_set::Counts;
use super::cluster::Columns;
use super::ships::{Escaped, Rim, TooSmall};

/// The sizes of the boards that are tried one after the other, in cells, and the heights of their rims.
const BOARDS: [(usize, usize); 3] = [(512, 40), (2048, 128), (8192, 512)];

/// The maximum number of generations of a soup.
const MAX_GENERATIONS: u64 = 1_000_000;

/// The maximum number of tiles, of 512 cells, that are computed for a soup on one board.
const MAX_TILES: u64 = 100_000_000;

/// The number of generations between two checks of the number of tiles.
const WORK_INTERVAL: u64 = 1024;

/// The reason why a soup did not settle. Its name is the label by which it is counted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unsettled {
    /// Spaceships leave in every period, as from a gun.
    Gun,
    /// The cells reach the rim of the largest board.
    Grows,
    /// Two spaceships far outside might meet.
    MayMeet,
    /// The soup was still active after the maximum number of generations or of computed tiles.
    Limit,
}

impl Unsettled {
    /// Returns the label by which such a soup is counted, which begins as Catagolue's labels of patterns that are not
    /// periodic.
    pub fn label(self) -> &'static str {
        match self {
            Self::Gun => "zz_LINEAR",
            Self::Grows => "zz_EXPLOSIVE",
            Self::MayMeet | Self::Limit => "PATHOLOGICAL",
        }
    }

    /// Returns the reason as a phrase.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Gun => "spaceships leave it for ever",
            Self::Grows => "it grows beyond 8192x8192 cells",
            Self::MayMeet => "its spaceships might meet far outside",
            Self::Limit => "it was still active after 1,000,000 generations or 100,000,000 tiles of 512 cells",
        }
    }
}

/// The end of a soup.
pub struct Settled {
    /// The generation at which it settled.
    pub generation: u64,
    /// The period of the ash, or the reason why there is none.
    pub period: Result<u64, Unsettled>,
    /// The number of the board, from 0, on which it settled.
    pub board: usize,
}

/// The end of a run on one board.
enum End {
    Periodic(u64),
    TooSmall(TooSmall),
    Unsettled(Unsettled),
}

/// Boards on which a core runs soups.
pub struct Boards {
    rule: Rule,
    counts: Counts,
    boards: [Option<ActiveBoard>; BOARDS.len()],
    /// The spaceships that escaped from the last soup.
    pub escaped: Escaped,
}

impl Boards {
    /// Makes boards for `rule`, which counts neighbours as `counts` does.
    pub fn new(rule: Rule, counts: Counts) -> Self {
        Self { rule, counts, boards: Default::default(), escaped: Escaped::default() }
    }

    /// Runs a soup until it settles. `cells` are its live cells.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has too little memory for the board.
    pub fn settle(&mut self, cells: &[(i32, i32)]) -> Result<Settled, OutOfMemory> {
        let mut number = 0;
        loop {
            let (generation, end) = self.settle_on(number, cells)?;
            let period = match end {
                End::Periodic(period) => Ok(period),
                End::TooSmall(_) if number + 1 < BOARDS.len() => {
                    number += 1;
                    continue;
                }
                End::TooSmall(TooSmall::Grows) => Err(Unsettled::Grows),
                End::TooSmall(TooSmall::MayMeet) => Err(Unsettled::MayMeet),
                End::Unsettled(reason) => Err(reason),
            };
            return Ok(Settled { generation, period, board: number });
        }
    }

    /// Runs a soup on board `number`. Returns the last generation and the reason why the run ended.
    fn settle_on(&mut self, number: usize, cells: &[(i32, i32)]) -> Result<(u64, End), OutOfMemory> {
        let (side, rows) = BOARDS[number];
        let board = match &mut self.boards[number] {
            Some(board) => board,
            none => none.insert(ActiveBoard::new((side, side), rows, &engine_rule(&self.rule))?),
        };
        let size = board.size();
        let rim = Rim { size, columns: 64, rows };
        board.clear();
        self.escaped.clear();
        board.put(centred(cells, size), true);
        let mut work_check = WORK_INTERVAL;
        let end = loop {
            let generation = board.generation();
            match board.advance(work_check.min(MAX_GENERATIONS)) {
                Stop::Quiet => break End::Periodic(2),
                Stop::Repeats(period) if board.generation() - self.escaped.last <= period && self.escaped.last > 0 => {
                    break End::Unsettled(Unsettled::Gun);
                }
                Stop::Repeats(period) => break End::Periodic(period),
                Stop::Rim => {
                    let generation = board.generation();
                    match self.escaped.check(self.counts, rim, generation, |words| board.cells(words)) {
                        Ok(removed) if removed.is_empty() => {}
                        Ok(removed) => board.put(removed, false),
                        Err(too_small) => break End::TooSmall(too_small),
                    }
                }
                Stop::Reached if generation >= MAX_GENERATIONS || board.computed_tiles() > MAX_TILES => {
                    break End::Unsettled(Unsettled::Limit);
                }
                Stop::Reached => work_check = board.generation() + WORK_INTERVAL,
            }
        };
        Ok((board.generation(), end))
    }

    /// Writes the cells of the ash after [`settle`](Self::settle) to `now`, and the cells that are alive in one of the
    /// generations of the period to `ever`.
    pub fn ash(&mut self, settled: &Settled, now: &mut Columns, ever: &mut Columns) {
        if let (Ok(period), Some(board)) = (settled.period, &mut self.boards[settled.board]) {
            (now.height, ever.height) = (board.size().1, board.size().1);
            board.cells(&mut now.words);
            board.cells_ever_alive(period, &mut ever.words);
        }
    }
}

/// Returns `cells` as (column, row) in the middle of a board. The middle is in the middle of 64 columns.
fn centred(cells: &[(i32, i32)], (width, height): (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let middle = |of: fn(&(i32, i32)) -> i32| {
        let sides = (cells.iter().map(of).min().unwrap_or(0), cells.iter().map(of).max().unwrap_or(0));
        (sides.0 + sides.1 + 1) / 2
    };
    let (left, top) =
        ((width / 128 * 64 + 32) as i32 - middle(|cell| cell.0), (height / 2) as i32 - middle(|cell| cell.1));
    cells.iter().map(move |&(x, y)| ((x + left) as usize, (y + top) as usize))
}

/// Converts a rule to that of the engine.
fn engine_rule(rule: &Rule) -> life_cpu::Rule {
    life_cpu::Rule { phases: rule.phases().map(|rule| *rule.table()), states: rule.states() }
}
