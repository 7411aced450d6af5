//! The matrix product on teams of devices: the measurement, and the work of the command.

use std::ops::Range;

use cuda_std::bf16;
use launch::{Buffer, TensorElement};

use super::problem::MatmulProblem;
use super::reference::Product;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::RandomVector;
use crate::scaling::{ScalingMeasurement, SplitWork, pattern};
use crate::vectors::{HostVector, Layouts, VectorProblem as _};
use gridstride::matmul::{Layout, MatmulElement, MatmulOptions, MatmulRung};
use gridstride::numbers::Number;
use multi::matmul::SplitMatmul;
use multi::team::{Repeated, Team};

/// Returns the measurements of the product on teams of devices.
pub(super) fn measurements() -> Vec<ScalingMeasurement> {
    // A member has its rows of A and C, its panel of B, and two other panels.
    let product = ScalingMeasurement::new("bf16", 4.0, 10.0, |team, n| Squares::prepare(team, n));
    vec![ScalingMeasurement { whole: |n| n / width(n) * width(n), ..product }]
}

/// The number of columns of *B* and *C*, and the length of the sums, of the measured products.
const WIDTH: usize = 16384;

/// The same for products of fewer than [`MIN_ELEMENTS`] elements.
const SMALL_WIDTH: usize = 64;

/// The smallest number of elements of *C* of a product of the width [`WIDTH`].
const MIN_ELEMENTS: usize = 1 << 26;

fn width(n: usize) -> usize {
    if n < MIN_ELEMENTS { SMALL_WIDTH } else { WIDTH }
}

/// The number of elements of each part of the result that are compared.
const SAMPLES: usize = 1024;

/// The work of multiplying matrices of small whole numbers. *B* has as many rows as columns and is transposed, so that
/// the elements of *A* and *B* along *k* are adjacent, and those of each part are a part of a repeated pattern.
struct Squares<'t> {
    team: &'t Team<'t>,
    rows: usize,
    width: usize,
    patterns: [Repeated<bf16>; 2],
    a: Vec<Buffer<bf16>>,
    b: Vec<Buffer<bf16>>,
    c: Vec<Buffer<bf16>>,
    product: SplitMatmul<'t, bf16>,
}

impl<'t> Squares<'t> {
    /// Prepares the product whose result has the largest number of whole rows with at most `n` elements.
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        // Sums of these products do not round in f32.
        let patterns = [0, 1].map(|vector| pattern(vector, |bits| bf16::from_f64((bits % 17) as f64 - 8.0)));
        let (width, rows) = (width(n), n / width(n));
        let options = MatmulOptions::new(Layout::row_major(rows, width), Layout::row_major(width, width).t());
        let lens = |size: usize| team.segments(size).map(|part| part.len()).collect::<Vec<_>>();
        let product = SplitMatmul::with_options(team, &options, &lens(rows), &lens(width))?;
        let parts = |lines: usize, pattern: Option<&Repeated<bf16>>| -> Result<Vec<_>, WorkbenchError> {
            let parts = team.devices().iter().zip(team.segments(lines)).map(|(device, lines)| {
                let mut buffer = device.alloc(lines.len() * width)?;
                pattern.map_or(Ok(()), |pattern| pattern.fill(&mut buffer, lines.start * width))?;
                Ok(buffer)
            });
            parts.collect()
        };
        let [a, b, c] = [(rows, Some(&patterns[0])), (width, Some(&patterns[1])), (rows, None)]
            .map(|(lines, pattern)| parts(lines, pattern));
        let (a, b, c) = (a?, b?, c?);
        Ok(Box::new(Self { team, rows, width, patterns, a, b, c, product }))
    }
}

impl SplitWork for Squares<'_> {
    fn operations(&self) -> Option<u64> {
        Some(2 * (self.rows * self.width) as u64 * self.width as u64)
    }

    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.product.run(&self.a, &self.b, &mut self.c)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        self.c.iter_mut().try_for_each(Buffer::fill_zero)?;
        self.run()?;
        let (random, [a, b], mut deviation) = (RandomVector::<u64>::new(0, 9), &self.patterns, Deviation::default());
        for (part, rows) in self.c.iter().zip(self.team.segments(self.rows)) {
            let samples = (0..SAMPLES).map(|number| (random.bits(number) % part.len().max(1) as u64) as usize);
            for at in samples.chain([0, part.len().saturating_sub(1)]).filter(|_| !part.is_empty()) {
                let mut found = [bf16::ZERO];
                part.download_range(at, &mut found)?;
                let (row, column) = (rows.start + at / self.width, at % self.width);
                let product = |i: usize| {
                    let (a, b) = (a.element(row * self.width + i), b.element(column * self.width + i));
                    a.to_f64() * b.to_f64()
                };
                let expected = bf16::from_f64((0..self.width).map(product).sum());
                deviation.add_exact(row * self.width + column, found[0], expected);
            }
        }
        Ok(deviation)
    }
}

/// The work of a product of random matrices that are split over a team of devices.
pub(super) struct Split<'a, T: MatmulElement> {
    problem: &'a MatmulProblem,
    team: &'a Team<'a>,
    a: Vec<Buffer<T>>,
    b: Vec<Buffer<T>>,
    c: Vec<Buffer<T::Result>>,
    product: SplitMatmul<'a, T>,
}

impl<'a, T: Number + MatmulElement<Result: Number + TensorElement>> Split<'a, T> {
    pub(super) fn boxed(
        problem: &'a MatmulProblem,
        team: &'a Team<'a>,
        rung: MatmulRung,
    ) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        let [m, n, _] = problem.sizes;
        let [rows, columns] = [m, n].map(|size| team.segments(size).map(|part| part.len()).collect::<Vec<_>>());
        let product = SplitMatmul::with_options(team, &problem.options(Some(rung)), &rows, &columns)?;
        let c = team.devices().iter().zip(rows).map(|(device, rows)| device.alloc(rows * n));
        let (a, b, c) = (Vec::new(), Vec::new(), c.collect::<Result<_, _>>()?);
        let mut split = Self { problem, team, a, b, c, product };
        split.upload(false)?;
        Ok(Box::new(split))
    }

    /// Uploads the operands for measurements, or the exact ones, and returns those of the whole product.
    fn upload(&mut self, is_exact: bool) -> Result<HostVector, WorkbenchError> {
        let Layouts { x, .. } = self.problem.layouts();
        let mut host = HostVector::new(x.number, x.len)?;
        self.problem.fill(is_exact, &mut host)?;
        let Product { operands: [a, b], layouts: [of_a, of_b], .. } = self.problem.reference::<T>(&host, is_exact);
        let [m, n, k] = self.problem.sizes;
        let devices = self.team.devices().iter();
        let rows = devices.clone().zip(self.team.segments(m));
        let columns = devices.zip(self.team.segments(n));
        self.a = rows.map(|(device, rows)| device.upload(&part(a, of_a, rows, 0..k))).collect::<Result<_, _>>()?;
        self.b = columns.map(|(device, own)| device.upload(&part(b, of_b, 0..k, own))).collect::<Result<_, _>>()?;
        Ok(host)
    }
}

/// Returns the elements of some rows and columns of a matrix without gaps, in the order of their addresses.
fn part<T: Copy>(x: &[T], layout: Layout, rows: Range<usize>, columns: Range<usize>) -> Vec<T> {
    let (lines, within, len) =
        if layout.is_transposed() { (columns, rows, layout.rows()) } else { (rows, columns, layout.columns()) };
    lines.flat_map(|line| &x[line * len..][within.clone()]).copied().collect()
}

impl<T: Number + MatmulElement<Result: Number + TensorElement>> SplitWork for Split<'_, T> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.product.run(&self.a, &self.b, &mut self.c)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let mut deviation = Deviation::default();
        for is_exact in [true, false] {
            let host = self.upload(is_exact)?;
            self.c.iter_mut().try_for_each(Buffer::fill_zero)?;
            self.run()?;
            let product: Product<'_, T> = self.problem.reference(&host, is_exact);
            for (c, rows) in self.c.iter().zip(self.team.segments(self.problem.sizes[0])) {
                deviation = deviation.merge(product.deviation_from(rows.start, &c.download()?));
            }
        }
        Ok(deviation)
    }
}
