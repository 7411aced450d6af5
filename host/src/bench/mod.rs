//! `host bench`: every rung over sizes, beside the device's own copy and NVIDIA's libraries.
//!
//! [`works`] says what is measured, [`meter`] how: after runs that warm up, the median and the quartiles of device-event times,
//! with caches that hold something else before every run; for small inputs of some, a call in a series too. [`record`] keeps
//! a run as JSON, [`table`] and [`plots`] show it, and [`peers`] runs the program of `bench/peers/` between our own
//! measurements, whose rows stand in the same tables.
//!
//! What is measured in another way, such as the cost of a launch, is a further [`works::Algorithm`] whose work makes its rows
//! itself, without bytes.

use launch::{Buffer, Device, Element};

use crate::inputs::{self, Inputs};
use crate::modules::MODULES;
use crate::numbers::Number;
use crate::report::Bytes;
use crate::report::progress::Progress;
use crate::rungs::AlgorithmError;
use meter::{Limits, Meter};
use peers::Peers;
use record::{Machine, Recording, Row};
use works::{Algorithm, Scope, Shape, Work};

pub mod command;
pub mod meter;
pub mod peers;
pub mod plots;
pub mod record;
pub mod table;
pub mod works;

mod machine;

/// What to do about a lack of memory on the host.
const REMEDY: &str = "measure with --quick, or on a machine with more";

/// Elements of the copy whose speed all else is compared with.
const LARGEST_COPY: u64 = 1 << 28;

/// The lengths of a last rung that are timed by the host's clock too, and some in a series.
const SEEN_BY_THE_HOST: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 20;

/// Measures the algorithms, and the peers that `peers` has of them.
///
/// # Errors
/// When the device fails.
pub fn run(
    device: &Device,
    algorithms: &[Algorithm],
    quick: bool,
    seed: u64,
    peers: Option<&Peers>,
) -> anyhow::Result<Recording> {
    let scope = Scope::on(device, quick);
    let mut works: Vec<Work> = Vec::new();
    // The yardstick is a part of every run.
    if !algorithms.contains(&Algorithm::Copy) {
        let all = works::works(Algorithm::Copy, scope);
        works.extend(all.into_iter().map(|work| works::copy::yardstick(work.shapes)));
    }
    works.extend(algorithms.iter().flat_map(|&algorithm| works::works(algorithm, scope)));
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
    let image = MODULES.first()?.images.first()?;
    image.ptx.lines().find_map(|line| line.strip_prefix("// compiler: ")).map(str::to_owned)
}

/// `n` elements on the host.
fn filled<T: Element>(n: usize, element: impl Fn(usize) -> T + Sync) -> anyhow::Result<Vec<T>> {
    let mut host = inputs::host_memory(n, REMEDY)?;
    inputs::fill_with(&mut host, element);
    Ok(host)
}

/// The same elements in memory of their own.
fn copied<T: Element>(x: &Buffer<T>) -> Result<Buffer<T>, launch::Error> {
    let mut copy = x.device().alloc(x.len())?;
    copy.copy_from(x)?;
    Ok(copy)
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
        self.is_last && self.shape.height.is_none() && SEEN_BY_THE_HOST.contains(&self.shape.elements())
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

    /// Random elements for the largest size of a work, of which a smaller one takes the first: vector `vector` of the seed.
    fn random<T: Number>(&self, work: &Work, vector: u64) -> anyhow::Result<Vec<T>> {
        let inputs = Inputs::<T>::new(self.seed, vector);
        filled(work.largest(), |index| inputs.element(index))
    }

    /// The same, made of random bits.
    fn random_bits<T: Element>(&self, work: &Work, element: impl Fn(u64) -> T + Sync) -> anyhow::Result<Vec<T>> {
        let inputs = Inputs::<u64>::new(self.seed, 0);
        filled(work.largest(), |index| element(inputs.bits(index)))
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
            let name = work.algorithm.name();
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

    /// Measures `run` on `set`, the memory of a call, and adds its row. Where the host's clock is asked as well, a series of
    /// such calls is measured too, each on a set of its own that `another` makes of the first.
    fn point_and_series<S, E>(
        &mut self,
        point: Point<'_>,
        set: &mut S,
        another: impl Fn(&S) -> Result<S, launch::Error>,
        mut run: impl FnMut(&mut S) -> Result<(), E>,
    ) -> anyhow::Result<()>
    where
        E: From<launch::Error> + Into<anyhow::Error>,
    {
        let mut row = self.measured(&point, || run(set))?;
        let turns = self.meter.turns(point.bytes);
        let bytes = point.bytes.saturating_mul(turns as u64);
        if point.is_seen_by_the_host() && self.has_room_for(point.work, point.shape, " in a series", bytes)? {
            let mut sets = (0..turns).map(|_| another(set)).collect::<Result<Vec<S>, _>>()?;
            let mut turn = 0;
            let seconds = self.meter.series(|| {
                let now = turn;
                turn = (turn + 1) % turns;
                run(&mut sets[now])
            });
            row.series_us = Some(1e6 * seconds.map_err(Into::into)?);
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
            algorithm: work.algorithm.name().to_owned(),
            rung: Some(point.rung.to_owned()),
            peer: None,
            last: point.is_last,
            number: work.number.to_owned(),
            variant: work.variant.map(str::to_owned),
            shape: point.shape.height.map(|_| point.shape.to_string()),
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

    /// Has the peers' program measure the same. That it fails is noted, and costs its rows alone.
    fn measure_peer(&mut self, peers: &Peers, work: &Work) {
        let Limits { fewest, most, time, .. } = self.meter.limits();
        let how = peers::How { seed: self.seed, flush_bytes: self.meter.flush_bytes(), fewest, most, time };
        match peers.measure(work, how) {
            Ok(rows) => self.rows.extend(rows),
            Err(error) => self.note(format!("the peers of {} {}: {error:#}", work.algorithm.name(), work.number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    #[test]
    fn a_last_rung_on_small_inputs_is_measured_in_a_series_of_sets_that_take_turns() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let work = works::works(Algorithm::Reduce, Scope { quick: false, simulated: true }).swap_remove(0);
        let mut bench = Bench::new(&device, 0, work.points()).unwrap();
        let Limits { series, calls, .. } = bench.meter.limits();
        for (shape, is_last) in work.shapes.iter().flat_map(|&shape| [(shape, false), (shape, true)]) {
            let made = std::cell::Cell::new(0);
            let another = |_: &usize| {
                made.set(made.get() + 1);
                Ok(made.get())
            };
            let mut used = Vec::new();
            let point = Point::new(&work, "rung", is_last, shape, 4 * shape.elements() as u64);
            let run = |set: &mut usize| {
                used.push(*set);
                Ok::<_, launch::Error>(())
            };
            bench.point_and_series(point, &mut 0, another, run).unwrap();
            let has_series = is_last && shape.elements() == 1 << 16;
            let row = bench.rows.last().unwrap();
            assert_eq!((row.series_us.is_some(), row.host_us.is_some()), (has_series, has_series), "{row:?}");
            let expected: Vec<usize> =
                if has_series { (1..=calls).cycle().take(series * calls).collect() } else { vec![] };
            assert!(used.iter().filter(|&&set| set > 0).eq(&expected), "{used:?}");
        }
        assert_eq!(bench.rows.len(), 2 * work.shapes.len());
    }
}
