//! scale as an [`Algorithm`].

use std::str::FromStr;

use cuda_std::{Ladder, Rung};
use launch::{Buffer, Device, Held, LaunchConfig, Queue, Resources};

use super::reference::Product;
use crate::algorithm::{
    Algorithm, Fact, Inputs, Measurement, Options, PreparedRung, Problem, ProblemOption, Shape, rung_of,
};
use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY, RandomVector};
use gridstride::capabilities;
use gridstride::numbers::{NumberType, with_number};
use gridstride::scale::{ScaleElement, ScaleRung, launch, plan};

/// `y = s·x`.
pub struct Scale;

impl Algorithm for Scale {
    fn name(&self) -> &'static str {
        ScaleRung::ALGORITHM
    }

    fn rungs(&self) -> &'static [Rung] {
        ScaleRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure y = s·x and check it\n\n\
         Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator. \
         Bandwidth counts 8 bytes per element, in GB of 10⁹ bytes, and stands beside the speed of the device's own copy in the \
         same run. A result is right if it is the exact product, rounded once to a float or wrapped to an integer."
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
        with_number!(number, [f32 i32], T => Ok(Box::new(Scaling::<T> { s: factor(text)?, n, from, seed })), _ => {
            Err(WorkbenchError::Options(format!("scale has no element type '{number}'")))
        })
    }

    fn measurements(&self) -> Vec<Measurement> {
        vec![Measurement::vectors("f32").ladder(), Measurement::vectors("i32")]
    }

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

fn factor<T: FromStr + ScaleElement>(text: &str) -> Result<T, WorkbenchError> {
    text.parse().ok().filter(|&factor: &T| factor.to_f64().is_finite()).ok_or_else(|| {
        let number = match T::TYPE {
            NumberType::F32 => "a finite number, such as 2.5",
            _ => "a whole number from -2147483648 to 2147483647",
        };
        WorkbenchError::Options(format!("'{text}' is no --factor for {}: it must be {number}", T::TYPE))
    })
}

/// `y = s·x` on a random vector of `n` elements.
struct Scaling<T> {
    s: T,
    n: usize,
    /// The element of their buffers with which the vectors begin.
    from: usize,
    seed: u64,
}

impl<T: ScaleElement + Product> Scaling<T> {
    fn vector(&self) -> RandomVector<T> {
        RandomVector::new(self.seed, 0)
    }
}

impl<T: ScaleElement + Product> Problem for Scaling<T> {
    fn title(&self) -> String {
        format!("scale, {}, n = {}, s = {}{}", T::TYPE, self.n, self.s, inputs::from_element(self.from))
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let factor = ("factor", Fact::Number(self.s.to_f64()));
        let facts = vec![("n", Fact::Count(self.n as u64)), factor, ("type", Fact::Name(T::TYPE.name()))];
        facts.into_iter().chain(inputs::from_fact(self.from)).collect()
    }

    fn elements(&self) -> u64 {
        self.n as u64
    }

    fn bytes(&self) -> u64 {
        (self.n as u64).saturating_mul(2 * size_of::<T>() as u64)
    }

    fn memory_bytes(&self, _device: &Device, _rungs: &[&Rung]) -> u64 {
        self.bytes()
    }

    fn check(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(capabilities::check(rung_of::<ScaleRung>(rung)?, &capabilities::of_type::<T>(), self.n)?)
    }

    fn default_rungs(&self, _device: &Device) -> Vec<&'static Rung> {
        vec![ScaleRung::default_rung(&capabilities::of_type::<T>()).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let mut host = inputs::host_memory(self.n, REMEDY)?;
        self.vector().fill(&mut host);
        let x = inputs::uploaded_from(device, self.from, &host)?;
        Ok(Box::new(OnDevice { problem: self, y: device.alloc(x.len())?, x, host }))
    }
}

struct OnDevice<'p, T: ScaleElement> {
    problem: &'p Scaling<T>,
    x: Buffer<T>,
    y: Buffer<T>,
    host: Vec<T>,
}

impl<T: ScaleElement + Product> Inputs for OnDevice<'_, T> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        let rung = rung_of(rung)?;
        let plan = plan(rung, self.problem.n, self.x.device())?;
        Ok(Box::new(Ready { rung, plan, on: self }))
    }
}

struct Ready<'a, 'p, T: ScaleElement> {
    rung: ScaleRung,
    plan: LaunchConfig,
    on: &'a mut OnDevice<'p, T>,
}

impl<T: ScaleElement> Resources for Ready<'_, '_, T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(&self.on.x);
        self.on.y.hold(held);
    }
}

impl<T: ScaleElement + Product> PreparedRung for Ready<'_, '_, T> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let OnDevice { problem: Scaling { s, n, from, .. }, x, y, .. } = &mut *self.on;
        Ok(launch(queue, self.rung, self.plan, *s, x.view().part(*from, *n), y.view_mut().part(*from, *n))?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.on.y.fill_zero()?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        self.on.y.download_range(self.on.problem.from, &mut self.on.host)?;
        let (s, vector) = (self.on.problem.s, self.on.problem.vector());
        Ok(Deviation::of_exact(&self.on.host, |index| T::product(s, vector.element(index))))
    }

    fn workspace_bytes(&self) -> u64 {
        0
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
