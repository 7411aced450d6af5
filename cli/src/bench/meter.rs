//! Times work on a device: single runs with cold caches, by device events or by the host's clock, and series of calls.
//!
//! # Design
//!
//! Before every timed run a kernel reads more bytes than the caches hold. No run then finds its data in a cache. The
//! host enqueues the timed launch while the device still runs that kernel, so that the events measure only the device.
//!
//! Sums and scans of few elements are also timed in a series: 64 calls, launched one after the other between two events
//! on an idle device. Successive calls use different inputs. The inputs together are so large that the L2 cache never
//! holds the input of the next call. If the host takes longer to launch the calls than the device takes to run them,
//! the measured time is the host's time.

use std::time::{Duration, Instant};

pub use explain::Times;
use gpu::probe::U32x4;
use launch::{Device, Error, LaunchConfig};

use workbench::probe::{Arrays, BandwidthKernel, Instance, Measured, full_grid};

/// The limits on the number and duration of timed runs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The minimum number of timed runs.
    pub fewest: usize,
    /// The maximum number of timed runs.
    pub most: usize,
    /// The time after which no further run begins.
    pub time: Duration,
    /// The maximum time of a run that is too short to be timed precisely. If such a run has several steps, such as
    /// generations of Life, the benchmark increases their number.
    pub short: Duration,
    /// The number of timed series.
    pub series: usize,
    /// The number of calls per series.
    pub calls: usize,
}

impl Limits {
    /// The limits for measurements on a GPU.
    pub const GPU: Self = Self {
        fewest: 5,
        most: 401,
        time: Duration::from_millis(300),
        short: Duration::from_millis(10),
        series: 11,
        calls: 64,
    };

    /// The limits for measurements in the simulator, whose times say nothing about a GPU.
    pub const SIMULATOR: Self =
        Self { fewest: 2, most: 3, time: Duration::from_millis(20), short: Duration::ZERO, series: 2, calls: 2 };
}

/// The minimum number of bytes that a kernel reads before each run to flush the caches. A GPU needs at least 60 µs to
/// read them. In this time the host enqueues the run.
const FLUSH_BYTES: u64 = 256 << 20;

/// The number of threads per block of the kernel that flushes the caches.
const FLUSH_BLOCK: u32 = 256;
/// The instance of the kernel that flushes the caches. It loads 16 bytes at a time.
const FLUSH_INSTANCE: Instance<U32x4> = <U32x4 as Measured>::INSTANCES[2];

/// Work that is timed, such as a launch.
pub type Work<'a> = dyn FnMut() -> anyhow::Result<()> + 'a;

/// Times work on a device.
#[derive(Debug)]
pub struct Meter {
    pub(super) device: Device,
    /// The limits on the number and duration of timed runs.
    pub(super) limits: Limits,
    flush: Option<Flush>,
}

/// The memory that is read to flush the caches.
#[derive(Debug)]
struct Flush {
    arrays: Arrays<U32x4>,
    config: LaunchConfig,
    bytes: u64,
}

impl Meter {
    /// Returns a meter for `device`. The simulator has no cache to flush.
    ///
    /// # Errors
    /// If the device fails or has too little memory.
    pub fn new(device: &Device) -> Result<Self, Error> {
        if device.is_simulated() {
            return Ok(Self { device: device.clone(), limits: Limits::SIMULATOR, flush: None });
        }
        let bytes = FLUSH_BYTES.max(2 * device.properties()?.l2_bytes.unwrap_or(0));
        let len = bytes as usize / size_of::<U32x4>();
        let arrays = Arrays { a: device.zeroed(len)?, b: device.alloc(0)?, y: device.alloc(0)? };
        let grid = full_grid(device, (FLUSH_INSTANCE.info)(BandwidthKernel::Read), FLUSH_BLOCK)?;
        let flush = Flush { arrays, config: LaunchConfig::new(grid, FLUSH_BLOCK), bytes };
        Ok(Self { device: device.clone(), limits: Limits::GPU, flush: Some(flush) })
    }

    /// Returns the bytes that are read before each run; 0 in the simulator.
    pub fn flush_bytes(&self) -> u64 {
        self.flush.as_ref().map_or(0, |flush| flush.bytes)
    }

    /// Enqueues the kernel that flushes the caches.
    fn flush(&mut self) -> Result<(), Error> {
        match &mut self.flush {
            Some(Flush { arrays, config, .. }) => {
                (FLUSH_INSTANCE.launch)(&self.device, BandwidthKernel::Read, *config, arrays)
            }
            None => Ok(()),
        }
    }

    /// Times each closure in `works` by device events on a GPU, or by the host's clock in the simulator. The closures
    /// run in turn, so that a change of clock rates affects all of them. Each closure runs once or twice untimed, to
    /// warm up.
    ///
    /// # Errors
    /// The first error that a closure or the device returns.
    pub fn events<const N: usize>(&mut self, mut works: [&mut Work<'_>; N]) -> anyhow::Result<[Times; N]> {
        for work in &mut works {
            work()?;
            if self.flush.is_some() {
                self.once(work)?;
            }
        }
        let limits = Limits { time: self.limits.time * N as u32, ..self.limits };
        let turns = self.repeat(limits, |meter| {
            let mut turn = [Duration::ZERO; N];
            for (time, work) in turn.iter_mut().zip(&mut works) {
                *time = meter.once(work)?;
            }
            Ok(turn)
        })?;
        Ok(std::array::from_fn(|place| Times::of(turns.iter().map(|turn| turn[place]).collect())))
    }

    /// Returns the median time of a few runs, in seconds. An untimed run before them warms up. Callers use this
    /// function to compare many settings.
    ///
    /// # Errors
    /// The first error of the work, or of the device.
    pub fn trial(&mut self, work: &mut Work<'_>) -> anyhow::Result<f64> {
        work()?;
        let limits = Limits { most: self.limits.fewest, ..self.limits };
        Ok(Times::of(self.repeat(limits, |meter| meter.once(work))?).median)
    }

    /// Times one run with cold caches.
    fn once(&mut self, work: &mut Work<'_>) -> anyhow::Result<Duration> {
        self.flush()?;
        let (result, time) = self.device.time(|| Ok(work()))?;
        result?;
        Ok(time)
    }

    /// Returns the median time of `work` by the host's clock, in seconds. The time begins with the launch on an idle
    /// device, and ends when the work has finished.
    ///
    /// # Errors
    /// The first error of the work, or of the device.
    pub fn host(&mut self, work: &mut Work<'_>) -> anyhow::Result<f64> {
        let times = self.repeat(self.limits, |meter| {
            meter.flush()?;
            meter.device.synchronize()?;
            let begun = Instant::now();
            work()?;
            meter.device.synchronize()?;
            Ok(begun.elapsed())
        })?;
        Ok(Times::of(times).median)
    }

    /// Returns the number of different inputs that the calls of a series use in rotation. Each input has `bytes` bytes.
    /// Together the inputs are at least four times as large as the L2 cache. No cache therefore still holds an input
    /// when a later call uses the same input again.
    pub fn turns(&self, bytes: u64) -> usize {
        let enough = (2 * self.flush_bytes()).div_ceil(bytes.max(1));
        self.limits.calls.max(usize::try_from(enough).unwrap_or(usize::MAX))
    }

    /// Returns the median time per call of a series, in seconds. A series is many calls launched one after the other,
    /// beginning on an idle device. If the host takes longer to launch the calls than the device takes to run them,
    /// this is the host's time.
    ///
    /// This function flushes no cache. The calls must therefore rotate among [`turns`](Self::turns) different inputs.
    ///
    /// # Errors
    /// The first error of the work, or of the device.
    pub fn series(&mut self, call: &mut Work<'_>) -> anyhow::Result<f64> {
        let Limits { series, calls, .. } = self.limits;
        let mut one = || -> anyhow::Result<Duration> {
            let (result, time) = self.device.time(|| Ok((0..calls).try_for_each(|_| call())))?;
            result?;
            Ok(time)
        };
        if self.flush.is_some() {
            one()?;
        }
        let times = (0..series).map(|_| one()).collect::<Result<_, _>>()?;
        Ok(Times::of(times).median / calls as f64)
    }

    fn repeat<T>(
        &mut self,
        Limits { fewest, most, time, .. }: Limits,
        mut run: impl FnMut(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<Vec<T>> {
        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < fewest || (times.len() < most && begun.elapsed() < time) {
            times.push(run(self)?);
        }
        Ok(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    #[test]
    fn every_run_is_counted_and_the_first_is_not_timed() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let mut meter = Meter::new(&device).unwrap();
        assert_eq!(meter.flush_bytes(), 0);
        let mut runs = 0;
        let [times] = meter
            .events([&mut || {
                runs += 1;
                Ok(())
            }])
            .unwrap();
        assert_eq!(times.runs + 1, runs);
        assert!(times.low <= times.median && times.median <= times.high);
        assert!(meter.host(&mut || Ok(())).unwrap() >= 0.0);
    }

    #[test]
    fn a_series_is_of_many_calls_and_gives_the_time_of_one() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let mut meter = Meter::new(&device).unwrap();
        let Limits { series, calls, .. } = meter.limits;
        // The simulator has no caches, so a series needs no more inputs than calls.
        assert_eq!([0, 1, 1 << 40].map(|bytes| meter.turns(bytes)), [calls; 3]);
        let mut made = 0;
        let begun = Instant::now();
        let each = meter
            .series(&mut || {
                made += 1;
                std::thread::sleep(Duration::from_millis(2));
                Ok(())
            })
            .unwrap();
        assert_eq!(made, series * calls);
        assert!(each >= 0.002 && each <= begun.elapsed().as_secs_f64() / calls as f64, "{each}");
        let mut made = 0;
        let failing = meter.series(&mut || {
            made += 1;
            Err(Error::LengthMismatch { what: "test", buffer: 1, other: 2 }.into())
        });
        assert!(failing.is_err() && made == 1);
    }
}
