//! The implementation of [`Algorithm`] for scale.

use std::str::FromStr;

use cuda_std::{Ladder, Rung};
use launch::{Device, LaunchConfig, Queue};

use super::reference::Product;
use crate::algorithm::{Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, rung_of};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, RandomVector};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::capabilities;
use gridstride::numbers::{Number, NumberType};
use gridstride::scale::{ScaleElement, ScaleRung, launch, plan};

/// The algorithm scale, which computes `y = s·x`.
pub struct ScaleAlgorithm;

impl Algorithm for ScaleAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        ScaleRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure y = s·x and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. Bandwidth counts 8 bytes per element, in GB of 10⁹ bytes. It is shown beside the speed of the \
         device's own copy in the same run. A result is correct if it is the exact product, rounded once to a float \
         or wrapped to an integer."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const FACTOR: ProblemOption =
            ProblemOption { name: "factor", value: "S", help: "The factor s", default: "3", check: |_| Ok(()) };
        &[FACTOR, ProblemOption::NUMBER, ProblemOption::FROM]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (n, seed) = (shape.elements(), options.seed);
        let number = options.element_type(self.name(), &capabilities::types(self.rungs()))?;
        let (text, from) = (options.get("factor").unwrap_or("3"), options.value("from", 0)?);
        let s = typed!(number, [f32 i32], T => factor::<T>(text).map(Number::to_f64))?;
        Ok(Box::new(ScaleProblem { s, n, from, seed, number }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        vec![Measurement::vectors("f32").ladder(), Measurement::vectors("i32")]
    }
}

fn factor<T: FromStr + ScaleElement>(text: &str) -> Result<T, WorkbenchError> {
    text.parse().ok().filter(|&factor: &T| factor.to_f64().is_finite()).ok_or_else(|| {
        let number = match T::TYPE {
            NumberType::F32 => "a finite number, such as 2.5",
            _ => "a whole number from -2147483648 to 2147483647",
        };
        WorkbenchError::Options(format!("'{text}' is not a --factor for {}: use {number}", T::TYPE))
    })
}

/// The problem of computing `y = s·x` on a random vector of `n` elements.
struct ScaleProblem {
    s: f64,
    n: usize,
    /// The index in the buffers at which the vectors begin.
    from: usize,
    seed: u64,
    number: NumberType,
}

impl VectorProblem for ScaleProblem {
    fn heading(&self) -> String {
        format!("scale, {}, n = {}, s = {}", self.number, self.n, inputs::text(self.number, self.s))
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        let factor = ("factor", Fact::Number(self.s));
        vec![("n", Fact::Count(self.n as u64)), factor, ("type", Fact::Name(self.number.name()))]
    }

    fn ladder(&self) -> &'static [Rung] {
        ScaleRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.number, from: self.from, len: self.n };
        Layouts { x, y: x, accesses: 2 }
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        x.fill_random(self.number, self.seed, 0)
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let rung = rung_of(rung)?;
        Ok(Box::new(ScaleComputation { problem: self, rung, plan: plan(rung, self.n, device)? }))
    }
}

struct ScaleComputation<'p> {
    problem: &'p ScaleProblem,
    rung: ScaleRung,
    plan: LaunchConfig,
}

impl Computation for ScaleComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        typed!(self.problem.number, [f32 i32], T => {
            Ok(launch(queue, self.rung, self.plan, T::from_f64(self.problem.s), x.view()?, y.view_mut()?)?)
        })
    }

    fn compare(&mut self, Vectors { y, host, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        y.download(host)?;
        typed!(self.problem.number, [f32 i32], T => {
            let (s, x) = (T::from_f64(self.problem.s), RandomVector::new(self.problem.seed, 0));
            Ok(Deviation::of_exact(host.elements(), |index| T::product(s, x.element(index))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_numbers_of_the_type() {
        assert_eq!(factor::<f32>("-2.5").unwrap(), -2.5);
        assert_eq!(factor::<i32>("-7").unwrap(), -7);
        for (message, part) in [
            (factor::<f32>("inf").unwrap_err(), "finite"),
            (factor::<f32>("x").unwrap_err(), "f32"),
            (factor::<i32>("2.5").unwrap_err(), "whole number"),
            (factor::<i32>("2147483648").unwrap_err(), "2147483647"),
        ] {
            assert!(message.to_string().contains(part), "{message}");
        }
    }
}
