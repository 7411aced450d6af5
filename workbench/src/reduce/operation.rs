//! The functions of reduce that are compiled for each pair of an element type and an operator.

use cuda_std::ArgumentId;
use launch::{Device, Queue, Resources};

use super::inputs::{Factor, element};
use super::reference::{self, Answer, Reference};
use super::scaling::SplitReduce;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::RandomVector;
use crate::scaling::SplitWork;
use crate::vectors::{DeviceVector, HostVector};
use gridstride::capabilities::of_operator;
use gridstride::numbers::{NumberType, OperatorName};
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer, before_first_vector};
use multi::team::Team;

/// The functions of reduce for an element type and an operator.
pub(super) struct Operation {
    pub(super) operator: OperatorName,
    pub(super) number: NumberType,
    /// The generic arguments of the kernels: the type and the operator.
    pub(super) instance: [ArgumentId; 2],
    /// Creates a reducer that follows a plan.
    pub(super) reducer: fn(&Device, Plan) -> MadeReducer,
    /// Prepares a reduction on a team of devices, for a number of elements and a seed.
    pub(super) split: Split,
    /// Creates the [`Judge`] of a result, for a seed and a number of elements.
    pub(super) judge: fn(u64, usize) -> Judge,
}

type MadeReducer = Result<Box<dyn AnyReducer>, WorkbenchError>;
type Split = for<'t> fn(&'t Team<'t>, ReduceRung, usize, u64) -> Result<Box<dyn SplitWork + 't>, WorkbenchError>;

/// A function that compares a result with the reference. Its second argument is the largest number of roundings on a
/// path from an element to the result.
pub(super) type Judge = Box<dyn Fn(&HostVector, usize) -> Deviation + Send + Sync>;

impl Operation {
    pub(super) const fn of<T: Factor + ReduceElement<O>, O: Reference<T>>() -> Self {
        Self {
            operator: O::NAME,
            number: T::TYPE,
            instance: of_operator::<T, O>(),
            reducer: |device, plan| Ok(Box::new(Reducer::<T, O>::with_plan(device, plan)?)),
            split: |team, rung, n, seed| {
                let x = team.filled(n, |index| element(O::NAME, RandomVector::<T>::new(seed, 0), n, index))?;
                SplitReduce::<T, O>::boxed(team, rung, x, answer::<T, O>(seed, n))
            },
            judge: |seed, n| {
                let answer = answer::<T, O>(seed, n);
                Box::new(move |found, roundings| answer.deviation(found.elements()[0], roundings))
            },
        }
    }
}

/// Returns the reference result for `n` elements of `seed`.
fn answer<T: Factor, O: Reference<T>>(seed: u64, n: usize) -> Answer<T> {
    reference::reduce::<T, O>(n, |index| element(O::NAME, RandomVector::new(seed, 0), n, index))
}

/// A [`Reducer`] of any element type and operator.
pub(super) trait AnyReducer: Resources {
    fn run(&mut self, queue: Queue<'_>, x: &DeviceVector) -> Result<(), WorkbenchError>;
    fn reset(&mut self) -> Result<(), WorkbenchError>;
    fn plan(&self) -> &Plan;

    /// Copies the result of a run on `x` to `into`. Returns the largest number of roundings on a path from an element
    /// to the result.
    fn result(&self, x: &DeviceVector, into: &mut HostVector) -> Result<usize, WorkbenchError>;
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> AnyReducer for Reducer<T, O> {
    fn run(&mut self, queue: Queue<'_>, x: &DeviceVector) -> Result<(), WorkbenchError> {
        Ok(self.run_view(queue, x.view()?).map(drop)?)
    }

    fn reset(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.refresh()?)
    }

    fn plan(&self) -> &Plan {
        self.plan()
    }

    fn result(&self, x: &DeviceVector, into: &mut HostVector) -> Result<usize, WorkbenchError> {
        self.result().download_into(into.elements_mut())?;
        Ok(self.plan().roundings_from(before_first_vector(x.view::<T>()?)))
    }
}
