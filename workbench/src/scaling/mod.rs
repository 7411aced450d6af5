//! Works of any size for a benchmark of teams: their inputs repeat a pattern, so that no host holds a vector, and their
//! results are known by it.

use std::ops::Range;

use launch::{Buffer, Element};

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::RandomVector;
use gridstride::numbers::Number;
use multi::team::{Repeated, Team};

mod work;

#[cfg(test)]
mod teams;

pub use work::{SplitWork, time};

/// A work that a benchmark runs on teams of more and more members.
pub struct ScalingWork {
    /// The type of its elements.
    pub number: &'static str,
    /// Bytes that one run reads and writes at least, for each element.
    pub bytes: f64,
    /// Bytes of device memory for each element.
    pub memory: f64,
    /// The most elements of a member.
    pub most: usize,
    /// The share of the elements that a member has at most, of so many members.
    pub share: fn(usize) -> f64,
    /// Elements of the largest input that it has of at most so many.
    pub whole: fn(usize) -> usize,
    /// Makes it ready for vectors of that many elements.
    pub prepare: Prepare,
}

impl ScalingWork {
    /// A work of elements that are divided evenly, any number of them: of type `number`, each of which takes `bytes` of
    /// reading and writing and `memory` bytes of a device.
    pub fn new(number: &'static str, bytes: f64, memory: f64, prepare: Prepare) -> Self {
        let share = |members| 1.0 / members as f64;
        Self { number, bytes, memory, most: usize::MAX, share, whole: |n| n, prepare }
    }
}

/// Makes a work of so many elements ready on a team.
pub type Prepare = for<'t> fn(&'t Team<'t>, usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError>;

/// Elements of a pattern. A prime, so that parts and tiles begin anywhere in it.
pub(crate) const PERIOD: usize = 65_521;

/// The number of pieces of a segment that are compared, and the elements of each, from the segment's first to its last.
const PIECES: usize = 16;
const PIECE: usize = 4096;

/// A pattern of what `element` makes of random bits.
pub(crate) fn pattern<T: Element>(vector: u64, element: impl Fn(u64) -> T) -> Repeated<T> {
    let random = RandomVector::<u64>::new(0, vector);
    Repeated::new((0..PERIOD).map(|index| element(random.bits(index))).collect())
}

/// Compares pieces of this rank's parts of a result of `n` elements with what `expected` gives for each index.
pub(crate) fn compare<T: Number>(
    team: &Team<'_>,
    n: usize,
    parts: &[Buffer<T>],
    expected: impl Fn(usize) -> T,
) -> Result<Deviation, WorkbenchError> {
    let mut deviation = Deviation::default();
    for (buffer, part) in parts.iter().zip(team.segments(n)) {
        deviation = deviation.merge(compare_part(buffer, part.start, &expected)?);
    }
    Ok(deviation)
}

/// As [`compare`], of the part that begins with element `first`.
pub(crate) fn compare_part<T: Number>(
    part: &Buffer<T>,
    first: usize,
    expected: impl Fn(usize) -> T,
) -> Result<Deviation, WorkbenchError> {
    let mut deviation = Deviation::default();
    for piece in pieces(part.len()) {
        let mut found = vec![T::zeroed(); piece.len()];
        part.download_range(piece.start, &mut found)?;
        for (at, found) in piece.zip(found) {
            deviation.add_exact(first + at, found, expected(first + at));
        }
    }
    Ok(deviation)
}

/// Pieces of `0..len`, from its first element to its last. All of it where it is short.
fn pieces(len: usize) -> Vec<Range<usize>> {
    let (count, size) = if len <= PIECES * PIECE { (1, len) } else { (PIECES, PIECE) };
    let piece = |piece: usize| {
        // Without a product of the length, which might overflow.
        let start = if piece + 1 == count { len - size } else { (len - size) / (count - 1) * piece };
        start..start + size
    };
    (0..count).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::Group;
    use multi::ranks::alone;

    #[test]
    fn pieces_reach_from_the_first_element_to_the_last() {
        for len in [0, 1, PIECES * PIECE, PIECES * PIECE + 1, 1 << 35, usize::MAX] {
            let pieces = pieces(len);
            assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, len));
            assert!(pieces.iter().all(|piece| piece.end <= len && piece.len() <= PIECES * PIECE), "{pieces:?}");
        }
    }

    #[test]
    fn a_wrong_element_is_found() {
        let (ranks, group) = (alone(), Group::open(&"sim:2".parse().unwrap(), crate::MODULES).unwrap());
        let team = Team::new(&group, &ranks).unwrap();
        let x = pattern(0, |bits| bits as u32);
        let mut parts = x.on(&team, 5000).unwrap();
        assert_eq!(compare(&team, 5000, &parts, |index| x.element(index)).unwrap(), Deviation::default());
        parts[1].upload_range(7, &[x.element(2507) ^ 1]).unwrap();
        assert_eq!(compare(&team, 5000, &parts, |index| x.element(index)).unwrap().wrong.unwrap().index, 2507);
    }
}
