//! Measures the points of the benchmark (a rung at a size) one after the other, and collects a row of results for each.

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

/// The remedy for too little memory on the host.
const REMEDY: &str = "measure with --quick, or on a machine with more memory";

/// The lengths at which the last rung of a ladder is also timed by the host's clock, and in a series if its algorithm
/// requests one.
const TIMED_BY_HOST: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 20;

/// Returns `n` elements in host memory. `element` computes an element from its index.
pub(super) fn filled<T: Element>(n: usize, element: impl Fn(usize) -> T + Sync) -> anyhow::Result<Vec<T>> {
    let mut host = inputs::host_memory(n, REMEDY)?;
    inputs::fill_with(&mut host, element);
    Ok(host)
}

/// A point of the benchmark: a rung at a size.
#[derive(Clone, PartialEq, Debug)]
pub struct Point<'a> {
    sweep: &'a Sweep,
    rung: &'static str,
    is_last: bool,
    shape: Shape,
    bytes: u64,
    /// The number of generations of Life per run; 1 for other algorithms.
    generations: u64,
    pub(super) setting: Option<String>,
}

impl<'a> Point<'a> {
    /// Returns the point of `rung` at `shape`. A run of the rung reads and writes at least `bytes` bytes.
    pub(super) fn new(sweep: &'a Sweep, rung: &'static str, is_last: bool, shape: Shape, bytes: u64) -> Self {
        Self { sweep, rung, is_last, shape, bytes, generations: 1, setting: None }
    }

    /// Returns the row of results for the point, with `times`. `host` is the median by the host's clock, in seconds.
    fn row(&self, times: Times, host: Option<f64>) -> MeasuredPoint {
        MeasuredPoint {
            last: self.is_last,
            shape: matches!(self.shape, Shape::Plane(_)).then(|| self.shape.to_string()),
            size: self.shape.elements() as u64,
            bytes: self.bytes,
            gbps: times.gbps(self.bytes as f64 * self.generations as f64),
            host_us: host.map(|seconds| 1e6 * seconds),
            setting: self.setting.clone(),
            ..MeasuredPoint::timed(&times, self.sweep, self.rung, self.generations)
        }
    }

    /// Returns true if the point is also timed by the host's clock.
    fn is_timed_by_host(&self) -> bool {
        self.is_last && matches!(self.shape, Shape::Vector(_)) && TIMED_BY_HOST.contains(&self.shape.elements())
    }
}

/// A run of the benchmark: the rows so far, the meter and the peers.
pub struct Bench {
    pub(super) meter: Meter,
    pub(super) seed: u64,
    pub(super) rows: Vec<MeasuredPoint>,
    pub(super) left_out: Vec<String>,
    pub(super) peers: Option<Rc<Peers>>,
    progress: Progress,
    done: u64,
}

/// An opened peer, and the memory of the point on which the peer runs.
pub(super) struct PeerRuns {
    peer: Peer,
    /// The addresses of the input and the output.
    memory: [usize; 2],
    failure: Option<anyhow::Error>,
}

impl PeerRuns {
    /// Enqueues one call. `memory` has the addresses of the input and the output. Does nothing after a failure.
    ///
    /// # Safety
    /// As for [`Peer::call`].
    pub(super) unsafe fn run(&mut self, memory: [usize; 2]) {
        if self.failure.is_none() {
            // SAFETY: the caller guarantees the memory, as `Peer::call` demands.
            self.failure = unsafe { self.peer.call(memory) }.err();
        }
    }
}

/// Returns the first two addresses: those of the input and the output. An address that is missing is 0.
fn first_two(memory: &[usize]) -> [usize; 2] {
    [0, 1].map(|place| memory.get(place).copied().unwrap_or(0))
}

impl Bench {
    pub(super) fn new(device: &Device, seed: u64, points: usize, peers: Option<Rc<Peers>>) -> anyhow::Result<Self> {
        let progress = Progress::new(points as u64, "points");
        Ok(Self { meter: Meter::new(device)?, seed, rows: Vec::new(), left_out: Vec::new(), peers, progress, done: 0 })
    }

    pub(super) fn device(&self) -> Device {
        self.meter.device.clone()
    }

    /// Returns true if the device has `bytes` free; otherwise notes that the size is left out.
    pub(super) fn has_room(&mut self, sweep: &Sweep, shape: Shape, bytes: u64) -> anyhow::Result<bool> {
        let has_room = self.has_room_for(sweep, shape, "", bytes)?;
        if !has_room {
            self.done += sweep.each as u64;
        }
        Ok(has_room)
    }

    /// Returns true if the device has `bytes` free; otherwise notes that the size is left out. `what` names the
    /// measurement.
    fn has_room_for(&mut self, sweep: &Sweep, shape: Shape, what: &str, bytes: u64) -> anyhow::Result<bool> {
        let free = self.meter.device.properties()?.memory_free_bytes;
        // Some memory is lost between allocations.
        let has_room = bytes <= free - free / 32;
        if !has_room {
            let name = sweep.subject.name();
            let number = sweep.number;
            self.note(format!("{name} {number} {shape}{what}: {} needed, {} free", Bytes(bytes), Bytes(free)));
        }
        Ok(has_room)
    }

    /// Notes why a rung is left out.
    pub(super) fn leave_out(&mut self, reason: &WorkbenchError) {
        self.note(match reason {
            WorkbenchError::Algorithm(AlgorithmError::NotBuilt { algorithm, rung, offered, .. }) => {
                format!("{algorithm} {rung} is not built for this; it is built for {offered}")
            }
            reason => reason.to_string(),
        });
        self.pass_over();
    }

    /// Counts one more point as done, although it is not measured.
    pub(super) fn pass_over(&mut self) {
        self.done += 1;
    }

    pub(super) fn note(&mut self, text: String) {
        if !self.left_out.contains(&text) {
            self.left_out.push(text);
        }
    }

    /// Measures `run`, alternately with `peer` if there is one, and adds the rows of both.
    pub(super) fn point(
        &mut self,
        point: Point<'_>,
        mut peer: Option<PeerRuns>,
        run: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (row, peer_row) = self.measured(&point, run, peer.as_mut())?;
        self.add(row);
        self.add_peer(peer_row, point.sweep, peer);
        Ok(())
    }

    /// Opens the peer of a sweep at a size. `memory` begins with the addresses of the input and the output. If the
    /// library fails, notes its error and returns `None`.
    pub(super) fn peer(&mut self, sweep: &Sweep, shape: Shape, memory: &[usize]) -> Option<PeerRuns> {
        let peers = self.peers.clone()?;
        let device = self.device();
        let peer = peers.open(&device, sweep, shape).unwrap_or_else(|failure| {
            self.note_failure(sweep, &failure);
            None
        })?;
        Some(PeerRuns { peer, memory: first_two(memory), failure: None })
    }

    fn note_failure(&mut self, sweep: &Sweep, failure: &anyhow::Error) {
        self.note(format!("the peers of {} {}: {failure:#}", sweep.subject.name(), sweep.number));
    }

    /// Measures a rung and adds its row. Also times a series of calls if the host's clock times the point and the
    /// algorithm requests a series. Each call of a series has its own memory.
    pub(super) fn rung(&mut self, mut point: Point<'_>, prepared: &mut dyn PreparedRung) -> anyhow::Result<()> {
        let device = self.device();
        if prepared.steps() > 1 {
            prepared.run(device.queue())?;
            let (run, time) = device.time(|| Ok(prepared.run(device.queue())))?;
            run?;
            if time <= self.meter.limits.short {
                prepared.lengthen();
            }
            point.generations = prepared.steps();
        }
        let memory = device.memory_of(prepared);
        let mut peer = if point.is_last { self.peer(point.sweep, point.shape, &memory) } else { None };
        let (mut row, mut peer_row) = self.measured(&point, || Ok(prepared.run(device.queue())?), peer.as_mut())?;
        let turns = self.meter.turns(point.bytes);
        let bytes = point.bytes.saturating_mul(turns as u64);
        if point.is_timed_by_host()
            && prepared.is_for_series()
            && self.has_room_for(point.sweep, point.shape, " in a series", bytes)?
        {
            prepared.make_sets(turns)?;
            let seconds = self.in_series(turns, |turn| Ok(prepared.run_set(turn, device.queue())?))?;
            row.series_us = Some(1e6 * seconds);
            if let Some(peer) = &mut peer {
                // The addresses of the sets follow the addresses of the first run. Every set has the same number of
                // addresses.
                let sets = device.memory_of(prepared);
                let each = (sets.len() - memory.len()) / turns;
                let seconds = self.in_series(turns, |turn| {
                    // SAFETY: these are the input and output of a set, which `prepared` keeps until the series has
                    // ended.
                    unsafe { peer.run(first_two(&sets[each * (1 + turn)..])) };
                    Ok(())
                })?;
                peer_row.series_us = Some(1e6 * seconds);
            }
        }
        self.add(row);
        self.add_peer(peer_row, point.sweep, peer);
        Ok(())
    }

    /// Times a series whose calls rotate among `turns` sets of memory, and returns the time per call.
    fn in_series(&mut self, turns: usize, mut call: impl FnMut(usize) -> anyhow::Result<()>) -> anyhow::Result<f64> {
        let mut turn = (0..turns).cycle();
        self.meter.series(&mut || call(turn.next().unwrap_or(0)))
    }

    /// Measures `run` alternately with `peer`, and returns the rows of both. Without a peer the second row is empty.
    fn measured(
        &mut self,
        point: &Point<'_>,
        mut run: impl FnMut() -> anyhow::Result<()>,
        peer: Option<&mut PeerRuns>,
    ) -> anyhow::Result<(MeasuredPoint, MeasuredPoint)> {
        let by_host = point.is_timed_by_host();
        let Some(peer) = peer else {
            let [times] = self.meter.events([&mut run])?;
            let host = by_host.then(|| self.meter.host(&mut run)).transpose()?;
            return Ok((point.row(times, host), MeasuredPoint::default()));
        };
        let mut peer_run = || {
            // SAFETY: these are the input and output of the measured rung, which keeps them until the measurement has
            // ended.
            unsafe { peer.run(peer.memory) };
            Ok(())
        };
        let [times, peer_times] = self.meter.events([&mut run, &mut peer_run])?;
        let host = by_host.then(|| self.meter.host(&mut run)).transpose()?;
        let peer_host = by_host.then(|| self.meter.host(&mut peer_run)).transpose()?;
        Ok((point.row(times, host), point.row(peer_times, peer_host)))
    }

    /// Adds the row of a measured point.
    pub(super) fn add(&mut self, row: MeasuredPoint) {
        self.done += 1;
        self.progress.set(self.done, 1e9 * row.gbps, "B");
        self.rows.push(row);
    }

    /// Adds the row of a peer, if there is one. If the library failed, this notes its error instead.
    pub(super) fn add_peer(&mut self, row: MeasuredPoint, sweep: &Sweep, peer: Option<PeerRuns>) {
        match peer {
            Some(PeerRuns { failure: Some(failure), .. }) => self.note_failure(sweep, &failure),
            Some(PeerRuns { peer, .. }) => {
                let (peer, rung) = (Some(peer.name()), None);
                self.rows.push(MeasuredPoint { peer, rung, last: false, setting: None, ..row });
            }
            None => {}
        }
    }
}
