//! The random inputs of select.

use std::ops::Range;

use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::{RandomVector, in_parts};
use gridstride::numbers::{Number, NumberType};

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    /// The elements below a threshold are selected.
    Select,
    /// The elements with a flag are selected.
    Flagged,
    /// The elements below a threshold and the others are selected.
    Partition,
    /// The first element of each run of equal elements is selected.
    Unique,
    /// Runs of equal elements are encoded as an element and a length.
    Encode,
}

impl Task {
    const ALL: [Self; 5] = [Self::Select, Self::Flagged, Self::Partition, Self::Unique, Self::Encode];

    pub(super) fn parse(text: &str) -> Result<Self, WorkbenchError> {
        match Self::ALL.into_iter().find(|task| task.name() == text) {
            Some(task) => Ok(task),
            None => invalid!("there is no task '{text}': use select, flagged, partition, unique or encode"),
        }
    }

    /// Returns true if the input consists of runs of equal elements.
    pub(super) fn has_runs(self) -> bool {
        matches!(self, Self::Unique | Self::Encode)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Flagged => "flagged",
            Self::Partition => "partition",
            Self::Unique => "unique",
            Self::Encode => "encode",
        }
    }
}

/// Returns the number of the run of element `index`, in runs of the average length `run`. Each two runs together have
/// twice that length.
pub(crate) fn run_at(seed: u64, run: usize, index: usize) -> usize {
    let pair = index / (2 * run);
    let first = RandomVector::<u64>::new(seed, 1).bits(pair) % (2 * run as u64 - 1) + 1;
    2 * pair + usize::from((index % (2 * run)) as u64 >= first)
}

/// The input of a selection from `n` elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectInput {
    pub(super) task: Task,
    pub(super) n: usize,
    pub(super) seed: u64,
    /// The percentage of the elements that is selected, unless the input has runs.
    pub(super) percent: u32,
    /// The average length of a run of equal elements, if the input has runs.
    pub(super) run: usize,
    /// The index in the buffers at which the vectors begin.
    pub(super) from: usize,
}

impl SelectInput {
    /// Returns element `index`. Elements are uniform, or equal within a run.
    pub(super) fn element<T: Number>(&self, index: usize) -> T {
        let random = RandomVector::<T>::new(self.seed, 0);
        random.element(if self.task.has_runs() { run_at(self.seed, self.run, index) } else { index })
    }

    /// Returns the flag of element `index`: 0, or a random byte that is not 0.
    pub(super) fn flag(&self, index: usize) -> u8 {
        let bits = RandomVector::<u64>::new(self.seed, 2).bits(index);
        if bits < self.share() { bits as u8 | 1 } else { 0 }
    }

    /// Returns the upper bound of the random bits that select an element.
    fn share(&self) -> u64 {
        (u128::from(self.percent) * (1 << 64) / 100).min(u64::MAX.into()) as u64
    }

    /// Returns the number below which `percent` percent of the elements are, as near as the type allows.
    pub(super) fn threshold<T: Number>(&self) -> T {
        let sign = match T::TYPE {
            NumberType::I8 | NumberType::I32 | NumberType::I64 => 1 << 63,
            _ => 0,
        };
        T::from_random(self.share() ^ sign)
    }

    /// Returns true if element `index` is selected.
    fn selects<T: Number>(&self, index: usize) -> bool {
        match self.task {
            Task::Flagged => self.flag(index) != 0,
            Task::Unique | Task::Encode => index == 0 || self.element::<T>(index) != self.element::<T>(index - 1),
            Task::Select | Task::Partition => self.element::<T>(index) < self.threshold::<T>(),
        }
    }

    pub(super) fn stores_rejected(&self) -> bool {
        self.task == Task::Partition
    }

    /// Compares the results of the last run with the reference. `found` begins with the selected elements; the rejected
    /// ones are at the index `n`.
    pub(super) fn deviation<T: Number>(&self, count: u64, found: &[T]) -> Deviation {
        let (mut before, mut starts) = (0, Vec::new());
        for (part, count) in self.counts::<T>() {
            starts.push((part.start, before));
            before += count;
        }
        let mut deviation = Deviation::default();
        deviation.add_exact(before, count, before as u64);
        let parts = in_parts(self.n, |part| {
            let start = starts.iter().find(|(start, _)| *start == part.start).map_or(0, |(_, before)| *before);
            let mut deviation = Deviation::default();
            self.visit::<T>(part, |index, before, is_selected| {
                let before = start + before;
                if is_selected {
                    deviation.add_exact(before, found[before], self.element(index));
                } else if self.stores_rejected() {
                    let at = self.n + index - before;
                    deviation.add_exact(at, found[at], self.element(index));
                }
            });
            deviation
        });
        parts.into_iter().fold(deviation, Deviation::merge)
    }

    /// Returns the length of the run that begins with element `index`.
    pub(super) fn length<T: Number>(&self, index: usize) -> u32 {
        let rest = index + 1..self.n;
        rest.take_while(|&later| !self.selects::<T>(later)).count() as u32 + 1
    }

    /// Returns the number of selected elements in segments of the input, in order.
    pub(super) fn counts<T: Number>(&self) -> Vec<(Range<usize>, usize)> {
        in_parts(self.n, |part| (part.clone(), part.filter(|&index| self.selects::<T>(index)).count()))
    }

    /// Calls `check` for each element of `part`, on the calling thread, with the element's index, the number of
    /// selected elements of the part before it, and whether it is selected.
    pub(super) fn visit<T: Number>(&self, part: Range<usize>, mut check: impl FnMut(usize, usize, bool)) {
        let mut before = 0;
        for index in part {
            let is_selected = self.selects::<T>(index);
            check(index, before, is_selected);
            before += usize::from(is_selected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_elements_are_selected_as_the_options_say() {
        fn check<T: Number>() {
            for task in [Task::Select, Task::Flagged] {
                for percent in [0, 1, 50, 100] {
                    let input = SelectInput { task, n: 100_000, seed: 1, percent, run: 1, from: 0 };
                    let count = input.counts::<T>().iter().map(|(_, count)| *count).sum::<usize>() as f64;
                    assert!((count / 1000.0 - f64::from(percent)).abs() < 1.0, "{task:?} {percent}: {count}");
                }
            }
        }
        check::<f32>();
        check::<i32>();
        check::<u8>();
        check::<u64>();
        for run in [1, 2, 64] {
            let input = SelectInput { task: Task::Unique, n: 128_000, seed: 1, percent: 50, run, from: 0 };
            let count = input.counts::<u32>().iter().map(|(_, count)| *count).sum::<usize>();
            assert!(count.abs_diff(128_000 / run) <= 1, "{run}: {count}");
        }
    }
}
