//! The points of a run as they are measured, one after the other.

use gridstride::algorithm::{Prepared, Shape};
use gridstride::error::AlgorithmError;
use gridstride::inputs;
use launch::{Device, Element};

use super::meter::{Limits, Meter};
use super::peers::{self, Peers};
use super::record::Row;
use super::work::Work;
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
    work: &'a Work,
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
    pub(super) fn new(work: &'a Work, rung: &'static str, is_last: bool, shape: Shape, bytes: u64) -> Self {
        Self { work, rung, is_last, shape, bytes, generations: 1, setting: None }
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
    pub(super) rows: Vec<Row>,
    pub(super) left_out: Vec<String>,
    progress: Progress,
    done: u64,
}

impl Bench {
    pub(super) fn new(device: &Device, seed: u64, points: usize) -> anyhow::Result<Self> {
        let progress = Progress::new(points as u64, "points");
        Ok(Self { meter: Meter::new(device)?, seed, rows: Vec::new(), left_out: Vec::new(), progress, done: 0 })
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
    pub(super) fn has_room(&mut self, work: &Work, shape: Shape, bytes: u64) -> anyhow::Result<bool> {
        let has_room = self.has_room_for(work, shape, "", bytes)?;
        if !has_room {
            self.done += work.each as u64;
        }
        Ok(has_room)
    }

    /// Whether the device has room for `bytes`; else it is noted that `what` of the size is left out.
    fn has_room_for(&mut self, work: &Work, shape: Shape, what: &str, bytes: u64) -> anyhow::Result<bool> {
        let free = self.meter.device().properties()?.memory_free_bytes;
        // A little is lost between allocations.
        let has_room = bytes <= free - free / 32;
        if !has_room {
            let name = work.subject.name();
            let number = work.number;
            self.note(format!("{name} {number} {shape}{what}: {} needed, {} free", Bytes(bytes), Bytes(free)));
        }
        Ok(has_room)
    }

    /// Goes on without a rung that does not offer what would be measured.
    pub(super) fn leave_out(&mut self, reason: &AlgorithmError) {
        self.note(match reason {
            AlgorithmError::NotOffered { algorithm, kernel, offered, .. } => {
                format!("{algorithm} {kernel} beyond what it offers: {offered}")
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
        let row = self.measured(&point, run)?;
        self.add(row);
        Ok(())
    }

    /// Measures a rung and adds its row. At the sizes that are timed by the host's clock too, it also times a series of calls,
    /// if the algorithm asks for that; each call of a series has memory of its own.
    pub(super) fn rung(&mut self, mut point: Point<'_>, prepared: &mut dyn Prepared) -> anyhow::Result<()> {
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
        let mut row = self.measured(&point, || prepared.run(device.queue()))?;
        let turns = self.meter.turns(point.bytes);
        let bytes = point.bytes.saturating_mul(turns as u64);
        if point.is_seen_by_the_host()
            && prepared.is_for_series()
            && self.has_room_for(point.work, point.shape, " in a series", bytes)?
        {
            prepared.make_sets(turns)?;
            let mut turn = 0;
            let seconds = self.meter.series(|| {
                let now = turn;
                turn = (turn + 1) % turns;
                prepared.run_set(now, device.queue())
            });
            row.series_us = Some(1e6 * seconds?);
        }
        self.add(row);
        Ok(())
    }

    /// Measures `run` and gives its row.
    fn measured<E>(&mut self, point: &Point<'_>, mut run: impl FnMut() -> Result<(), E>) -> anyhow::Result<Row>
    where
        E: From<launch::Error> + Into<anyhow::Error>,
    {
        let times = self.meter.events(&mut run).map_err(Into::into)?;
        let host = match point.is_seen_by_the_host() {
            true => Some(self.meter.host(&mut run).map_err(Into::into)?),
            false => None,
        };
        let each = 1e6 / point.generations as f64;
        let gbps =
            if times.median > 0.0 { point.bytes as f64 * point.generations as f64 / times.median / 1e9 } else { 0.0 };
        let work = point.work;
        Ok(Row {
            algorithm: work.subject.name().to_owned(),
            rung: Some(point.rung.to_owned()),
            peer: None,
            last: point.is_last,
            number: work.number.to_owned(),
            variant: work.variant.map(str::to_owned),
            shape: matches!(point.shape, Shape::Plane(_)).then(|| point.shape.to_string()),
            size: point.shape.elements() as u64,
            bytes: point.bytes,
            runs: times.runs,
            median_us: times.median * each,
            low_us: times.low * each,
            high_us: times.high * each,
            gbps,
            host_us: host.map(|seconds| 1e6 * seconds),
            series_us: None,
            setting: point.setting.clone(),
        })
    }

    /// Adds the row of a point.
    pub(super) fn add(&mut self, row: Row) {
        self.done += 1;
        self.progress.set(self.done, 1e9 * row.gbps, "B");
        self.rows.push(row);
    }

    /// Has the peers' program measure the same. If it fails, that is noted, and only its rows are missing.
    pub(super) fn measure_peer(&mut self, peers: &Peers, work: &Work) {
        let Limits { fewest, most, time, .. } = self.meter.limits();
        let how = peers::How { seed: self.seed, flush_bytes: self.meter.flush_bytes(), fewest, most, time };
        match peers.measure(work, how) {
            Ok(rows) => self.rows.extend(rows),
            Err(error) => self.note(format!("the peers of {} {}: {error:#}", work.subject.name(), work.number)),
        }
    }
}
