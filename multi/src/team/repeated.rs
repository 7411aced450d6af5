//! Vectors that repeat a pattern. Devices generate them, so that the host never holds a whole vector.

use launch::{Buffer, Element};

use super::Team;
use crate::error::MultiError;

/// A vector that repeats a pattern of p elements: element i is element i mod p of the pattern.
#[derive(Clone, Debug)]
pub struct Repeated<T> {
    pattern: Vec<T>,
}

impl<T: Element> Repeated<T> {
    /// Returns the vector that repeats `pattern`. An empty pattern gives a vector of zeros.
    pub fn new(pattern: Vec<T>) -> Self {
        Self { pattern: if pattern.is_empty() { vec![T::zeroed()] } else { pattern } }
    }

    /// Returns the pattern.
    pub fn pattern(&self) -> &[T] {
        &self.pattern
    }

    /// Returns element `index`.
    pub fn element(&self, index: usize) -> T {
        self.pattern[index % self.pattern.len()]
    }

    /// Returns this rank's segments of the first `n` elements. Each device receives the pattern once and doubles it
    /// until its segment is full.
    ///
    /// # Errors
    /// If a device has too little memory.
    pub fn on(&self, team: &Team<'_>, n: usize) -> Result<Vec<Buffer<T>>, MultiError> {
        let mut segments = team.alloc(n)?;
        segments.iter_mut().zip(team.segments(n)).try_for_each(|(segment, range)| self.fill(segment, range.start))?;
        Ok(segments)
    }

    /// Fills `segment` with the elements from `first` on.
    ///
    /// # Errors
    /// If an earlier launch failed.
    pub fn fill(&self, segment: &mut Buffer<T>, first: usize) -> Result<(), MultiError> {
        let (period, len) = (self.pattern.len(), segment.len());
        let mut start = self.pattern.clone();
        start.rotate_left(first % period);
        let mut filled = period.min(len);
        segment.upload_range(0, &start[..filled])?;
        while filled < len {
            // Each copy but the last has a whole number of periods.
            let more = filled.min(len - filled);
            segment.copy_within(0..more, filled)?;
            filled += more;
        }
        Ok(())
    }
}
