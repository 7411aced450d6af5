//! Runs a soup on the plane until its ash is periodic and its spaceships have escaped.

use life::Rule;
use life_cpu::{ActiveBoard, OutOfMemory, Stop};

use super::cluster::Columns;
use super::growth;
use super::ships::{Escaped, Rim, TooSmall};
use crate::fate;
use crate::objects::{Counts, identify_under};

/// The sizes of the boards that are tried one after the other, in cells, and the heights of their rims.
const BOARDS: [(usize, usize); 3] = [(512, 40), (2048, 128), (8192, 512)];

/// The maximum number of generations of a soup.
const MAX_GENERATIONS: u64 = 1_000_000;

/// The maximum number of tiles, of 512 cells, that are computed for a soup on one board.
const MAX_TILES: u64 = 50_000_000;

/// The number of generations whose live cells connect the parts of a soup that grows.
const GROWTH_SWEEP: u64 = 400;

/// The number of generations between two checks of the number of tiles.
const WORK_INTERVAL: u64 = 1024;

/// A soup is not run on the largest board if its population, from the first board to the second, is proportional to
/// at least this power of the time.
const EXPLOSION: f64 = 1.1;

/// The reason why a soup did not settle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unsettled {
    /// Spaceships leave in every period, as from a gun.
    Gun,
    /// A part of the soup, such as a puffer, makes the same objects after each of its periods.
    Linear,
    /// The cells reach the rim of the largest board. The population is proportional to this power of the time.
    Grows(f64),
    /// Two spaceships far outside might meet.
    MayMeet,
    /// The soup has too many active cells.
    TooActive,
    /// The soup was still active after the maximum number of generations.
    TooLong,
}

impl Unsettled {
    /// Returns the label by which such a soup is counted. The labels are those of Catagolue for patterns that are not
    /// periodic. It distinguishes powers of the population that is summed over time, which are greater by 1.
    pub fn label(self) -> &'static str {
        match self {
            Self::Gun | Self::Linear => "zz_LINEAR",
            Self::Grows(power) if power < 0.1 => "PATHOLOGICAL",
            Self::Grows(power) if power < 0.65 => "zz_REPLICATOR",
            Self::Grows(power) if power < 1.1 => "zz_LINEAR",
            Self::Grows(power) if power < 1.9 => "zz_EXPLOSIVE",
            Self::Grows(_) => "zz_QUADRATIC",
            Self::TooActive => "zz_EXPLOSIVE",
            Self::MayMeet | Self::TooLong => "PATHOLOGICAL",
        }
    }

    /// Returns the reason as a phrase.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Gun => "spaceships leave it for ever",
            Self::Linear => "it grows for ever at a constant rate",
            Self::Grows(power) if power >= EXPLOSION => "it grows in all directions, beyond 2048x2048 cells",
            Self::Grows(_) => "it grows beyond 8192x8192 cells",
            Self::MayMeet => "its spaceships might meet far outside",
            Self::TooActive => "it has too many active cells: 50,000,000 tiles of 512 cells were computed",
            Self::TooLong => "it was still active after 1,000,000 generations",
        }
    }
}

/// The end of a soup.
pub struct Settled {
    /// The generation at which it settled.
    pub generation: u64,
    /// The period of the ash, or the reason why there is none.
    pub period: Result<u64, Unsettled>,
    /// The code of the growth of a soup that has no period, or `None` if it does not grow linearly.
    pub growth: Option<String>,
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
        // The generation and the population at the end of the run on the previous board.
        let mut before: Option<(f64, f64)> = None;
        let mut board = 0;
        loop {
            let (generation, end) = self.settle_on(board, cells, MAX_GENERATIONS)?;
            let settled = |period, growth| Ok(Settled { generation, period, growth, board });
            let too_small = match end {
                End::Periodic(period) => return settled(Ok(period), None),
                End::Unsettled(Unsettled::Gun) => {
                    let growth = growth::code_of(self.counts, self.growing_cells(board));
                    return settled(Err(Unsettled::Gun), growth);
                }
                End::Unsettled(reason) => return settled(Err(reason), None),
                End::TooSmall(too_small) => too_small,
            };
            let (time, population) = (generation.max(2) as f64, self.population(board).max(1) as f64);
            let power = before.map_or(0.0, |(t, p)| (population / p).ln() / (time / t).ln());
            let is_last = board + 1 == BOARDS.len();
            match too_small {
                TooSmall::Grows if power >= EXPLOSION => return settled(Err(Unsettled::Grows(power)), None),
                TooSmall::Grows if is_last => {
                    // The growth is regular long before it reaches the rim.
                    self.settle_on(board, cells, generation / 2)?;
                    let growth = growth::code_of(self.counts, self.growing_cells(board));
                    return settled(Err(Unsettled::Grows(power)), growth);
                }
                TooSmall::MayMeet if is_last => return settled(Err(Unsettled::MayMeet), None),
                TooSmall::Grows if board > 0 => {
                    let front = fate::front_of(self.counts, cells, generation / 2..=generation);
                    let growth = front.and_then(|front| growth::code_of(self.counts, front));
                    if growth.is_some() {
                        return settled(Err(Unsettled::Linear), growth);
                    }
                }
                TooSmall::Grows | TooSmall::MayMeet => {}
            }
            before = Some((time, population));
            board += 1;
        }
    }

    /// Runs a soup on board `number`, at most to generation `last`. Returns the last generation and the reason why the
    /// run ended.
    fn settle_on(&mut self, number: usize, cells: &[(i32, i32)], last: u64) -> Result<(u64, End), OutOfMemory> {
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
            match board.advance(work_check.min(last)) {
                Stop::Quiet => break End::Periodic(2),
                Stop::Repeats(period) if self.escaped.last > board.generation() - period => {
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
                Stop::Reached if generation >= last => break End::Unsettled(Unsettled::TooLong),
                Stop::Reached if board.computed_tiles() > MAX_TILES => break End::Unsettled(Unsettled::TooActive),
                Stop::Reached => work_check = board.generation() + WORK_INTERVAL,
            }
        };
        Ok((board.generation(), end))
    }

    /// Returns the cells, as (column, row), of those clusters on board `number` that are not periodic by themselves.
    fn growing_cells(&mut self, number: usize) -> Vec<(i64, i64)> {
        let mut growing = Vec::new();
        let Some(board) = &mut self.boards[number] else { return growing };
        let (mut now, mut ever) = (Columns::default(), Columns::default());
        (now.height, ever.height) = (board.size().1, board.size().1);
        board.cells(&mut now.words);
        board.cells_ever_alive(GROWTH_SWEEP, &mut ever.words);
        super::take_groups(self.counts, &now, &mut ever, |cells, at| {
            if identify_under(self.counts, &cells).is_none() {
                growing.extend(cells.cells().iter().map(|cell| ((cell.0 + at.0).into(), (cell.1 + at.1).into())));
            }
        });
        growing
    }

    /// Returns the number of live cells on a board.
    fn population(&mut self, number: usize) -> u64 {
        let mut words = Vec::new();
        self.boards[number].iter().for_each(|board| board.cells(&mut words));
        words.iter().map(|word| u64::from(word.count_ones())).sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn cells_of(rows: &[&str]) -> Vec<(i32, i32)> {
        let row = |(y, row): (usize, &&str)| -> Vec<(i32, i32)> {
            let live = row.bytes().enumerate().filter(|cell| cell.1 == b'O');
            live.map(|(x, _)| (x as i32, y as i32)).collect()
        };
        rows.iter().enumerate().flat_map(row).collect()
    }

    /// Runs a pattern. Returns the period or the label, the number of the board and the escaped spaceships.
    fn settle(rows: &[&str]) -> (Result<u64, &'static str>, usize, Vec<String>) {
        let mut boards = Boards::new(Rule::LIFE, Counts::LIFE);
        let settled = boards.settle(&cells_of(rows)).unwrap();
        (settled.period.map_err(Unsettled::label), settled.board, boards.escaped.codes)
    }

    #[test]
    fn the_r_pentomino_settles_without_its_six_gliders() {
        let glider = || "xq4_153".to_owned();
        assert_eq!(settle(&[".OO", "OO.", ".O."]), (Ok(2), 0, vec![glider(); 6]));
        assert_eq!(settle(&[".O.", "..O", "OOO"]), (Ok(2), 0, vec![glider()]));
        assert_eq!(settle(&["OOOOOOOOOO"]), (Ok(15), 0, vec![]));
    }

    #[test]
    fn what_grows_for_ever_is_labelled() {
        let gun = [
            "........................O...........",
            "......................O.O...........",
            "............OO......OO............OO",
            "...........O...O....OO............OO",
            "OO........O.....O...OO..............",
            "OO........O...O.OO....O.O...........",
            "..........O.....O.......O...........",
            "...........O...O....................",
            "............OO......................",
        ];
        assert_eq!(settle(&gun).0, Err("zz_LINEAR"));
    }

    /// A small pattern that becomes a block-laying switch engine has the code of Catagolue.
    #[test]
    fn linear_growth_has_its_published_code() {
        let engine = ["......O.", "....O.OO", "....O.O.", "....O...", "..O.....", "O.O....."];
        let mut boards = Boards::new(Rule::LIFE, Counts::LIFE);
        let settled = boards.settle(&cells_of(&engine)).unwrap();
        assert_eq!(settled.period, Err(Unsettled::Linear));
        assert_eq!(settled.growth.as_deref(), Some("yl144_1_16_afb5f3db909e60548f086e22ee3353ac"));
    }
}
