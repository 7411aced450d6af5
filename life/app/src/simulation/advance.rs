//! The interface of all boards that a device or the CPU advances.

use std::ops::Range;

use life::Board;
use life::bands::BandsCopy;

use super::plane_board::PlaneBoard;

/// A function that receives the rows of a board part by part. On the first rank it receives the cells, on other ranks
/// `None`.
pub type TakePart<'a> = &'a mut dyn FnMut(Range<usize>, Option<&Board>) -> anyhow::Result<()>;

/// The cells of a copy of a board.
pub enum CopiedCells {
    /// The whole board on the first rank. `None` on the other ranks.
    Whole(Option<Board>),
    /// The rows that this rank owns.
    Bands(BandsCopy),
    /// A pattern on the plane.
    Plane(Box<PlaneBoard>),
}

/// A copy of a board. If the board is in bands, the copy on each rank contains only the rank's own rows.
pub struct Snapshot {
    /// The size of the board as (columns, rows).
    pub size: (usize, usize),
    /// The copied cells.
    pub cells: CopiedCells,
}

impl Snapshot {
    /// Returns the copied board if this rank stores the whole board, and `None` otherwise.
    pub fn board(&self) -> Option<&Board> {
        match &self.cells {
            CopiedCells::Whole(board) => board.as_ref(),
            CopiedCells::Bands(_) | CopiedCells::Plane(_) => None,
        }
    }
}

/// A board that advances: on a device, on the CPU, or in bands on several devices or ranks.
///
/// All ranks must call the same methods in the same order. A method returns an error if a device or a rank fails, or if
/// the host has too little memory.
pub trait Advance {
    /// Runs `generations` generations and waits until the device has finished them.
    ///
    /// # Errors
    /// If a device or a rank fails.
    fn advance(&mut self, generations: u64) -> anyhow::Result<()>;

    /// Runs one generation and returns its numbers of births and deaths.
    ///
    /// # Errors
    /// If a device or a rank fails.
    fn advance_counting(&mut self) -> anyhow::Result<(u64, u64)>;

    /// Returns the number of live cells.
    ///
    /// # Errors
    /// If a device or a rank fails.
    fn population(&mut self) -> anyhow::Result<u64>;

    /// Returns a hash of the board. Two different boards of one run have the same hash with probability 2⁻⁶⁴.
    ///
    /// # Errors
    /// If a device or a rank fails, or the host has too little memory.
    fn hash(&mut self) -> anyhow::Result<u64>;

    /// Returns a hash for a search for a period: faster than [`hash`](Self::hash), but comparable only with other
    /// results of this method for the same kind of board. Two different boards of one run have the same result with
    /// probability 2⁻⁶⁴.
    ///
    /// # Errors
    /// Fails in the same cases as [`hash`](Self::hash).
    fn fingerprint(&mut self) -> anyhow::Result<u64> {
        self.hash()
    }

    /// Returns a hash of some of the board's rows, if it takes far less time than [`fingerprint`](Self::fingerprint).
    /// The hash is comparable like a fingerprint.
    ///
    /// # Errors
    /// Fails in the same cases as [`hash`](Self::hash).
    fn sample(&mut self) -> anyhow::Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the number of generations run so far.
    fn generation(&self) -> u64;

    /// Returns the whole board on the first rank. Returns `None` on the other ranks.
    ///
    /// # Errors
    /// If a device or a rank fails, or the host has too little memory.
    fn gathered(&self) -> anyhow::Result<Option<Board>>;

    /// Calls `take` on each rank for all rows of the board, part by part. The parts have at most 64 MiB each, or there
    /// is one part, the whole board.
    ///
    /// # Errors
    /// Fails in the same cases as [`gathered`](Self::gathered), and if `take` fails.
    fn each_part(&self, take: TakePart<'_>) -> anyhow::Result<()> {
        let board = self.gathered()?;
        take(0..board.as_ref().map_or(0, Board::height), board.as_ref())
    }

    /// Returns a copy of the board's cells.
    ///
    /// # Errors
    /// Fails in the same cases as [`gathered`](Self::gathered).
    fn copied(&self) -> anyhow::Result<CopiedCells> {
        Ok(CopiedCells::Whole(self.gathered()?))
    }

    /// Returns true if the cells equal the cells of `copied`. Each rank compares its own rows. Returns `None` if this
    /// kind of board cannot be compared rank by rank.
    ///
    /// # Errors
    /// If a device or a rank fails.
    fn equals(&self, _copied: &CopiedCells) -> anyhow::Result<Option<bool>> {
        Ok(None)
    }

    /// Returns the name of the device or cores that advance the board.
    fn device(&self) -> String;

    /// Returns the name of the kernel or of the CPU's instruction set that advances the board.
    fn kernel(&self) -> String;

    /// Returns the way in which halos are copied between ranks. Returns `None` unless several ranks have devices.
    fn halos(&self) -> Option<String> {
        None
    }

    /// Returns the number of generations that the board can advance in about the same time as a single generation.
    fn generations_at_once(&self) -> u64 {
        1
    }

    /// Returns this board if it is a pattern on the plane, which has no edges. Returns `None` for a board of fixed
    /// size.
    fn plane(&self) -> Option<&PlaneBoard> {
        None
    }

    /// Returns this board like [`plane`](Self::plane), for methods that need `&mut`.
    fn plane_mut(&mut self) -> Option<&mut PlaneBoard> {
        None
    }
}
