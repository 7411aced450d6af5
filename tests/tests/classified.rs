//! Tests the checker on small kernels. Most kernels form pairs: one with a race and one without. In every order, the
//! simulator must classify each kernel correctly, and must report both lines of a race. The idea is from DataRaceBench.
//! The kernels were written for this project.
//!
//! A kernel with a race marks the lines of its two accesses with `// race`. A kernel that reads uninitialised memory
//! marks the read with `// unwritten`. If the memory is the target of an asynchronous copy that may still be running,
//! the copy is marked, too. A kernel that reads uninitialised memory only in some orders marks the read and the first
//! write with `// early`.

use launch::{Device, Error};
use simt::{Checks, Schedule, Search, Simulator};
use tests::reports::{Kind, Marked, Report, report};
use tests::{STRICT, checked};

/// Launches a kernel on buffers of `u32` zeros. The arguments after the kernel are the lengths of the buffers.
macro_rules! launch {
    ($device:ident, $config:expr, $kernel:path, $($len:expr),+) => {{
        let mut buffers = [$($device.zeroed::<u32>($len)?),+];
        let mut views = buffers.iter_mut().map(launch::Buffer::view_mut);
        // Each length is replaced by a view.
        let mut next = |_: usize| views.next().unwrap();
        $device.launch($config, $kernel($(next($len)),+))
    }};
}

/// Launches a kernel on buffers of different numbers and returns the last one. The arguments are those of `launch!`.
macro_rules! numbers {
    ($device:ident, $config:expr, $kernel:path, $($len:expr),+) => {{
        let mut first = 0;
        let mut next = |len: usize| {
            first += 1000;
            (0..len as u32).map(|i| first + i).collect::<Vec<u32>>()
        };
        let mut buffers = [$($device.upload(&next($len))?),+];
        let mut views = buffers.iter_mut().map(launch::Buffer::view_mut);
        let mut next = |_: usize| views.next().unwrap();
        $device.launch($config, $kernel($(next($len)),+))?;
        buffers[buffers.len() - 1].download()
    }};
}

/// Declares the cases of a file. A case is a kernel with its class and its launch. A second class, after `strictly`,
/// applies under strict checks. Under strict checks, shuffles and votes do not order memory accesses.
macro_rules! cases {
    ($file:literal; $($kernel:ident: $what:expr $(, strictly $strictly:expr)?, |$device:ident| $launch:expr;)+) => {
        pub const CASES: &[crate::Case] = &[$(crate::Case {
            name: stringify!($kernel),
            source: tests::reports::Marked { file: $file, text: include_str!($file) },
            what: $what,
            strictly: {
                let what: crate::What = $what;
                $(let what: crate::What = { let _ = what; $strictly };)?
                what
            },
            output: |$device| $launch.map(crate::Output::into_words),
        }),+];
    };
}

#[path = "classified/atomics.rs"]
mod atomics;
#[path = "classified/barriers.rs"]
mod barriers;
#[path = "classified/blocks.rs"]
mod blocks;
#[macro_use]
#[path = "classified/bulk_boxes.rs"]
mod bulk_boxes;
#[path = "classified/bulk_box_stores.rs"]
mod bulk_box_stores;
#[path = "classified/bulk_clusters.rs"]
mod bulk_clusters;
#[path = "classified/bulk_loads.rs"]
mod bulk_loads;
#[path = "classified/bulk_proxies.rs"]
mod bulk_proxies;
#[path = "classified/bulk_remedies.rs"]
mod bulk_remedies;
#[path = "classified/bulk_stores.rs"]
mod bulk_stores;
#[path = "classified/cooperative.rs"]
mod cooperative;
#[path = "classified/copies.rs"]
mod copies;
#[path = "classified/cost.rs"]
mod cost;
#[path = "classified/exchanges.rs"]
mod exchanges;
#[path = "classified/families/mod.rs"]
mod families;
#[path = "classified/flags.rs"]
mod flags;
#[path = "classified/grids.rs"]
mod grids;
#[path = "classified/locks.rs"]
mod locks;
#[path = "classified/loops.rs"]
mod loops;
#[path = "classified/on_gpu.rs"]
mod on_gpu;
#[path = "classified/producers.rs"]
mod producers;
#[path = "classified/scopes.rs"]
mod scopes;
#[path = "classified/shapes.rs"]
mod shapes;
#[path = "classified/stealing.rs"]
mod stealing;
#[path = "classified/subwords.rs"]
mod subwords;
#[path = "classified/warps.rs"]
mod warps;
#[path = "classified/widths.rs"]
mod widths;

/// The class of a kernel: free of races, or with a certain fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The kernel orders all conflicting accesses.
    RaceFree,
    /// The kernel has a race on this array.
    Race(&'static str),
    /// Some atomic reads of this array are not ordered after the first write.
    Early(&'static str),
    /// Some elements of this array are read before they are initialised.
    Unwritten(&'static str),
    /// An asynchronous operation accesses what threads have written to this array without a proxy fence. The write and
    /// the operation are marked.
    Unfenced(&'static str),
    /// Threads wait for ever at the marked line.
    Stuck,
    /// The marked bulk copy is one that no GPU makes, or no thread waits for its end.
    Misuse,
    /// The marked line accesses this array of a block that may not have begun or may have ended.
    Remote(&'static str),
    /// Threads reach one barrier line by different call paths. The last calls or loops of these paths are marked.
    Apart,
}

/// A classified kernel and its launch.
pub struct Case {
    name: &'static str,
    source: Marked,
    what: What,
    /// The class under strict checks, for which shuffles and votes do not order memory accesses.
    strictly: What,
    output: fn(&Device) -> Result<Vec<u32>, Error>,
}

/// The result of a case's launch.
trait Output {
    /// Returns the words that the launch wrote, if the case downloads them.
    fn into_words(self) -> Vec<u32>;
}

impl Output for () {
    fn into_words(self) -> Vec<u32> {
        Vec::new()
    }
}

impl Output for Vec<u32> {
    fn into_words(self) -> Vec<u32> {
        self
    }
}

fn cases() -> impl Iterator<Item = &'static Case> {
    let files = [
        atomics::CASES,
        barriers::CASES,
        blocks::CASES,
        bulk_boxes::CASES,
        bulk_box_stores::CASES,
        bulk_clusters::CASES,
        bulk_loads::CASES,
        bulk_proxies::CASES,
        bulk_stores::CASES,
        copies::CASES,
        cooperative::CASES,
        exchanges::CASES,
        flags::CASES,
        grids::CASES,
        locks::CASES,
        loops::CASES,
        producers::CASES,
        scopes::CASES,
        subwords::CASES,
        warps::CASES,
        widths::CASES,
    ];
    files.into_iter().flatten()
}

impl Case {
    fn output(&self, device: &Device) -> Result<Vec<u32>, Error> {
        (self.output)(device)
    }

    fn launch(&self, device: &Device) -> Result<(), Error> {
        self.output(device).map(drop)
    }

    fn expected(&self, what: What) -> Option<Report> {
        let (kind, array, marker) = match what {
            What::RaceFree => return None,
            What::Race(array) => (Kind::Race, array, "race"),
            What::Early(array) => (Kind::EarlyRead, array, "early"),
            What::Unwritten(array) => (Kind::Uninitialised, array, "unwritten"),
            What::Unfenced(array) => (Kind::WithoutProxyFence, array, "proxy"),
            What::Stuck => (Kind::NoProgress, "", "stuck"),
            What::Misuse => (Kind::BulkCopy, "", "misuse"),
            What::Remote(array) => (Kind::RemoteAccess, array, "remote"),
            What::Apart => (Kind::BarrierApart, "", "apart"),
        };
        let mut places = self.source.lines_of(self.name, marker);
        match (kind, places.len()) {
            // Both accesses, or both call paths, are in the same line.
            (Kind::Race | Kind::EarlyRead | Kind::BarrierApart, 1) => places.extend_from_within(..),
            (Kind::Race | Kind::EarlyRead | Kind::BarrierApart | Kind::WithoutProxyFence, 2)
            | (Kind::NoProgress | Kind::BulkCopy | Kind::RemoteAccess, 1)
            | (Kind::Uninitialised, 1 | 2) => {}
            (_, lines) => panic!("{}: {lines} lines marked `{marker}`", self.name),
        }
        Some(Report::new(kind, array, &places))
    }

    /// Returns true if a launch takes some tenths of a second, because its threads wait for ever.
    fn is_slow(&self) -> bool {
        self.what == What::Stuck
    }

    /// Launches the kernel under `schedule` and `checks`. Returns a message if the report differs from the one that the
    /// case's class requires.
    fn wrong(&self, schedule: Schedule, checks: Checks) -> Option<String> {
        let what = if checks.shuffles_order_memory { self.what } else { self.strictly };
        let result = self.launch(&checked(schedule, checks));
        let (found, expected) = (report(&result), self.expected(what));
        let text = |report: Option<&Report>| report.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        (!is_as_expected(expected.as_ref(), found.as_ref())).then(|| {
            let strict = if checks.shuffles_order_memory { "" } else { ", strict" };
            let (expected, found) = (text(expected.as_ref()), text(found.as_ref()));
            format!("{}, {schedule}{strict}: {found}; expected {expected}", self.name)
        })
    }
}

/// Returns true if the report `found` is as expected. If a read may precede the first write, some orders instead report
/// a read of uninitialised memory, which is also accepted.
fn is_as_expected(expected: Option<&Report>, found: Option<&Report>) -> bool {
    let is_early = |expected: &Report, found: &Report| {
        (expected.kind, found.kind) == (Kind::EarlyRead, Kind::Uninitialised)
            && expected.array == found.array
            && found.places.iter().all(|place| expected.places.contains(place))
    };
    expected == found || matches!((expected, found), (Some(expected), Some(found)) if is_early(expected, found))
}

/// Returns true if slow cases run under `schedule` and `checks`: in an order in which bulk copies take effect early,
/// and in one in which they do so late.
fn is_for_slow(schedule: Schedule, checks: Checks) -> bool {
    checks == Checks::default() && matches!(schedule, Schedule::Natural | Schedule::LastFirst)
}

fn all_are_right(checks: Checks) {
    let runs = cases().flat_map(|case| Schedule::HOSTILE.map(|schedule| (case, schedule)));
    let runs = runs.filter(|(case, schedule)| !case.is_slow() || is_for_slow(*schedule, checks));
    let wrong: Vec<String> = runs.filter_map(|(case, schedule)| case.wrong(schedule, checks)).collect();
    assert!(wrong.is_empty(), "{} classified wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_kernel_is_classified_right() {
    all_are_right(Checks::default());
}

#[test]
fn every_kernel_is_classified_right_where_shuffles_order_nothing() {
    all_are_right(STRICT);
}

/// Tests further orders, as in a thorough search. Kernels without a fault must succeed, and the search must find the
/// fault of each faulty kernel.
#[test]
fn further_orders_classify_right() {
    const ORDERS: usize = 50;
    let simulator = Simulator::new().with_checks(Checks::default());
    let (mut tried, mut missed) = (0, Vec::new());
    for case in cases().filter(|case| !case.is_slow()) {
        let (mut search, expected) = (Search::new(), case.expected(case.what));
        while search.tried() < ORDERS {
            let run = |simulator| report(&case.launch(&Device::simulated(simulator)));
            let Some((schedule, found)) = search.try_next(&simulator, run) else { break };
            match (&expected, &found) {
                (Some(_), None) => missed.push(format!("{} in {schedule}", case.name)),
                (expected, found) if is_as_expected(expected.as_ref(), found.as_ref()) => {}
                (expected, found) => panic!("{}, {schedule}: {found:?}; expected {expected:?}", case.name),
            }
            tried += 1;
        }
    }
    println!("{tried} runs; faults not found in {}: {missed:?}", missed.len());
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn the_kernels_are_many_and_half_of_them_racy() {
    let count = |is: fn(What) -> bool| cases().filter(|case| is(case.what)).count();
    let (free, racy) = (count(|what| what == What::RaceFree), count(|what| matches!(what, What::Race(_))));
    println!("{free} race-free, {racy} racy, {} with other faults", cases().count() - free - racy);
    assert!(free >= 22 && racy >= 22 && free.abs_diff(racy) * 5 < free + racy, "{free} race-free, {racy} racy");
    let mut names: Vec<&str> = cases().map(|case| case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), cases().count());
}
