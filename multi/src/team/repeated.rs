//! Vectors that repeat a pattern. The devices generate these vectors, so the host needs memory only for the pattern.

use launch::{Buffer, Element};

use super::Team;
use crate::error::MultiError;

/// A vector that repeats a pattern of p elements: element i is element i mod p of the pattern.
#[derive(Clone, Debug)]
pub struct Repeated<T> {
    pattern: Vec<T>,
}

impl<T: Element> Repeated<T> {
    /// Returns the vector that repeats `pattern`. If `pattern` is empty, all elements of the vector are zero.
    pub fn new(pattern: Vec<T>) -> Self {
        Self { pattern: if pattern.is_empty() { vec![T::zeroed()] } else { pattern } }
    }

    /// Returns the pattern that the vector repeats.
    pub fn pattern(&self) -> &[T] {
        &self.pattern
    }

    /// Returns element `index` of the vector.
    pub fn element(&self, index: usize) -> T {
        self.pattern[index % self.pattern.len()]
    }

    /// Returns this rank's segments of the first `n` elements. The host copies the pattern to each device once. The
    /// device then doubles the filled part of the segment by copying it, until the segment is full.
    ///
    /// # Errors
    /// Returns an error if a device has too little memory.
    pub fn on(&self, team: &Team<'_>, n: usize) -> Result<Vec<Buffer<T>>, MultiError> {
        let mut segments = team.alloc(n)?;
        segments.iter_mut().zip(team.segments(n)).try_for_each(|(segment, range)| self.fill(segment, range.start))?;
        Ok(segments)
    }

    /// Fills `segment` with the elements of the vector from index `first` on.
    ///
    /// # Errors
    /// Returns an error if an earlier launch failed.
    pub fn fill(&self, segment: &mut Buffer<T>, first: usize) -> Result<(), MultiError> {
        let (period, len) = (self.pattern.len(), segment.len());
        let mut start = self.pattern.clone();
        start.rotate_left(first % period);
        let mut filled = period.min(len);
        segment.upload_range(0, &start[..filled])?;
        while filled < len {
            // Each copy except the last copies a whole number of patterns.
            let more = filled.min(len - filled);
            segment.copy_within(0..more, filled)?;
            filled += more;
        }
        Ok(())
    }
}
