//! Pictures of memory: which lanes of a warp read and write which elements, step by step, by sectors and banks; and the
//! threads of a fault.
//!
//! # Design
//!
//! A picture is made of the steps that the profiler records, so it has the accesses that a GPU would make together. The
//! text and the SVG are drawn from the same cells.

use simt::{AccessKind, Dim3, Fault, FaultKind, SourceLocation, Space, SyncKind, WarpAccess, WarpStep};

use crate::html::grade;
use crate::sites::SECTOR;

mod svg;
mod text;

/// The number of banks of shared memory.
const BANKS: u64 = 32;
/// The number of bytes of a bank's word.
const WORD: u64 = 4;
/// The number of different steps that a picture shows at most.
const MAX_STEPS: usize = 12;

/// A picture of the first steps of a warp, and of a fault. It is drawn as [text](Self::text) or as
/// [SVG](Self::svg).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Picture {
    /// The warp, such as "the first warp".
    warp: String,
    steps: Vec<Step>,
    /// The number of different steps that are left out.
    left_out: usize,
    fault: Option<Threads>,
}

/// A step of the warp.
#[derive(Clone, PartialEq, Debug)]
struct Step {
    /// The source line, such as `race.rs:33`.
    place: String,
    /// The access or the barrier, in words.
    what: String,
    /// The number of sectors or passes, in words; empty for a barrier.
    cost: String,
    /// The grade of the step: `good`, `fair` or `bad`.
    grade: &'static str,
    /// The number of steps that look the same.
    count: usize,
    /// The sectors of global memory, or the rows of banks of shared memory.
    groups: Vec<Group>,
    is_shared: bool,
}

/// Neighbouring cells: a sector of global memory, or one word of each bank of shared memory.
#[derive(Clone, PartialEq, Debug)]
struct Group {
    /// The element of the first cell, such as `x[8]`.
    label: String,
    cells: Vec<Cell>,
}

/// A piece of memory that a lane accesses at once; in shared memory, a word.
#[derive(Clone, PartialEq, Debug)]
struct Cell {
    /// The lanes that access the cell.
    lanes: Vec<u32>,
    grade: &'static str,
    /// True if the threads of the fault access the cell.
    is_at_fault: bool,
}

/// The threads of a fault, and the element that they access.
#[derive(Clone, PartialEq, Debug)]
struct Threads {
    /// The element, such as `tile[63]`.
    element: String,
    array: Option<&'static str>,
    index: usize,
    /// What is wrong, in a few words.
    why: String,
    sides: Vec<Side>,
}

/// A thread of a fault.
#[derive(Clone, PartialEq, Debug)]
struct Side {
    /// The block and the thread.
    thread: String,
    /// The kind of its access.
    does: String,
    place: String,
}

impl Picture {
    /// Returns a picture of `steps`, the steps of a [kernel's figures](crate::KernelFigures::steps), and of `fault`.
    pub fn new(steps: &[WarpStep], fault: Option<&Fault>) -> Self {
        let fault = fault.and_then(Threads::of);
        let mut seen: Vec<(&WarpStep, usize)> = Vec::new();
        for step in steps {
            match seen.iter_mut().find(|(other, _)| is_alike(other, step)) {
                Some((_, count)) => *count += 1,
                None => seen.push((step, 1)),
            }
        }
        let left_out = seen.len().saturating_sub(MAX_STEPS);
        let steps = seen.iter().take(MAX_STEPS).map(|(step, count)| Step::new(step, *count, fault.as_ref())).collect();
        Self { warp: "the first warp".to_owned(), steps, left_out, fault }
    }

    /// Returns the picture with a heading that names the warp of this thread instead of the first warp.
    pub fn of_warp(self, block: Dim3, thread: Dim3) -> Self {
        Self { warp: format!("the warp of block {block}, thread {thread}"), ..self }
    }

    /// Returns the picture with the first `max` of its different steps.
    pub fn with_max_steps(mut self, max: usize) -> Self {
        self.left_out += self.steps.len().saturating_sub(max);
        self.steps.truncate(max);
        self
    }

    /// Returns true if there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(|step| step.groups.is_empty()) && self.fault.is_none()
    }
}

/// Returns true if two steps are made at the same line, take as many sectors or passes, and have the same distances
/// between the lanes.
fn is_alike(a: &WarpStep, b: &WarpStep) -> bool {
    let shape = |access: &WarpAccess| {
        let first = access.lanes.first().map_or(0, |&(_, address)| address);
        let lanes = access.lanes.iter().map(|&(lane, address)| (lane, address.wrapping_sub(first)));
        let (_, cost, _) = if access.space == Space::Shared { rows(access, None) } else { sectors(access, None) };
        (access.kind, access.bytes, lanes.collect::<Vec<_>>(), cost)
    };
    a.location == b.location && a.access.as_ref().map(shape) == b.access.as_ref().map(shape)
}

/// Returns the file's name and the line.
fn short(at: &SourceLocation) -> String {
    format!("{}:{}", at.file.rsplit(['/', '\\']).next().unwrap_or_default(), at.line)
}

impl Step {
    fn new(step: &WarpStep, count: usize, fault: Option<&Threads>) -> Self {
        let place = short(&step.location);
        let Some(access) = &step.access else {
            let what = match step.meeting {
                Some(SyncKind::Shuffle) => "shuffle: the lanes take each other's values",
                Some(SyncKind::Vote) => "vote: each lane gets the answers of all",
                Some(SyncKind::Match) => "match: the lanes compare their values",
                Some(SyncKind::Reduction) => "reduction of the lanes' values",
                Some(SyncKind::Warp) => "the lanes of the warp wait for each other",
                _ => "the threads of the block wait for each other",
            };
            let what = what.to_owned();
            let (cost, groups) = (String::new(), Vec::new());
            return Self { place, what, cost, grade: "good", count, groups, is_shared: false };
        };
        let is_shared = access.space == Space::Shared;
        let kind = match access.kind {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        };
        let memory = if is_shared { "shared" } else { "global" };
        let what = format!("{memory} {kind} {}", access.array.map_or("", |array| array.name));
        let (groups, cost, grade) = if is_shared { rows(access, fault) } else { sectors(access, fault) };
        Self { place, what: what.trim_end().to_owned(), cost, grade, count, groups, is_shared }
    }
}

/// Returns the first `max` groups. The last of them is the one with the element at fault, if it comes later.
fn shown(groups: &[Group], max: usize) -> Vec<&Group> {
    let mut shown: Vec<&Group> = groups.iter().take(max).collect();
    let at_fault = groups.iter().skip(max).find(|group| group.cells.iter().any(|cell| cell.is_at_fault));
    if let (Some(last), Some(group)) = (shown.last_mut(), at_fault) {
        *last = group;
    }
    shown
}

/// Returns the groups of `size` bytes that an access touches, each with its address and its cells of `unit` bytes,
/// without grades.
fn groups(access: &WarpAccess, size: u64, unit: u64, fault: Option<&Threads>) -> Vec<(u64, Group)> {
    let bytes = u64::from(access.bytes);
    let mut firsts: Vec<u64> = Vec::new();
    for &(_, address) in &access.lanes {
        firsts.extend((address / size..=(address + bytes - 1) / size).map(|group| group * size));
    }
    firsts.sort_unstable();
    firsts.dedup();
    let group = |first: u64| {
        let cells = (first..first + size).step_by(unit as usize).map(|at| {
            let touches = |address: u64| address < at + unit && at < address + bytes;
            let lanes = access.lanes.iter().filter(|(_, address)| touches(*address)).map(|(lane, _)| *lane).collect();
            Cell { lanes, grade: "good", is_at_fault: fault.is_some_and(|fault| fault.is_in(access, at, unit)) }
        });
        (first, Group { label: label(access, first), cells: cells.collect() })
    };
    firsts.into_iter().map(group).collect()
}

/// Returns the element at `address`, or the first element of the array if it begins later.
fn label(access: &WarpAccess, address: u64) -> String {
    access.array.map_or_else(String::new, |array| {
        format!("{}[{}]", array.name, address.saturating_sub(array.start) / array.element.max(1) as u64)
    })
}

/// Returns the sectors of an access to global memory, their number in words, and the grade of the step.
fn sectors(access: &WarpAccess, fault: Option<&Threads>) -> (Vec<Group>, String, &'static str) {
    let unit = u64::from(access.bytes).clamp(1, SECTOR);
    let mut touched = 0;
    let mut sectors: Vec<Group> = Vec::new();
    for (_, mut sector) in groups(access, SECTOR, unit, fault) {
        let used = sector.cells.iter().filter(|cell| !cell.lanes.is_empty()).count();
        touched += used as u64;
        let grade = grade(used as f64 / sector.cells.len() as f64);
        sector.cells.iter_mut().for_each(|cell| cell.grade = grade);
        sectors.push(sector);
    }
    let ideal = (touched * unit).div_ceil(SECTOR);
    let cost = where_would_do(sectors.len() as u64, ideal, "sector");
    let count = sectors.len().max(1) as f64;
    (sectors, cost, grade(ideal as f64 / count))
}

/// Returns the rows of banks of an access to shared memory, the number of passes over them in words, and the grade of
/// the step.
fn rows(access: &WarpAccess, fault: Option<&Threads>) -> (Vec<Group>, String, &'static str) {
    let mut rows = groups(access, BANKS * WORD, WORD, fault);
    let ideal = u64::from(access.bytes).div_ceil(WORD);
    let mut most = ideal;
    for bank in 0..BANKS as usize {
        let is_used = |(_, row): &&(u64, Group)| !row.cells[bank].lanes.is_empty();
        let words = rows.iter().filter(is_used).count() as u64;
        most = most.max(words);
        let grade = grade(ideal as f64 / words.max(ideal) as f64);
        rows.iter_mut().for_each(|(_, row)| row.cells[bank].grade = grade);
    }
    let cost = where_would_do(most, ideal, "pass");
    (rows.into_iter().map(|(_, row)| row).collect(), cost, grade(ideal as f64 / most as f64))
}

/// Returns a number of sectors or passes, beside the ideal number if it is another.
fn where_would_do(found: u64, ideal: u64, unit: &str) -> String {
    let units = match (found, unit) {
        (1, unit) => unit.to_owned(),
        (_, "pass") => "passes".to_owned(),
        (_, unit) => format!("{unit}s"),
    };
    if found > ideal { format!("{found} {units} where {ideal} would do") } else { format!("{found} {units}") }
}

impl Threads {
    /// Returns the threads of a race or of an access out of bounds.
    fn of(fault: &Fault) -> Option<Self> {
        match &fault.kind {
            FaultKind::Race(race) | FaultKind::EarlyRead(race) | FaultKind::WrittenReadOnly(race) => {
                let (array, index) = (race.element.array, race.element.index);
                let side = |side: &simt::RaceSide| Side {
                    thread: format!("block {}, thread {}", side.block, side.thread),
                    does: side.access.to_string(),
                    place: short(&side.location),
                };
                let element = array.map_or_else(|| format!("{index:#x}"), |array| format!("{array}[{index}]"));
                let sides = vec![side(&race.there), side(&race.here)];
                Some(Self { element, array, index, why: "nothing orders the two".to_owned(), sides })
            }
            &FaultKind::OutOfBounds { array, index, len, .. } => {
                let thread = format!("block {}, thread {}", fault.block?, fault.thread?);
                let place = fault.location.as_ref().map_or_else(String::new, short);
                let name = array.unwrap_or("memory");
                let (element, why) = (format!("{name}[{index}]"), format!("{name} has {len} elements"));
                let does = fault.location.as_ref().and_then(reports::access_at).unwrap_or("access");
                let sides = vec![Side { thread, does: does.to_owned(), place }];
                Some(Self { element, array, index, why, sides })
            }
            _ => None,
        }
    }

    /// Returns true if the element is in the cell of `unit` bytes at `address` of the array that `access` accesses.
    fn is_in(&self, access: &WarpAccess, address: u64, unit: u64) -> bool {
        access.array.filter(|array| Some(array.name) == self.array).is_some_and(|array| {
            let element = array.element.max(1) as u64;
            let at = array.start + self.index as u64 * element;
            at < address + unit && address < at + element
        })
    }
}

#[cfg(test)]
mod tests;
