//! `host bench`: measures every rung over sizes, and compares it with the device's own copy (the driver's copy within
//! the device's memory) and with NVIDIA's libraries.
//!
//! [`workbench::bench`] lists the sweeps to measure. [`meter`] times a rung: it warms up, and then measures the median
//! and quartiles by device events, with flushed caches. For small inputs of some algorithms it also times calls in a
//! series. [`table`] shows a run; [`recordings`](crate::recordings) reads, writes and plots it. [`peers`] calls the
//! library of `bench/peers/`. The calls of the library alternate with the runs of the last rungs.
//!
//! A subject that is not an algorithm, such as the cost of a launch, has a function that adds its points.

use std::rc::Rc;

use launch::Device;
use workbench::bench::{Machine, MeasuredPoint, Recording, Scope, Subject, Sweep, recording, sweep, sweeps};

use peers::Peers;
use points::Bench;

pub mod command;
pub mod meter;
pub mod peers;
pub mod scaling;
pub mod subjects;
pub mod table;

mod machine;
mod points;

/// The number of elements of the largest copy whose speed is compared with the rungs.
const LARGEST_COPY: u64 = 1 << 28;

/// Measures `subjects`, and the functions of `peers` that compute the same results as the rungs.
///
/// # Errors
/// If the device fails.
pub fn run(
    device: &Device,
    subjects: &[Subject],
    quick: bool,
    seed: u64,
    peers: Option<Peers>,
) -> anyhow::Result<Recording> {
    let scope = Scope::on(device, quick);
    let mut all_sweeps: Vec<Sweep> = Vec::new();
    // Every run measures the device's own copy, with which the rungs are compared.
    if !subjects.contains(&Subject::Copy) {
        let all = sweeps(Subject::Copy, scope);
        all_sweeps.extend(all.into_iter().map(|sweep| subjects::copy::yardstick(sweep.shapes)));
    }
    all_sweeps.extend(subjects.iter().flat_map(|&subject| sweeps(subject, scope)));
    let mut bench = Bench::new(device, seed, all_sweeps.iter().map(Sweep::points).sum(), peers.map(Rc::new))?;
    let mut clocks = Vec::new();
    for (number, sweep) in all_sweeps.iter().enumerate() {
        subjects::run(&mut bench, sweep)?;
        if number == 0 {
            clocks.extend(machine::clocks(device, "before"));
        }
    }
    clocks.extend(machine::clocks(device, "after"));
    let properties = device.properties()?;
    let datasheet = properties.memory_clock_mhz.zip(properties.memory_bus_bits);
    Ok(Recording {
        device: device.name().to_owned(),
        simulated: device.is_simulated(),
        driver: machine::driver(device)?,
        date: recording::today(),
        compiler: machine::compiler(),
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
        peers: bench.peers.map(|peers| peers.about().clone()),
        seed,
        quick,
        flush_bytes: bench.meter.flush_bytes(),
        series_calls: bench.rows.iter().any(|row| row.series_us.is_some()).then_some(bench.meter.limits.calls),
        copy_gbps: copy_gbps(&bench.rows),
        // The memory has a double data rate: two transfers per cycle.
        datasheet_gbps: datasheet.map(|(mhz, bits)| 2e6 * f64::from(mhz) * f64::from(bits) / 8.0 / 1e9),
        rows: bench.rows,
        left_out: bench.left_out,
    })
}

/// Returns the speed of the device's own copy at the largest size up to [`LARGEST_COPY`].
fn copy_gbps(rows: &[MeasuredPoint]) -> f64 {
    let is_copy = |row: &&MeasuredPoint| row.rung.as_deref() == Some(sweep::DEVICE_COPY);
    let copies = rows.iter().filter(|row| is_copy(row) && row.size <= LARGEST_COPY);
    copies.max_by_key(|row| row.size).map_or(0.0, |row| row.gbps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::{DeviceChoice, Held, Queue, Resources};
    use meter::Limits;
    use points::Point;
    use workbench::WorkbenchError;
    use workbench::algorithm::PreparedRung;
    use workbench::deviation::Deviation;

    /// A rung that records the sets of memory on which it ran; 0 is the rung's own memory.
    struct Noted {
        used: Vec<usize>,
        sets: usize,
    }

    impl Resources for Noted {
        fn hold<'s>(&'s mut self, _held: &mut Held<'s>) {}
    }

    impl PreparedRung for Noted {
        fn run(&mut self, _queue: Queue<'_>) -> Result<(), WorkbenchError> {
            self.used.push(0);
            Ok(())
        }

        fn refresh(&mut self) -> Result<(), WorkbenchError> {
            Ok(())
        }

        fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
            Ok(Deviation::default())
        }

        fn workspace_bytes(&self) -> u64 {
            0
        }

        fn is_for_series(&self) -> bool {
            true
        }

        fn make_sets(&mut self, sets: usize) -> Result<(), WorkbenchError> {
            self.sets = sets;
            Ok(())
        }

        fn run_set(&mut self, set: usize, _queue: Queue<'_>) -> Result<(), WorkbenchError> {
            assert!(set < self.sets);
            self.used.push(set + 1);
            Ok(())
        }
    }

    #[test]
    fn a_last_rung_on_small_inputs_is_measured_in_a_series_of_sets_that_take_turns() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let reduce = Subject::find("reduce").unwrap();
        let work = sweeps(reduce, Scope { quick: false, simulated: true }).swap_remove(0);
        let mut bench = Bench::new(&device, 0, work.points(), None).unwrap();
        let Limits { series, calls, .. } = bench.meter.limits;
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
