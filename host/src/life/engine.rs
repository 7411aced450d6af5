//! What advances a board: a kernel on a device, or the host's own cores.

use std::fmt;
use std::str::FromStr;

use anyhow::Context;

use gridstride::MODULES;
use gridstride::life::{Board, LifeRung, check_rule, check_size, fastest};
use launch::{Device, DeviceChoice, ParseChoiceError};

use super::cells::Cells;
use super::setting::Setting;
use super::{growth, memory};
use crate::error::UsageError;

/// Where a board of Life is to be advanced, as a user names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The host's own cores.
    Cpu,
    /// A device, or with [`DeviceChoice::Auto`] the host's cores where there is no GPU, unless a kernel is asked for.
    Device(DeviceChoice),
}

/// A name of no place.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}, or cpu for the processor's own vector instructions")]
pub struct ParsePlaceError(ParseChoiceError);

impl FromStr for Place {
    type Err = ParsePlaceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => Ok(Self::Cpu),
            _ => text.parse().map(Self::Device).map_err(ParsePlaceError),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Device(choice) => choice.fmt(f),
        }
    }
}

/// Where a board is advanced, by which kernel, and by which rule.
#[derive(Clone)]
pub enum Engine {
    /// The host's cores.
    Cpu(Setting),
    /// A kernel on a device.
    Kernel(Device, LifeRung, Setting),
}

impl Engine {
    /// Opens what `place` names for a board of `width` × `height` cells under `setting`. Gives a line that says what it is, too.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel cannot work there, under that setting or on that board; otherwise when a GPU was asked for
    /// and cannot be used.
    pub fn open(
        place: Place,
        kernel: Option<LifeRung>,
        (width, height): (usize, usize),
        setting: Setting,
    ) -> anyhow::Result<(Self, String)> {
        let choice = match (place, kernel) {
            (Place::Device(choice), _) => choice,
            (Place::Cpu, None) => return Ok((Self::Cpu(setting), "device: the processor's own cores".into())),
            (Place::Cpu, Some(kernel)) => {
                let message =
                    format!("--kernel {kernel} is for a GPU or the simulator: with --device cpu there is none");
                return Err(UsageError(message).into());
            }
        };
        if let Some(why) = setting.why_no_kernel() {
            let Some(kernel) = kernel else {
                return Ok((Self::Cpu(setting), format!("device: the processor's own cores ({why})")));
            };
            let message = format!("--kernel {kernel}: {why}; the processor's own cores can, without --kernel");
            return Err(UsageError(message).into());
        }
        let device = Device::open(choice, MODULES)?;
        if let (Some(why), None) = (device.why_no_gpu(), kernel) {
            return Ok((Self::Cpu(setting), format!("device: the processor's own cores ({why})")));
        }
        let kernel = kernel.unwrap_or_else(|| fastest(&device, (width, height), &setting.rule, u64::MAX));
        check_rule(kernel, &setting.rule).map_err(UsageError::of)?;
        check_size(kernel, width, height, &device).map_err(UsageError::of)?;
        let line = device.summary();
        Ok((Self::Kernel(device, kernel, setting), line))
    }

    /// What the board is advanced by.
    pub fn setting(&self) -> &Setting {
        match self {
            Self::Cpu(setting) | Self::Kernel(.., setting) => setting,
        }
    }
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

    /// As [`new`](Self::new), where `board` is `later` generations later than a run on `engine` begins.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn later(engine: &Engine, board: &Board, later: u64) -> anyhow::Result<Self> {
        let cells = Cells::new(engine, board, later)?;
        Ok(Self { before: later, ..Self::of(engine, cells, (board.width(), board.height())) })
    }

    /// A random board of `width` × `height` cells, made where `engine` is.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn soup(engine: &Engine, size: (usize, usize), density: f64, seed: u64) -> anyhow::Result<Self> {
        Ok(Self::of(engine, Cells::soup(engine, size, density, seed)?, size))
    }

    fn of(engine: &Engine, cells: Cells, size: (usize, usize)) -> Self {
        let room = if engine.setting().grows == [false; 2] { u64::MAX } else { 0 };
        Self { engine: engine.clone(), cells, first_size: size, size, added: (0, 0), before: 0, room }
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
            let board = self.cells.board()?;
            if let Some(room) = growth::room(&board, grows) {
                self.room = room;
                break;
            }
            let (size, (left, top)) = growth::larger(self.size, grows);
            let before = self.generation();
            let cannot =
                || format!("generation {before}: the pattern outgrows its board of {}x{}", self.size.0, self.size.1);
            memory::check(&self.engine, size, 2).with_context(cannot)?;
            let board = growth::window(&board, size, (left as i64, top as i64)).with_context(cannot)?;
            self.cells = Cells::new(&self.engine, &board, before)?;
            (self.size, self.before) = (size, before);
            self.added = (self.added.0 + left, self.added.1 + top);
        }
        Ok(())
    }

    /// Puts `board` in place of the one that there is, as it is `later` generations after the first one, with `added` columns and
    /// rows to the left and above.
    ///
    /// # Errors
    /// As [`new`](Self::new). Then it is as it was.
    pub fn replace(&mut self, board: &Board, later: u64, added: (usize, usize)) -> anyhow::Result<()> {
        self.cells = Cells::new(&self.engine, board, later)?;
        (self.size, self.added, self.before) = ((board.width(), board.height()), added, later);
        self.room = if self.engine.setting().grows == [false; 2] { u64::MAX } else { 0 };
        Ok(())
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

    /// The board as it is now.
    ///
    /// # Errors
    /// When the device fails or the host has too little memory.
    pub fn board(&self) -> anyhow::Result<Board> {
        self.cells.board()
    }

    /// What is now where the first board was.
    ///
    /// # Errors
    /// As for [`board`](Self::board).
    pub fn first_window(&self) -> anyhow::Result<Board> {
        let board = self.board()?;
        if self.size == self.first_size {
            return Ok(board);
        }
        Ok(growth::window(&board, self.first_size, (-(self.added.0 as i64), -(self.added.1 as i64)))?)
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
}

#[cfg(test)]
mod tests {
    use gridstride::life::reference;

    use super::*;
    use gridstride::life::RuleAndTopology;

    #[test]
    fn places_are_read_as_they_are_written() {
        for place in [Place::Cpu, Place::Device(DeviceChoice::Auto), Place::Device(DeviceChoice::Gpu(Some(1)))] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        let message = "avx".parse::<Place>().unwrap_err().to_string();
        assert!(message.contains("\"avx\"") && message.contains("gpu:N") && message.contains("cpu"), "{message}");
    }

    #[test]
    fn a_kernel_is_not_for_the_cpu() {
        let error = Engine::open(Place::Cpu, Some(LifeRung::Temporal), (8, 8), Setting::default()).err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("--kernel temporal"), "{error}");
        let (engine, line) = Engine::open(Place::Device(DeviceChoice::Sim), None, (8, 8), Setting::default()).unwrap();
        assert!(matches!(engine, Engine::Kernel(..)) && line.contains("simulator"), "{line}");
    }

    #[test]
    fn both_engines_agree() {
        let board = Board::random(300, 200, 0.4, 1).unwrap();
        let after = |place| {
            let (engine, _) = Engine::open(place, None, (300, 200), Setting::default()).unwrap();
            let mut life = Life::new(&engine, &board).unwrap();
            life.advance(50).unwrap();
            (life.generation(), life.population().unwrap(), life.board().unwrap().words().to_vec())
        };
        assert_eq!(after(Place::Cpu), after(Place::Device(DeviceChoice::Sim)));
    }

    #[test]
    fn engines_make_and_count_alike() {
        for kernel in [None, Some(LifeRung::Global), Some(LifeRung::Bitpacked), Some(LifeRung::Temporal)] {
            let place = if kernel.is_some() { Place::Device(DeviceChoice::Sim) } else { Place::Cpu };
            let (engine, _) = Engine::open(place, kernel, (300, 100), Setting::default()).unwrap();
            let mut life = Life::soup(&engine, (300, 100), 0.4, 1).unwrap();
            let board = Board::random(300, 100, 0.4, 1).unwrap();
            assert_eq!(life.board().unwrap(), board);
            assert_eq!(life.hash().unwrap(), board.hash());
            let after = reference::advance(&board, 1);
            assert_eq!(life.advance_counting().unwrap(), board.changes(&after), "{kernel:?}");
            assert_eq!((life.board().unwrap(), life.generation()), (after, 1));
        }
    }

    /// A glider on the unbounded plane, by every engine that there is without a GPU: it never comes back.
    #[test]
    fn the_plane_grows() {
        let glider = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)];
        let mut board = Board::new(20, 30).unwrap();
        glider.iter().for_each(|&(x, y)| board.set(x, y, true));
        let (plane, _) = Setting::of("B3/S23".parse().unwrap());
        for (place, kernel) in [(Place::Cpu, None), (Place::Device(DeviceChoice::Sim), Some(LifeRung::Bitpacked))] {
            let (engine, _) = Engine::open(place, kernel, (20, 30), plane).unwrap();
            let mut life = Life::new(&engine, &board).unwrap();
            for generations in [1, 3, 0, 396] {
                life.advance(generations).unwrap();
            }
            assert_eq!((life.generation(), life.population().unwrap()), (400, 5));
            let (left, top) = life.added();
            let moved: Vec<_> = glider.iter().map(|&(x, y)| (x + 100 + left, y + 100 + top)).collect();
            assert_eq!(life.board().unwrap().cells().collect::<Vec<_>>(), moved);
            assert_eq!(life.first_window().unwrap(), Board::new(20, 30).unwrap());
            assert!(life.size().0 > 120 && life.size().1 > 130);
            life.advance_counting().unwrap();
            assert_eq!(life.generation(), 401);
        }
    }

    #[test]
    fn a_tube_grows_along_itself() {
        let text: RuleAndTopology = "B3/S23:T0,20".parse().unwrap();
        let (tube, _) = Setting::of(text);
        let mut board = Board::new(64, 20).unwrap();
        [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)].iter().for_each(|&(x, y)| board.set(x, y, true));
        let (engine, _) = Engine::open(Place::Cpu, None, (64, 20), tube).unwrap();
        let mut life = Life::new(&engine, &board).unwrap();
        life.advance(400).unwrap();
        let (left, _) = life.added();
        let now = life.board().unwrap();
        assert_eq!((now.height(), now.population()), (20, 5));
        assert_eq!(now.cells().next(), Some((101 + left, 0)));
    }

    #[test]
    fn what_no_kernel_can_do_is_refused_or_done_by_the_cores() {
        let (setting, _) = Setting::of("B2-a/S/C3:K30*,20".parse().unwrap());
        let sim = Place::Device(DeviceChoice::Sim);
        let error = Engine::open(sim, Some(LifeRung::Global), (30, 20), setting).err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("/2-a/3"), "{error}");
        let (engine, line) = Engine::open(sim, None, (30, 20), setting).unwrap();
        assert!(matches!(engine, Engine::Cpu(_)) && line.contains("cores (the kernels run rules of two"), "{line}");
        let (setting, _) = Setting::of("B36/S23:T30,20".parse().unwrap());
        let error = Engine::open(sim, Some(LifeRung::Temporal), (30, 20), setting).err().unwrap();
        assert!(error.is::<UsageError>() && error.to_string().contains("streaming has"), "{error}");
        assert!(matches!(Engine::open(sim, None, (30, 20), setting), Ok((Engine::Kernel(..), _))));
    }
}
