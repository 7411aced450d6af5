//! Measurements on teams of devices. The inputs repeat a pattern, so that no host holds a whole vector. The expected
//! results are computed from the pattern.

use std::ops::Range;

use launch::{Buffer, Element};

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::RandomVector;
use gridstride::numbers::Number;
use multi::team::{Repeated, Team};

mod work;

#[cfg(test)]
mod products;
#[cfg(test)]
mod teams;

pub use work::{SplitWork, time};

/// A measurement that a benchmark repeats on teams of growing size.
pub struct ScalingMeasurement {
    /// The name of the element type.
    pub number: &'static str,
    /// The number of bytes per element that a run must read and write.
    pub bytes: f64,
    /// The number of bytes of device memory that a run needs per element.
    pub memory: f64,
    /// The largest number of elements per member.
    pub max_elements: usize,
    /// A function that returns the fraction of all elements that the largest member has. The function's argument is the
    /// number of members.
    pub share: fn(usize) -> f64,
    /// A function that returns the largest supported number of elements that does not exceed its argument.
    pub whole: fn(usize) -> usize,
    /// A function that prepares the work on a team of devices.
    pub prepare: Prepare,
}

impl ScalingMeasurement {
    /// Returns a measurement of evenly divided elements of type `number`. Per element, a run reads and writes `bytes`
    /// bytes and needs `memory` bytes of device memory.
    pub fn new(number: &'static str, bytes: f64, memory: f64, prepare: Prepare) -> Self {
        let share = |members| 1.0 / members as f64;
        Self { number, bytes, memory, max_elements: usize::MAX, share, whole: |n| n, prepare }
    }
}

/// A function that prepares work on a team of devices. Its second argument is the number of elements.
pub type Prepare = for<'t> fn(&'t Team<'t>, usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError>;

/// The number of elements of a pattern. The number is prime, so that segments and tiles begin at different elements of
/// the pattern.
pub(crate) const PERIOD: usize = 65_521;

/// The number of parts of a segment, called pieces, that are compared with the reference.
const PIECES: usize = 16;
/// The number of elements of a piece.
const PIECE: usize = 4096;

/// Returns a pattern of [`PERIOD`] elements, each of which `element` computes from random bits.
pub(crate) fn pattern<T: Element>(vector: u64, element: impl Fn(u64) -> T) -> Repeated<T> {
    let random = RandomVector::<u64>::new(0, vector);
    Repeated::new((0..PERIOD).map(|index| element(random.bits(index))).collect())
}

/// Compares parts of this rank's segments with `expected`. The segments are the result of a computation on a team. The
/// result has `n` elements, and `expected` returns the element at an index.
pub(crate) fn compare<T: Number>(
    team: &Team<'_>,
    n: usize,
    segments: &[Buffer<T>],
    expected: impl Fn(usize) -> T,
) -> Result<Deviation, WorkbenchError> {
    let mut deviation = Deviation::default();
    for (buffer, segment) in segments.iter().zip(team.segments(n)) {
        deviation = deviation.merge(compare_segment(buffer, segment.start, &expected)?);
    }
    Ok(deviation)
}

/// Like [`compare`], but for one segment, which begins with element `first` of the result.
pub(crate) fn compare_segment<T: Number>(
    segment: &Buffer<T>,
    first: usize,
    expected: impl Fn(usize) -> T,
) -> Result<Deviation, WorkbenchError> {
    let mut deviation = Deviation::default();
    for piece in pieces(segment.len()) {
        let mut found = vec![T::zeroed(); piece.len()];
        segment.download_range(piece.start, &mut found)?;
        for (at, found) in piece.zip(found) {
            deviation.add_exact(first + at, found, expected(first + at));
        }
    }
    Ok(deviation)
}

/// Returns the pieces of `0..len` that are compared. The pieces include the first and the last index. A short range is
/// a single piece.
fn pieces(len: usize) -> Vec<Range<usize>> {
    let (count, size) = if len <= PIECES * PIECE { (1, len) } else { (PIECES, PIECE) };
    let piece = |piece: usize| {
        // The division comes first, because a product with the length might overflow.
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
        let mut segments = x.on(&team, 5000).unwrap();
        assert_eq!(compare(&team, 5000, &segments, |index| x.element(index)).unwrap(), Deviation::default());
        segments[1].upload_range(7, &[x.element(2507) ^ 1]).unwrap();
        assert_eq!(compare(&team, 5000, &segments, |index| x.element(index)).unwrap().wrong.unwrap().index, 2507);
    }
}
