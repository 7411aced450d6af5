//! Compares the results of cases with the expected ones.

use std::fmt;

use launch::{Buffer, DeviceCopy};
use simt::{LastWrites, RaceSide};
use thiserror::Error;

use super::case::{CaseResult, Purpose, Run};

/// The error of a case whose result differs from the expected one.
#[derive(Debug, Error)]
#[error("the result is wrong: {text}")]
pub(super) struct Wrong {
    text: String,
    /// The store of the wrong element or of one near it, and what it does, if stores are recorded.
    pub(super) store: Option<(RaceSide, String)>,
}

impl Run<'_> {
    /// Compares `buffer`, called `name` in messages, with the elements that `expected` returns. Does nothing if the run
    /// is [timed](Self::is_timed) or part of [`Case::profile`](crate::Case::profile).
    ///
    /// # Errors
    /// An error that names the first wrong element, which `check` reports as a wrong result; or the error of the
    /// device.
    pub fn expect<T: DeviceCopy + PartialEq + fmt::Debug>(
        &self,
        name: &str,
        buffer: &Buffer<T>,
        expected: impl FnOnce() -> Vec<T>,
    ) -> CaseResult {
        self.expect_or_explain(name, buffer, expected, &[])
    }

    /// Compares like [`expect`](Self::expect). Each of `mistakes` is a text and the elements that a common mistake
    /// computes: if the buffer has just these, the error ends with the text.
    ///
    /// # Errors
    /// As for [`expect`](Self::expect).
    pub fn expect_or_explain<T: DeviceCopy + PartialEq + fmt::Debug>(
        &self,
        name: &str,
        buffer: &Buffer<T>,
        expected: impl FnOnce() -> Vec<T>,
        mistakes: &[(&str, Vec<T>)],
    ) -> CaseResult {
        if !matches!(self.purpose, Purpose::Compare) {
            return Ok(());
        }
        let (found, expected) = (buffer.download()?, expected());
        if found.len() != expected.len() {
            let (found, expected) = (found.len(), expected.len());
            let text = format!("`{name}` has {found} elements instead of {expected}");
            return Err(Wrong { text, store: None }.into());
        }
        let Some((i, text)) = self.difference(name, &found, &expected) else { return Ok(()) };
        let mistake = mistakes.iter().find(|(_, elements)| *elements == found);
        let text = text + &mistake.map_or_else(String::new, |(why, _)| format!(": {why}"));
        self.wrong_element(name, buffer, i, text)
    }

    /// Returns the error of a result whose element `i` of `buffer`, called `name` in messages, is wrong. `text` says
    /// what is wrong. It is for cases that compare their results otherwise than by [`expect`](Self::expect).
    ///
    /// # Errors
    /// Always. `check` reports the error as a wrong result and names the line that has stored the element, or
    /// the line of the last write of all if no kernel has stored to `buffer`.
    pub fn wrong_element<T: DeviceCopy>(&self, name: &str, buffer: &Buffer<T>, i: usize, text: String) -> CaseResult {
        if let Some(store) = self.store_of(name, buffer, i) {
            return Err(Wrong { text, store: Some(store) }.into());
        }
        let text = if self.writes.is_some() { format!("{text} (no thread stores to `{name}`)") } else { text };
        let store = self.writes.and_then(LastWrites::last).map(|last| {
            let does = format!("{} to another buffer, the last write of all", last.access);
            (last, does)
        });
        Err(Wrong { text, store }.into())
    }

    /// Returns the last store to element `i` of `buffer`, or else to the nearest element that a kernel has stored, and
    /// what it does. Returns `None` if stores are not recorded.
    fn store_of<T: DeviceCopy>(&self, name: &str, buffer: &Buffer<T>, i: usize) -> Option<(RaceSide, String)> {
        let (writes, start) = (self.writes?, buffer.view().as_ptr().addr());
        let store = |i: usize| writes.of(start + i * size_of::<T>()..start + (i + 1) * size_of::<T>());
        if let Some(found) = store(i) {
            let does = format!("{} of {name}[{i}]", found.access);
            return Some((found, does));
        }
        let (nearest, found) = (0..i).rev().chain(i + 1..buffer.len()).find_map(|i| Some((i, store(i)?)))?;
        let does = format!("{} of {name}[{nearest}]; no thread stores {name}[{i}]", found.access);
        Some((found, does))
    }

    /// Returns the first element that differs, and a text on it and on the number of such elements. Returns `None` if
    /// all are equal.
    fn difference<T: DeviceCopy + PartialEq + fmt::Debug>(
        &self,
        name: &str,
        found: &[T],
        expected: &[T],
    ) -> Option<(usize, String)> {
        let mut wrong = (0..found.len()).filter(|&i| found[i] != expected[i]);
        let i = wrong.next()?;
        let mut places = (0..found.len()).filter(|&place| expected[place] == found[i]);
        let why = match (places.next(), places.next()) {
            _ if self.is_unwritten(&found[i]) => ", as memory that nothing has written,".to_owned(),
            (Some(place), None) => format!(", which is the expected value of {name}[{place}],"),
            _ => String::new(),
        };
        let of_all = match wrong.count() + 1 {
            1 => String::new(),
            count => format!("; {count} of {} elements are wrong", found.len()),
        };
        Some((i, format!("{name}[{i}] is {:?}{why} instead of {:?}{of_all}", found[i], expected[i])))
    }

    /// Returns true if `found` has the bits of memory that nothing has written.
    fn is_unwritten<T: DeviceCopy + PartialEq>(&self, found: &T) -> bool {
        let unwritten = self.device.alloc::<T>(1).and_then(|unwritten| unwritten.download());
        unwritten.is_ok_and(|unwritten| unwritten.first() == Some(found))
    }
}
