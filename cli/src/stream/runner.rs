//! Runs each program and checks its results.

use std::num::NonZeroUsize;

use anyhow::Context;
use launch::{Device, PinnedBuffer};

use super::A;
use super::report::{Report, Runs};
use crate::measure;
use workbench::deviation::Deviation;
use workbench::inputs::{self, RandomVector};
use workbench::saxpy::reference;
use workbench::stream::{DeviceVectors, Link, Times, mapped};

/// The remedy for too little memory.
pub(super) const FEWER: &str = "use fewer elements with --n";

/// Measures [`DeviceVectors::in_stages`] on vectors of `n` elements. The report has a row for each number of chunks:
/// the median of `runs` runs after one that warms up.
///
/// # Errors
/// If the device fails or has too little memory, or a result is wrong.
pub fn measure(device: &Device, n: usize, chunks: &[usize], runs: usize, seed: u64) -> anyhow::Result<Report> {
    measure::check_memory(device, (n as u64).saturating_mul(8), FEWER)?;
    let mut report = Report::new(device.name(), "stages", n, seed, Link::measure(device, runs)?);
    Runner::new(device, n, runs, seed).stages(chunks)?.into_iter().for_each(|runs| report.add(runs));
    report.check()?;
    Ok(report)
}

/// Runs the programs on vectors of one length.
pub(super) struct Runner<'a> {
    device: &'a Device,
    n: usize,
    runs: usize,
    inputs: [RandomVector<f32>; 2],
}

impl<'a> Runner<'a> {
    pub(super) fn new(device: &'a Device, n: usize, runs: usize, seed: u64) -> Self {
        Self { device, n, runs, inputs: [0, 1].map(|vector| RandomVector::new(seed, vector)) }
    }

    pub(super) fn synchronous(&self) -> anyhow::Result<Runs> {
        let host = || inputs::host_memory::<f32>(self.n, FEWER);
        let (mut x, mut y, mut out) = (host()?, host()?, host()?);
        self.fill(&mut x, &mut y);
        let mut vectors = DeviceVectors::new(self.device, self.n)?;
        let mut runs = Runs::new(None, None);
        for run in 0..=self.runs {
            out.fill(f32::NAN);
            let times = vectors.synchronous(A, &x, &y, &mut out)?;
            runs.add(run, times, self.deviation(&out));
        }
        Ok(runs)
    }

    /// Runs the program with each number of streams, and with `chunks` chunks or one per stream.
    pub(super) fn streams(&self, counts: &[usize], chunks: Option<usize>) -> anyhow::Result<Vec<Runs>> {
        let mut memory = Memory::new(self)?;
        let row = |&streams: &usize| {
            let chunks = chunks.unwrap_or(streams);
            let counts = (not_zero(streams)?, not_zero(chunks)?);
            memory.runs(self, Runs::new(Some(streams), Some(chunks)), |Memory { vectors, x, y, out }| {
                vectors.in_chunks(counts.0, counts.1, A, x, y, out)
            })
        };
        counts.iter().map(row).collect()
    }

    /// Runs the program of stages with each number of chunks.
    pub(super) fn stages(&self, counts: &[usize]) -> anyhow::Result<Vec<Runs>> {
        let mut memory = Memory::new(self)?;
        let row = |&chunks: &usize| {
            let count = not_zero(chunks)?;
            memory.runs(self, Runs::new(None, Some(chunks)), |Memory { vectors, x, y, out }| {
                vectors.in_stages(count, A, x, y, out)
            })
        };
        counts.iter().map(row).collect()
    }

    pub(super) fn mapped(&self) -> anyhow::Result<Runs> {
        let (mut x, mut y) = (self.device.mapped(self.n)?, self.device.mapped(self.n)?);
        let mut runs = Runs::new(None, None);
        for run in 0..=self.runs {
            self.fill(x.as_mut_slice()?, y.as_mut_slice()?);
            let times = mapped(A, &x, &mut y)?;
            runs.add(run, times, self.deviation(y.as_slice()?));
        }
        Ok(runs)
    }

    fn fill(&self, x: &mut [f32], y: &mut [f32]) {
        let [input_x, input_y] = self.inputs;
        input_x.fill(x);
        input_y.fill(y);
    }

    fn deviation(&self, found: &[f32]) -> Deviation {
        let [x, y] = self.inputs;
        reference::deviation(A, x, y, found)
    }
}

/// The vectors in device memory, and the page-locked vectors in host memory.
struct Memory {
    vectors: DeviceVectors,
    x: PinnedBuffer<f32>,
    y: PinnedBuffer<f32>,
    out: PinnedBuffer<f32>,
}

impl Memory {
    fn new(runner: &Runner<'_>) -> anyhow::Result<Self> {
        let pinned = || runner.device.pinned::<f32>(runner.n);
        let (mut x, mut y, out) = (pinned()?, pinned()?, pinned()?);
        runner.fill(&mut x, &mut y);
        Ok(Self { vectors: DeviceVectors::new(runner.device, runner.n)?, x, y, out })
    }

    /// Runs `program` once to warm up and then `runner.runs` times, and adds all runs to `runs`.
    fn runs(
        &mut self,
        runner: &Runner<'_>,
        mut runs: Runs,
        mut program: impl FnMut(&mut Self) -> Result<Times, launch::Error>,
    ) -> anyhow::Result<Runs> {
        for run in 0..=runner.runs {
            self.out.fill(f32::NAN);
            let times = program(self)?;
            runs.add(run, times, runner.deviation(&self.out));
        }
        Ok(runs)
    }
}

fn not_zero(count: usize) -> anyhow::Result<NonZeroUsize> {
    NonZeroUsize::new(count).context("at least one stream and one chunk are needed")
}
