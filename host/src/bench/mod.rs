//! `host bench`: every rung over sizes, beside the device's own copy and NVIDIA's libraries.
//!
//! [`works`] says what is measured, [`meter`] how: after runs that warm up, the median and the quartiles of device-event times,
//! with caches that hold something else before every run; for small inputs of some algorithms, also the time per call in a
//! series. [`record`] keeps a run as JSON, [`table`] and [`plots`] show it, and [`peers`] runs the program of `bench/peers/`
//! between our own measurements; its rows stand in the same tables.
//!
//! What is no algorithm, such as the cost of a launch, is a [`works::Subject`] of its own, which makes its rows itself.

use gridstride::MODULES;
use gridstride::algorithm::{Prepared, Shape};
use gridstride::error::AlgorithmError;
use gridstride::inputs;
use launch::{Device, Element};

use crate::report::Bytes;
use crate::report::progress::Progress;
use meter::{Limits, Meter};
use peers::Peers;
use record::{Machine, Recording, Row};
use works::{Scope, Subject, Work};

pub mod command;
pub mod meter;
pub mod peers;
pub mod plots;
pub mod record;
pub mod scaling;
pub mod table;
pub mod works;

mod machine;

/// What to do about a lack of memory on the host.
const REMEDY: &str = "measure with --quick, or on a machine with more";

/// Elements of the copy whose speed all else is compared with.
const LARGEST_COPY: u64 = 1 << 28;

/// The lengths of a last rung that are timed by the host's clock too, and some in a series.
const SEEN_BY_THE_HOST: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 20;

/// Measures the subjects, and with the program `peers` what it has of the same works.
///
/// # Errors
/// When the device fails.
pub fn run(
    device: &Device,
    subjects: &[Subject],
    quick: bool,
    seed: u64,
    peers: Option<&Peers>,
) -> anyhow::Result<Recording> {
    let scope = Scope::on(device, quick);
    let mut works: Vec<Work> = Vec::new();
    // The yardstick is a part of every run.
    if !subjects.contains(&Subject::Copy) {
        let all = works::works(Subject::Copy, scope);
        works.extend(all.into_iter().map(|work| works::copy::yardstick(work.shapes)));
    }
    works.extend(subjects.iter().flat_map(|&subject| works::works(subject, scope)));
    let mut bench = Bench::new(device, seed, works.iter().map(Work::points).sum())?;
    let mut clocks = Vec::new();
    for (number, work) in works.iter().enumerate() {
        work.run(&mut bench)?;
        if number == 0 {
            clocks.extend(machine::clocks(device, "before"));
        }
        if let Some(peers) = peers {
            bench.measure_peer(peers, work);
        }
    }
    clocks.extend(machine::clocks(device, "after"));
    let properties = device.properties()?;
    let datasheet = properties.memory_clock_mhz.zip(properties.memory_bus_bits);
    Ok(Recording {
        device: device.name().to_owned(),
        simulated: device.is_simulated(),
        driver: machine::driver(device)?,
        date: record::today(),
        compiler: compiler(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: None,
        machine: Machine {
            compute_capability: properties.compute_capability.map(|(major, minor)| format!("{major}.{minor}")),
            multiprocessors: properties.multiprocessors,
            memory_bytes: properties.memory_bytes,
            l2_bytes: properties.l2_bytes,
            sm_clock_mhz: properties.clock_mhz,
            memory_clock_mhz: properties.memory_clock_mhz,
            memory_bus_bits: properties.memory_bus_bits,
        },
        clocks,
        peers: peers.map(|peers| peers.about().clone()),
        seed,
        quick,
        flush_bytes: bench.meter.flush_bytes(),
        series_calls: bench.rows.iter().any(|row| row.series_us.is_some()).then_some(bench.meter.limits().calls),
        copy_gbps: copy_gbps(&bench.rows),
        // Two transfers a cycle.
        datasheet_gbps: datasheet.map(|(mhz, bits)| 2e6 * f64::from(mhz) * f64::from(bits) / 8.0 / 1e9),
        rows: bench.rows,
        left_out: bench.left_out,
    })
}

/// The device's own copy at the largest size that every run on a GPU has.
fn copy_gbps(rows: &[Row]) -> f64 {
    let is_copy = |row: &&Row| row.rung.as_deref() == Some(works::copy::DEVICE_COPY);
    let copies = rows.iter().filter(|row| is_copy(row) && row.size <= LARGEST_COPY);
    copies.max_by_key(|row| row.size).map_or(0.0, |row| row.gbps)
}

/// The compiler that the embedded PTX names.
fn compiler() -> Option<String> {
    MODULES.first()?.images.first()?.compiler()
}

/// `n` elements on the host.
fn filled<T: Element>(n: usize, element: impl Fn(usize) -> T + Sync) -> anyhow::Result<Vec<T>> {
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
    setting: Option<String>,
}

impl<'a> Point<'a> {
    /// `rung` at `shape`, which cannot do without reading or writing `bytes`.
    fn new(work: &'a Work, rung: &'static str, is_last: bool, shape: Shape, bytes: u64) -> Self {
        Self { work, rung, is_last, shape, bytes, generations: 1, setting: None }
    }

    /// Whether the host's clock is asked as well.
    fn is_seen_by_the_host(&self) -> bool {
        self.is_last && matches!(self.shape, Shape::Vector(_)) && SEEN_BY_THE_HOST.contains(&self.shape.elements())
    }
}

/// The measurements as they come in.
pub struct Bench {
    meter: Meter,
    seed: u64,
    rows: Vec<Row>,
    left_out: Vec<String>,
    progress: Progress,
    done: u64,
}

impl Bench {
    fn new(device: &Device, seed: u64, points: usize) -> anyhow::Result<Self> {
        let progress = Progress::new(points as u64, "points");
        Ok(Self { meter: Meter::new(device)?, seed, rows: Vec::new(), left_out: Vec::new(), progress, done: 0 })
    }

    fn device(&self) -> Device {
        self.meter.device().clone()
    }

    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the device has room for `bytes`; else it is noted that the size is left out.
    fn has_room(&mut self, work: &Work, shape: Shape, bytes: u64) -> anyhow::Result<bool> {
        let has_room = self.has_room_for(work, shape, "", bytes)?;
        if !has_room {
            self.done += (work.points() / work.shapes.len().max(1)) as u64;
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
    fn leave_out(&mut self, reason: &AlgorithmError) {
        self.note(match reason {
            AlgorithmError::NotOffered { algorithm, kernel, offered, .. } => {
                format!("{algorithm} {kernel} beyond what it offers: {offered}")
            }
            reason => reason.to_string(),
        });
        self.pass_over();
    }

    /// Goes on without a point.
    fn pass_over(&mut self) {
        self.done += 1;
    }

    fn note(&mut self, text: String) {
        if !self.left_out.contains(&text) {
            self.left_out.push(text);
        }
    }

    /// Measures `run` and adds its row.
    fn point<E>(&mut self, point: Point<'_>, run: impl FnMut() -> Result<(), E>) -> anyhow::Result<()>
    where
        E: From<launch::Error> + Into<anyhow::Error>,
    {
        let row = self.measured(&point, run)?;
        self.add(row);
        Ok(())
    }

    /// Measures a rung and adds its row. At the sizes that are timed by the host's clock too, it also times a series of calls,
    /// if the algorithm asks for that; each call of a series has memory of its own.
    fn rung(&mut self, mut point: Point<'_>, prepared: &mut dyn Prepared) -> anyhow::Result<()> {
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
    fn add(&mut self, row: Row) {
        self.done += 1;
        self.progress.set(self.done, 1e9 * row.gbps, "B");
        self.rows.push(row);
    }

    /// Has the peers' program measure the same. If it fails, that is noted, and only its rows are missing.
    fn measure_peer(&mut self, peers: &Peers, work: &Work) {
        let Limits { fewest, most, time, .. } = self.meter.limits();
        let how = peers::How { seed: self.seed, flush_bytes: self.meter.flush_bytes(), fewest, most, time };
        match peers.measure(work, how) {
            Ok(rows) => self.rows.extend(rows),
            Err(error) => self.note(format!("the peers of {} {}: {error:#}", work.subject.name(), work.number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridstride::deviation::Deviation;
    use launch::{DeviceChoice, Held, Queue, Resources};

    /// Records which sets of memory it ran on; 0 is its own.
    struct Noted {
        used: Vec<usize>,
        sets: usize,
    }

    impl Resources for Noted {
        fn hold<'s>(&'s mut self, _held: &mut Held<'s>) {}
    }

    impl Prepared for Noted {
        fn run(&mut self, _queue: Queue<'_>) -> Result<(), AlgorithmError> {
            self.used.push(0);
            Ok(())
        }

        fn refresh(&mut self) -> Result<(), AlgorithmError> {
            Ok(())
        }

        fn compare(&mut self) -> Result<Deviation, AlgorithmError> {
            Ok(Deviation::default())
        }

        fn workspace_bytes(&self) -> u64 {
            0
        }

        fn is_for_series(&self) -> bool {
            true
        }

        fn make_sets(&mut self, sets: usize) -> Result<(), AlgorithmError> {
            self.sets = sets;
            Ok(())
        }

        fn run_set(&mut self, set: usize, _queue: Queue<'_>) -> Result<(), AlgorithmError> {
            assert!(set < self.sets);
            self.used.push(set + 1);
            Ok(())
        }
    }

    #[test]
    fn a_last_rung_on_small_inputs_is_measured_in_a_series_of_sets_that_take_turns() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let reduce = Subject::find("reduce").unwrap();
        let work = works::works(reduce, Scope { quick: false, simulated: true }).swap_remove(0);
        let mut bench = Bench::new(&device, 0, work.points()).unwrap();
        let Limits { series, calls, .. } = bench.meter.limits();
        for (shape, is_last) in work.shapes.iter().flat_map(|&shape| [(shape, false), (shape, true)]) {
            let mut noted = Noted { used: Vec::new(), sets: 0 };
            let point = Point::new(&work, "rung", is_last, shape, 4 * shape.elements() as u64);
            bench.rung(point, &mut noted).unwrap();
            let has_series = is_last && shape.elements() == 1 << 16;
            let row = bench.rows.last().unwrap();
            assert_eq!((row.series_us.is_some(), row.host_us.is_some()), (has_series, has_series), "{row:?}");
            let expected: Vec<usize> =
                if has_series { (1..=calls).cycle().take(series * calls).collect() } else { vec![] };
            assert!(noted.used.iter().filter(|&&set| set > 0).eq(&expected), "{:?}", noted.used);
        }
        assert_eq!(bench.rows.len(), 2 * work.shapes.len());
    }
}
