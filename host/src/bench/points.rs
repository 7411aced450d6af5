//! The points of a run as they are measured, one after the other.

use std::rc::Rc;

use gridstride::error::AlgorithmError;
use launch::{Device, Element};
use workbench::WorkbenchError;
use workbench::algorithm::{PreparedRung, Shape};
use workbench::bench::{MeasuredPoint, Sweep};
use workbench::inputs;

use super::meter::{Meter, Times};
use super::peers::{Peer, Peers};
use crate::report::Bytes;
use crate::report::progress::Progress;

/// What to do about a lack of memory on the host.
const REMEDY: &str = "measure with --quick, or on a machine with more";

/// The lengths of a last rung that are timed by the host's clock too, and some in a series.
const SEEN_BY_THE_HOST: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 20;

/// `n` elements on the host.
pub(super) fn filled<T: Element>(n: usize, element: impl Fn(usize) -> T + Sync) -> anyhow::Result<Vec<T>> {
    let mut host = inputs::host_memory(n, REMEDY)?;
    inputs::fill_with(&mut host, element);
    Ok(host)
}

/// One point: a rung at a size.
#[derive(Clone, PartialEq, Debug)]
pub struct Point<'a> {
    sweep: &'a Sweep,
    rung: &'static str,
    is_last: bool,
    shape: Shape,
    bytes: u64,
    /// Generations of Life in a run.
    generations: u64,
    pub(super) setting: Option<String>,
}

impl<'a> Point<'a> {
    /// `rung` at `shape`, which cannot do without reading or writing `bytes`.
    pub(super) fn new(sweep: &'a Sweep, rung: &'static str, is_last: bool, shape: Shape, bytes: u64) -> Self {
        Self { sweep, rung, is_last, shape, bytes, generations: 1, setting: None }
    }

    /// The row of these times.
    fn row(&self, times: Times, host: Option<f64>) -> MeasuredPoint {
        let each = 1e6 / self.generations as f64;
        let moved = self.bytes as f64 * self.generations as f64 / 1e9;
        MeasuredPoint {
            algorithm: self.sweep.subject.name().to_owned(),
            rung: Some(self.rung.to_owned()),
            peer: None,
            last: self.is_last,
            number: self.sweep.number.to_owned(),
            variant: self.sweep.variant.map(str::to_owned),
            shape: matches!(self.shape, Shape::Plane(_)).then(|| self.shape.to_string()),
            size: self.shape.elements() as u64,
            bytes: self.bytes,
            runs: times.runs,
            median_us: times.median * each,
            low_us: times.low * each,
            high_us: times.high * each,
            gbps: if times.median > 0.0 { moved / times.median } else { 0.0 },
            host_us: host.map(|seconds| 1e6 * seconds),
            series_us: None,
            setting: self.setting.clone(),
        }
    }

    /// Whether the host's clock is asked as well.
    fn is_seen_by_the_host(&self) -> bool {
        self.is_last && matches!(self.shape, Shape::Vector(_)) && SEEN_BY_THE_HOST.contains(&self.shape.elements())
    }
}

/// The measurements as they come in.
pub struct Bench {
    pub(super) meter: Meter,
    seed: u64,
    pub(super) rows: Vec<MeasuredPoint>,
    pub(super) left_out: Vec<String>,
    pub(super) peers: Option<Rc<Peers>>,
    progress: Progress,
    done: u64,
}

/// A peer of a point, which runs on the same memory.
pub(super) struct Beside {
    peer: Peer,
    /// Where the point's input and output begin.
    memory: [usize; 2],
    failure: Option<anyhow::Error>,
}

impl Beside {
    /// One run from `x` to `y`. After a failure there is none.
    ///
    /// # Safety
    /// As for [`Peer::call`].
    pub(super) unsafe fn run(&mut self, memory: [usize; 2]) {
        if self.failure.is_none() {
            // SAFETY: the caller's word.
            self.failure = unsafe { self.peer.call(memory) }.err();
        }
    }
}

/// The first two of these addresses: an input's and an output's. A peer that has no output in common with the rung
/// takes none.
fn first_two(memory: &[usize]) -> [usize; 2] {
    [0, 1].map(|place| memory.get(place).copied().unwrap_or(0))
}

impl Bench {
    pub(super) fn new(device: &Device, seed: u64, points: usize, peers: Option<Rc<Peers>>) -> anyhow::Result<Self> {
        let progress = Progress::new(points as u64, "points");
        Ok(Self { meter: Meter::new(device)?, seed, rows: Vec::new(), left_out: Vec::new(), peers, progress, done: 0 })
    }

    pub(super) fn device(&self) -> Device {
        self.meter.device().clone()
    }

    pub(super) fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the device has room for `bytes`; else it is noted that the size is left out.
    pub(super) fn has_room(&mut self, sweep: &Sweep, shape: Shape, bytes: u64) -> anyhow::Result<bool> {
        let has_room = self.has_room_for(sweep, shape, "", bytes)?;
        if !has_room {
            self.done += sweep.each as u64;
        }
        Ok(has_room)
    }

    /// Whether the device has room for `bytes`; else it is noted that `what` of the size is left out.
    fn has_room_for(&mut self, sweep: &Sweep, shape: Shape, what: &str, bytes: u64) -> anyhow::Result<bool> {
        let free = self.meter.device().properties()?.memory_free_bytes;
        // A little is lost between allocations.
        let has_room = bytes <= free - free / 32;
        if !has_room {
            let name = sweep.subject.name();
            let number = sweep.number;
            self.note(format!("{name} {number} {shape}{what}: {} needed, {} free", Bytes(bytes), Bytes(free)));
        }
        Ok(has_room)
    }

    /// Goes on without a rung that does not offer what would be measured.
    pub(super) fn leave_out(&mut self, reason: &WorkbenchError) {
        self.note(match reason {
            WorkbenchError::Algorithm(AlgorithmError::NotBuilt { algorithm, rung, offered, .. }) => {
                format!("{algorithm} {rung} beyond what it offers: {offered}")
            }
            reason => reason.to_string(),
        });
        self.pass_over();
    }

    /// Goes on without a point.
    pub(super) fn pass_over(&mut self) {
        self.done += 1;
    }

    pub(super) fn note(&mut self, text: String) {
        if !self.left_out.contains(&text) {
            self.left_out.push(text);
        }
    }

    /// Measures `run` and adds its row.
    pub(super) fn point<E>(&mut self, point: Point<'_>, run: impl FnMut() -> Result<(), E>) -> anyhow::Result<()>
    where
        E: From<launch::Error> + Into<anyhow::Error>,
    {
        self.point_beside(point, None, run)
    }

    /// As [`point`](Self::point), and of the peer that runs beside it, if there is one.
    pub(super) fn point_beside<E>(
        &mut self,
        point: Point<'_>,
        mut beside: Option<Beside>,
        run: impl FnMut() -> Result<(), E>,
    ) -> anyhow::Result<()>
    where
        E: From<launch::Error> + Into<anyhow::Error>,
    {
        let (row, peer_row) = self.measured(&point, run, beside.as_mut())?;
        self.add(row);
        self.add_peer(peer_row, point.sweep, beside);
        Ok(())
    }

    /// The peer of a work at a size, on memory whose input and output come first. If the library fails, that is noted.
    pub(super) fn beside(&mut self, sweep: &Sweep, shape: Shape, memory: &[usize]) -> Option<Beside> {
        let peers = self.peers.clone()?;
        let device = self.device();
        let peer = peers.open(&device, sweep, shape).unwrap_or_else(|failure| {
            self.note_failure(sweep, &failure);
            None
        })?;
        Some(Beside { peer, memory: first_two(memory), failure: None })
    }

    fn note_failure(&mut self, sweep: &Sweep, failure: &anyhow::Error) {
        self.note(format!("the peers of {} {}: {failure:#}", sweep.subject.name(), sweep.number));
    }

    /// Measures a rung and adds its row. At the sizes that are timed by the host's clock too, it also times a series of
    /// calls, if the algorithm asks for that; each call of a series has memory of its own.
    pub(super) fn rung(&mut self, mut point: Point<'_>, prepared: &mut dyn PreparedRung) -> anyhow::Result<()> {
        let device = self.device();
        if prepared.steps() > 1 {
            prepared.run(device.queue())?;
            let (run, time) = device.time(|| Ok(prepared.run(device.queue())))?;
            run?;
            if time <= self.meter.limits().short {
                prepared.lengthen();
            }
            point.generations = prepared.steps();
        }
        let memory = device.memory_of(prepared);
        let mut beside = match point.is_last {
            true => self.beside(point.sweep, point.shape, &memory),
            false => None,
        };
        let (mut row, mut peer_row) = self.measured(&point, || prepared.run(device.queue()), beside.as_mut())?;
        let turns = self.meter.turns(point.bytes);
        let bytes = point.bytes.saturating_mul(turns as u64);
        if point.is_seen_by_the_host()
            && prepared.is_for_series()
            && self.has_room_for(point.sweep, point.shape, " in a series", bytes)?
        {
            prepared.make_sets(turns)?;
            let seconds = self.in_series(turns, |turn| prepared.run_set(turn, device.queue()))?;
            row.series_us = Some(1e6 * seconds);
            if let Some(beside) = &mut beside {
                // The sets stand behind what the first run has, and each has as much.
                let sets = device.memory_of(prepared);
                let each = (sets.len() - memory.len()) / turns;
                let seconds = self.in_series(turns, |turn| {
                    // SAFETY: a set of the rung's, which has it until the series has ended.
                    unsafe { beside.run(first_two(&sets[each * (1 + turn)..])) };
                    Ok::<_, WorkbenchError>(())
                })?;
                peer_row.series_us = Some(1e6 * seconds);
            }
        }
        self.add(row);
        self.add_peer(peer_row, point.sweep, beside);
        Ok(())
    }

    /// What a call takes in a series of them, in which `turns` sets of memory take turns.
    fn in_series<E: From<launch::Error>>(
        &mut self,
        turns: usize,
        mut call: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<f64, E> {
        let mut turn = 0;
        self.meter.series(|| {
            let now = turn;
            turn = (turn + 1) % turns;
            call(now)
        })
    }

    /// Measures `run`, and in turns with it what is `beside` it, and gives their rows: an empty one where there is
    /// nothing.
    fn measured<E>(
        &mut self,
        point: &Point<'_>,
        mut run: impl FnMut() -> Result<(), E>,
        beside: Option<&mut Beside>,
    ) -> anyhow::Result<(MeasuredPoint, MeasuredPoint)>
    where
        E: From<launch::Error> + Into<anyhow::Error>,
    {
        let is_seen = point.is_seen_by_the_host();
        let Some(beside) = beside else {
            let times = self.meter.events(&mut run).map_err(Into::into)?;
            let host = is_seen.then(|| self.meter.host(&mut run)).transpose().map_err(Into::into)?;
            return Ok((point.row(times, host), MeasuredPoint::default()));
        };
        let mut peer = || {
            // SAFETY: the memory of the rung that is measured, which has it until all is done.
            unsafe { beside.run(beside.memory) };
            Ok(())
        };
        let [times, peer_times] = self.meter.events_of_both(&mut run, &mut peer).map_err(Into::into)?;
        let host = is_seen.then(|| self.meter.host(&mut run)).transpose().map_err(Into::into)?;
        let peer_host = is_seen.then(|| self.meter.host(&mut peer)).transpose().map_err(Into::into)?;
        Ok((point.row(times, host), point.row(peer_times, peer_host)))
    }

    /// Adds the row of a point.
    pub(super) fn add(&mut self, row: MeasuredPoint) {
        self.done += 1;
        self.progress.set(self.done, 1e9 * row.gbps, "B");
        self.rows.push(row);
    }

    /// Adds the row of a peer, if there is one, unless the library failed: then that is noted.
    pub(super) fn add_peer(&mut self, row: MeasuredPoint, sweep: &Sweep, beside: Option<Beside>) {
        match beside {
            Some(Beside { failure: Some(failure), .. }) => self.note_failure(sweep, &failure),
            Some(Beside { peer, .. }) => {
                self.rows.push(MeasuredPoint {
                    peer: Some(peer.name()),
                    rung: None,
                    last: false,
                    setting: None,
                    ..row
                });
            }
            None => {}
        }
    }
}
