//! The random segments of a problem.

use std::ops::Range;

use crate::error::{WorkbenchError, invalid};
use crate::inputs::RandomVector;

/// The largest average length of a segment. The sum of a segment is then exact in `f32`.
const MAX_LENGTH: usize = 1 << 21;

/// The lengths of the segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lengths {
    /// Random lengths with this average.
    Average(usize),
    /// A power law: a segment has at least *n* elements with the probability 1/*n*, up to 2²⁰ elements.
    Power,
    /// Rows of this length. Elements after the last whole row are not used.
    Rows(usize),
}

impl Lengths {
    pub(super) fn parse(text: &str) -> Result<Self, WorkbenchError> {
        let (is_row, digits) = text.strip_prefix("rows:").map_or((false, text), |digits| (true, digits));
        match digits.parse::<usize>() {
            Ok(length @ 1..=MAX_LENGTH) if is_row => Ok(Self::Rows(length)),
            Ok(length @ 1..=MAX_LENGTH) => Ok(Self::Average(length)),
            _ if text == "power" => Ok(Self::Power),
            _ => invalid!(
                "there are no segments '{text}': use an average length from 1 to {MAX_LENGTH}, rows:LENGTH, or power"
            ),
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Average(length) => length.to_string(),
            Self::Power => "power".to_owned(),
            Self::Rows(length) => format!("rows:{length}"),
        }
    }

    /// Returns the offsets of segments that have all of `n` elements.
    pub(super) fn offsets(self, n: usize, seed: u64) -> Vec<u64> {
        let random = RandomVector::<u64>::new(seed, 1);
        let mut offsets = vec![0];
        let mut end = 0;
        while end < n {
            let bits = random.bits(offsets.len());
            let length = match self {
                Self::Average(length) => 1 + bits % (2 * length as u64 - 1),
                Self::Power => (u64::MAX / bits.max(1)).min(1 << 20),
                Self::Rows(length) => length as u64,
            };
            end += usize::try_from(length).unwrap_or(n - end).min(n - end);
            offsets.push(end as u64);
        }
        offsets
    }
}

/// Returns the elements of segment `index`.
pub(super) fn range(offsets: &[u64], index: usize) -> Range<usize> {
    offsets[index] as usize..offsets[index + 1] as usize
}
