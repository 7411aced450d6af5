//! Times of a point: runs with cold caches by device events, and by the host's clock; and calls in a series.
//!
//! # Design
//!
//! Before every timed run a kernel reads more bytes than the caches hold. No run then finds its data in a cache, and
//! the host enqueues the launch before the device is ready for it: events see the device's time alone.
//!
//! Sums and scans of few elements are also timed in a series: 64 calls launched one after the other between two events,
//! starting on an idle device. Successive calls take turns over so many inputs that the L2 holds none of the next one.
//! Where launching takes the host longer than the work takes the device, this figure is the host's time.

use std::time::{Duration, Instant};

use gpu::probe::U32x4;
use launch::{Device, Error, LaunchConfig};

use workbench::probe::{Arrays, BandwidthKernel, Instance, Measured, full_grid};

/// Timed runs of a point: at least so many, and more as long as they are short.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At least.
    pub fewest: usize,
    /// At most.
    pub most: usize,
    /// No further run begins after this.
    pub time: Duration,
    /// A run of several generations that takes no longer than this is made longer.
    pub short: Duration,
    /// Timed series of a point.
    pub series: usize,
    /// Calls of each.
    pub calls: usize,
}

impl Limits {
    /// On a GPU.
    pub const GPU: Self = Self {
        fewest: 5,
        most: 401,
        time: Duration::from_millis(300),
        short: Duration::from_millis(10),
        series: 11,
        calls: 64,
    };

    /// In the simulator, whose times mean nothing.
    pub const SIMULATOR: Self =
        Self { fewest: 2, most: 3, time: Duration::from_millis(20), short: Duration::ZERO, series: 2, calls: 2 };
}

/// Bytes read between two runs, at least. It takes a GPU some 60 µs and more: time for the host to hand over the run,
/// so that what is measured is the device's time alone.
const FLUSH_BYTES: u64 = 256 << 20;

/// Threads of a block of the kernel that flushes, and the instance of 16-byte loads that it is.
const FLUSH_BLOCK: u32 = 256;
const FLUSH_INSTANCE: Instance<U32x4> = <U32x4 as Measured>::INSTANCES[2];

/// The quartiles of a point's times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// Timed runs.
    pub runs: usize,
    /// The first quartile, in seconds.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub high: f64,
}

impl Times {
    /// Of at least one time.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |index: usize| times.get(index).map_or(0.0, Duration::as_secs_f64);
        Self { runs: times.len(), low: at(times.len() / 4), median: at(times.len() / 2), high: at(times.len() * 3 / 4) }
    }
}

/// Measures on a device.
#[derive(Debug)]
pub struct Meter {
    device: Device,
    limits: Limits,
    flush: Option<Flush>,
}

/// What is read so that the caches hold nothing else.
#[derive(Debug)]
struct Flush {
    arrays: Arrays<U32x4>,
    config: LaunchConfig,
    bytes: u64,
}

impl Meter {
    /// For `device`. In the simulator there is no cache to flush.
    ///
    /// # Errors
    /// When the device fails or has no memory left.
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

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many runs there are.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Bytes read before each run.
    pub fn flush_bytes(&self) -> u64 {
        self.flush.as_ref().map_or(0, |flush| flush.bytes)
    }

    /// Fills the caches with something else. On a GPU it returns at once.
    fn flush(&mut self) -> Result<(), Error> {
        match &mut self.flush {
            Some(Flush { arrays, config, .. }) => {
                (FLUSH_INSTANCE.launch)(&self.device, BandwidthKernel::Read, *config, arrays)
            }
            None => Ok(()),
        }
    }

    /// The times of `work` run by run, after a run that warms up, and one more where there are caches to flush: by
    /// device events on a GPU, by the clock in the simulator.
    ///
    /// # Errors
    /// The first error of `work`, or of the device.
    pub fn events<E: From<Error>>(&mut self, mut work: impl FnMut() -> Result<(), E>) -> Result<Times, E> {
        Ok(Times::of(self.in_turns([&mut work])?.into_iter().flatten().collect()))
    }

    /// As [`events`](Self::events), of two works that take turns, so that what changes while they are measured changes
    /// for both.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn events_of_both<E: From<Error>>(
        &mut self,
        mut one: impl FnMut() -> Result<(), E>,
        mut other: impl FnMut() -> Result<(), E>,
    ) -> Result<[Times; 2], E> {
        let times = self.in_turns([&mut one, &mut other])?;
        Ok([0, 1].map(|place| Times::of(times.iter().map(|turn| turn[place]).collect())))
    }

    fn in_turns<E: From<Error>, const N: usize>(
        &mut self,
        mut works: [&mut dyn FnMut() -> Result<(), E>; N],
    ) -> Result<Vec<[Duration; N]>, E> {
        for work in &mut works {
            work()?;
            if self.flush.is_some() {
                self.once(work)?;
            }
        }
        let limits = Limits { time: self.limits.time * N as u32, ..self.limits };
        self.repeat(limits, |meter| {
            let mut turn = [Duration::ZERO; N];
            for (time, work) in turn.iter_mut().zip(&mut works) {
                *time = meter.once(work)?;
            }
            Ok(turn)
        })
    }

    /// The median of few runs after one that warms up, in seconds: to choose among many settings.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn trial<E: From<Error>>(&mut self, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
        work()?;
        let limits = Limits { most: self.limits.fewest, ..self.limits };
        Ok(Times::of(self.repeat(limits, |meter| meter.once(&mut work))?).median)
    }

    /// One run with cold caches.
    fn once<E: From<Error>>(&mut self, work: &mut impl FnMut() -> Result<(), E>) -> Result<Duration, E> {
        self.flush()?;
        let (result, time) = self.device.time(|| Ok(work()))?;
        result.map(|()| time)
    }

    /// The median of what the host waits for `work`, in seconds: from its launch to its end, with the device idle
    /// before.
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn host<E: From<Error>>(&mut self, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
        let times = self.repeat(self.limits, |meter| {
            meter.flush()?;
            meter.device.synchronize()?;
            let begun = Instant::now();
            work()?;
            meter.device.synchronize()?;
            Ok::<_, E>(begun.elapsed())
        })?;
        Ok(Times::of(times).median)
    }

    /// How many calls take turns in a series, each with `bytes` of its own: so many that the caches hold nothing of a
    /// call when its turn comes again. They have four times the L2 cache together, and more.
    pub fn turns(&self, bytes: u64) -> usize {
        let enough = (2 * self.flush_bytes()).div_ceil(bytes.max(1));
        self.limits.calls.max(usize::try_from(enough).unwrap_or(usize::MAX))
    }

    /// The median of what one of many calls takes, in seconds: calls that are launched one after the other, from an
    /// idle device on, divided by their number. It is the host's time where the host takes longer to launch than the
    /// device to run.
    ///
    /// No cache is flushed: each `call` has to find data of its own, in [`turns`](Self::turns).
    ///
    /// # Errors
    /// As for [`events`](Self::events).
    pub fn series<E: From<Error>>(&mut self, mut call: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
        let Limits { series, calls, .. } = self.limits;
        let mut one = || {
            let (result, time) = self.device.time(|| Ok((0..calls).try_for_each(|_| call())))?;
            result.map(|()| time)
        };
        if self.flush.is_some() {
            one()?;
        }
        let times = (0..series).map(|_| one()).collect::<Result<_, E>>()?;
        Ok(Times::of(times).median / calls as f64)
    }

    fn repeat<T, E>(
        &mut self,
        Limits { fewest, most, time, .. }: Limits,
        mut run: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
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
    fn quartiles_are_of_the_sorted_times() {
        let millis = |all: &[u64]| Times::of(all.iter().copied().map(Duration::from_millis).collect());
        let times = millis(&[5, 1, 4, 2, 3]);
        assert_eq!([times.low, times.median, times.high], [0.002, 0.003, 0.004]);
        assert_eq!(times.runs, 5);
        let one = millis(&[7]);
        assert_eq!([one.low, one.median, one.high], [0.007; 3]);
    }

    #[test]
    fn every_run_is_counted_and_the_first_is_not_timed() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let mut meter = Meter::new(&device).unwrap();
        assert_eq!(meter.flush_bytes(), 0);
        let mut runs = 0;
        let times = meter
            .events(|| {
                runs += 1;
                Ok::<_, Error>(())
            })
            .unwrap();
        assert_eq!(times.runs + 1, runs);
        assert!(times.low <= times.median && times.median <= times.high);
        assert!(meter.host(|| Ok::<_, Error>(())).unwrap() >= 0.0);
    }

    #[test]
    fn a_series_is_of_many_calls_and_gives_the_time_of_one() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let mut meter = Meter::new(&device).unwrap();
        let Limits { series, calls, .. } = meter.limits();
        // Without caches, as many turns as calls are enough.
        assert_eq!([0, 1, 1 << 40].map(|bytes| meter.turns(bytes)), [calls; 3]);
        let mut made = 0;
        let begun = Instant::now();
        let each = meter
            .series(|| {
                made += 1;
                std::thread::sleep(Duration::from_millis(2));
                Ok::<_, Error>(())
            })
            .unwrap();
        assert_eq!(made, series * calls);
        assert!(each >= 0.002 && each <= begun.elapsed().as_secs_f64() / calls as f64, "{each}");
        let mut made = 0;
        let failing = meter.series(|| {
            made += 1;
            Err(Error::LengthMismatch { what: "test", buffer: 1, other: 2 })
        });
        assert!(failing.is_err() && made == 1);
    }
}
