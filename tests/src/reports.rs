//! Extracts from reports of checked launches the facts that tests compare: the kind, the array, and the source lines.
//! Comments in the source files mark the lines that a test expects.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use launch::{Device, Error};
use simt::{CallStep, Checks, ClusterMisuse, FaultKind, Schedule, SourceLocation, WarpgroupFault, Whereabouts};

use crate::checked;

/// The kind of fault that a report describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A race: two accesses without an order between them.
    Race,
    /// An atomic read that is not ordered after the first write of the element.
    EarlyRead,
    /// A read of uninitialised memory.
    Uninitialised,
    /// An access out of bounds.
    OutOfBounds,
    /// A misaligned access.
    Misaligned,
    /// A barrier that some threads never reach.
    BarrierNotReached,
    /// Threads that wait at different barriers.
    BarrierMismatch,
    /// Threads that reach the same barrier line by different call paths. The reported lines are the last steps of the
    /// two paths.
    BarrierApart,
    /// A warp operation whose mask contains lanes that never reach the operation.
    WarpMismatch,
    /// An instruction that not all lanes of a warp execute together.
    PartialWarp,
    /// A panic.
    Panic,
    /// A read-only load of memory that the launch writes.
    WrittenReadOnly,
    /// A shuffle from a lane that takes no part, if the results depend on it.
    UnspecifiedShuffle,
    /// An access to global memory before the wait for the previous launches.
    BeforeDependencies,
    /// Threads that wait for writes that never come. The reported lines are those at which they wait.
    NoProgress,
    /// A loop that never ends.
    EndlessLoop,
    /// A barrier of a cluster that some threads never reach.
    ClusterBarrierNotReached,
    /// A wrong use of a cluster's barrier, or a rank out of range.
    ClusterMisuse,
    /// An access to the shared memory of a block that may not have begun or may have ended.
    RemoteAccess,
    /// A write by a thread that an asynchronous operation accesses without a proxy fence.
    WithoutProxyFence,
    /// A bulk copy that no GPU makes, or for whose end no thread waits.
    BulkCopy,
    /// A wrong use of the instructions of a warpgroup.
    Warpgroup,
    /// Any other report.
    Other,
}

/// The facts of a report: its kind, the array that it names, and its source lines in sorted order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The kind of the report.
    pub kind: Kind,
    /// The name of the array, if the report names one.
    pub array: Option<String>,
    /// The source lines, each as `file.rs:line`.
    pub places: Vec<String>,
}

impl Report {
    /// Returns the facts of a report of kind `kind` with the lines `places`. If `array` is empty, the report names no
    /// array.
    pub fn new(kind: Kind, array: &str, places: &[String]) -> Self {
        let array = if array.is_empty() { None } else { Some(array.to_owned()) };
        let mut places = places.to_vec();
        places.sort();
        Self { kind, array, places }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let array = self.array.as_deref().unwrap_or("no array");
        write!(f, "{:?} about {array} at {}", self.kind, self.places.join(" and "))
    }
}

/// Returns the report of a launch, or `None` if the launch was free of faults.
///
/// # Panics
/// If the launch failed for a reason other than a fault of the kernel.
#[track_caller]
pub fn report(result: &Result<(), Error>) -> Option<Report> {
    let fault = match result {
        Ok(()) => return None,
        Err(Error::Fault(fault)) => fault,
        Err(error) => panic!("no fault of a kernel: {error}"),
    };
    let all = format!("{fault:?}");
    assert!(!all.contains("cuda_std/src/"), "a report names a line of the device library: {fault}");
    let here = fault.location.as_ref().map(place);
    let (kind, array, there) = match &fault.kind {
        FaultKind::Race(race)
        | FaultKind::EarlyRead(race)
        | FaultKind::WrittenReadOnly(race)
        | FaultKind::WithoutProxyFence(race) => {
            let kind = match fault.kind {
                FaultKind::Race(_) => Kind::Race,
                FaultKind::EarlyRead(_) => Kind::EarlyRead,
                FaultKind::WithoutProxyFence(_) => Kind::WithoutProxyFence,
                _ => Kind::WrittenReadOnly,
            };
            let sides = [&race.here, &race.there].map(|side| place(&side.location));
            assert_eq!(here.as_ref(), Some(&sides[0]), "a race is reported where the later access is: {fault}");
            return Some(Report::new(kind, race.element.array.unwrap_or_default(), &sides));
        }
        FaultKind::Uninitialised { array, copy, .. } => {
            (Kind::Uninitialised, *array, copy.as_deref().map(|copy| place(&copy.location)))
        }
        FaultKind::OutOfBounds { array, .. } => (Kind::OutOfBounds, *array, None),
        FaultKind::Misaligned { element, .. } => (Kind::Misaligned, element.as_deref().map(|&(array, _)| array), None),
        FaultKind::BarrierNotReached { missing, .. } => (Kind::BarrierNotReached, None, place_of(missing)),
        FaultKind::BarrierMismatch { other, .. } => (Kind::BarrierMismatch, None, Some(place(other))),
        FaultKind::BarrierApart { paths, .. } => {
            let places: Vec<String> = paths.iter().filter_map(|way| way.0.last()).map(place_of_step).collect();
            return Some(Report::new(Kind::BarrierApart, "", &places));
        }
        FaultKind::WarpMismatch { other, .. } => (Kind::WarpMismatch, None, other.as_deref().and_then(place_of)),
        FaultKind::PartialWarp { missing, .. } => (Kind::PartialWarp, None, missing.as_deref().and_then(place_of)),
        FaultKind::NoProgress { waits, .. } => {
            let places: BTreeSet<String> = waits.iter().map(|wait| place(&wait.location)).chain(here).collect();
            return Some(Report::new(Kind::NoProgress, "", &Vec::from_iter(places)));
        }
        FaultKind::UnspecifiedShuffle { element, .. } => {
            (Kind::UnspecifiedShuffle, element.map(|(array, _)| array), None)
        }
        FaultKind::BeforeDependencies => (Kind::BeforeDependencies, None, None),
        FaultKind::ClusterBarrierNotReached { missing, .. } => {
            (Kind::ClusterBarrierNotReached, None, place_of(missing))
        }
        FaultKind::ClusterMisuse(ClusterMisuse::ArrivedTwice(first)) => (Kind::ClusterMisuse, None, Some(place(first))),
        FaultKind::ClusterMisuse(_) => (Kind::ClusterMisuse, None, None),
        // The last line of the other block depends on the order.
        FaultKind::RemoteAccess(access) => (Kind::RemoteAccess, access.element.array, None),
        FaultKind::BulkCopy(_) => (Kind::BulkCopy, None, None),
        FaultKind::Warpgroup(fault) => {
            let there = match fault {
                WarpgroupFault::Apart { other, .. } => Some(place(other)),
                WarpgroupFault::Missing { missing } => place_of(missing),
                WarpgroupFault::WithoutFence { written } => Some(place(written)),
                WarpgroupFault::InProgress { product, .. } => Some(place(product)),
                _ => None,
            };
            (Kind::Warpgroup, None, there.filter(|there| Some(there) != here.as_ref()))
        }
        FaultKind::EndlessLoop { .. } => (Kind::EndlessLoop, None, None),
        FaultKind::Panic(_) => (Kind::Panic, None, None),
        _ => (Kind::Other, None, None),
    };
    let places: Vec<String> = here.into_iter().chain(there).collect();
    Some(Report::new(kind, array.unwrap_or_default(), &places))
}

fn place(location: &SourceLocation) -> String {
    let file = Path::new(&location.file).file_name().unwrap_or_default().to_string_lossy();
    format!("{file}:{}", location.line)
}

fn place_of_step(step: &CallStep) -> String {
    let (CallStep::Call(at) | CallStep::Loop { at, .. }) = step;
    place(at)
}

fn place_of(whereabouts: &Whereabouts) -> Option<String> {
    whereabouts.location.as_ref().map(place)
}

/// A source file in which comments mark certain lines.
#[derive(Clone, Copy, Debug)]
pub struct Marked {
    /// The file's name.
    pub file: &'static str,
    /// The file's text.
    pub text: &'static str,
}

impl Marked {
    /// Returns the only line that ends with the comment `// marker` or follows a line that consists of this comment.
    ///
    /// # Panics
    /// If no line or several lines are marked.
    pub fn line(self, marker: &str) -> String {
        let places = self.lines(0..usize::MAX, marker);
        assert_eq!(places.len(), 1, "lines marked `{marker}` in {}: {places:?}", self.file);
        places.into_iter().next().unwrap_or_default()
    }

    /// Returns all lines in the function `name` that end with `// marker`.
    ///
    /// # Panics
    /// If there is no such function.
    pub fn lines_of(self, name: &str, marker: &str) -> Vec<String> {
        let head = format!("fn {name}(");
        let start = self.text.lines().position(|line| line.contains(&head));
        let start = start.unwrap_or_else(|| panic!("no `{head}` in {}", self.file));
        let end = self.text.lines().skip(start).position(|line| line == "}").map_or(usize::MAX, |lines| start + lines);
        self.lines(start..end, marker)
    }

    fn lines(self, range: std::ops::Range<usize>, marker: &str) -> Vec<String> {
        let end = format!("// {marker}");
        let lines = self.text.lines().enumerate().filter(|(i, line)| range.contains(i) && line.ends_with(&end));
        // A comment that is alone on its line marks the next line.
        let numbers = lines.map(|(i, line)| i + 1 + usize::from(line.trim() == end));
        numbers.map(|number| format!("{}:{number}", self.file)).collect()
    }
}

/// Returns a checked device for each hostile order, together with the order's name.
pub fn devices_and_orders() -> impl Iterator<Item = (Device, String)> {
    Schedule::HOSTILE.into_iter().map(|schedule| (checked(schedule, Checks::default()), schedule.to_string()))
}

/// Asserts that every hostile order reports the expected fault of `faulty`. The report must contain the lines that
/// comments `// fault: MARKER` mark, one for each of `markers`. The device must still work after the fault: `right`
/// must succeed on it.
#[track_caller]
pub fn assert_reported(
    faulty: impl Fn(&Device) -> Result<(), Error>,
    (kind, array, source, markers): (Kind, &str, Marked, &[&str]),
    right: impl Fn(&Device),
) {
    let places: Vec<String> = markers.iter().map(|marker| source.line(&format!("fault: {marker}"))).collect();
    let expected = Report::new(kind, array, &places);
    for (device, order) in devices_and_orders() {
        let result = faulty(&device);
        let found = report(&result);
        assert_eq!(found.as_ref(), Some(&expected), "{order}: {result:?}");
        right(&device);
    }
}
