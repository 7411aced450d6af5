//! The functions that are compiled for each pair of an element type and an operator.

use cuda_std::{ArgumentId, Global};
use launch::{Buffer, Device, Queue, Resources};

use super::inputs::{Factor, element};
use super::reference::{self, Answer, Reference};
use crate::inputs::RandomVector;
use gridstride::AlgorithmError;
use gridstride::capabilities::of_operator;
use gridstride::numbers::OperatorName;
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer};
use multi::MultiError;
use multi::reduce::SplitReduction;
use multi::team::Team;

/// The functions of an operator on `T` that a problem calls. The problem itself is compiled once per type.
pub(super) struct Operation<T: Factor> {
    pub(super) operator: OperatorName,
    /// The identity of the kernels' instances: the type and the operator.
    pub(super) instance: [ArgumentId; 2],
    /// Makes a reducer of a plan.
    pub(super) reducer: fn(&Device, Plan) -> MadeReducer<T>,
    /// Makes a reducer of vectors that are split over a team.
    pub(super) split: for<'t> fn(&'t Team<'t>, ReduceRung, &[Buffer<T>]) -> MadeSplitReducer<'t, T>,
    /// Returns the reference's answer for a vector of so many elements.
    pub(super) answer: fn(RandomVector<T>, usize) -> Answer<T>,
}

type MadeReducer<T> = Result<Box<dyn AnyReducer<T>>, AlgorithmError>;
type MadeSplitReducer<'t, T> = Result<Box<dyn AnySplitReducer<T> + 't>, MultiError>;

impl<T: Factor> Operation<T> {
    pub(super) const fn of<O: Reference<T>>() -> Self
    where
        T: ReduceElement<O>,
    {
        Self {
            operator: O::NAME,
            instance: of_operator::<T, O>(),
            reducer: |device, plan| Ok(Box::new(Reducer::<T, O>::with_plan(device, plan)?)),
            split: |team, rung, x| Ok(Box::new(SplitReduction::<T, O>::new(team, rung, x)?)),
            answer: |vector, n| reference::reduce::<T, O>(n, |index| element(O::NAME, vector, n, index)),
        }
    }
}

/// A [`Reducer`] by any operator.
pub(super) trait AnyReducer<T: Factor>: Resources {
    fn run(&mut self, queue: Queue<'_>, x: Global<'_, T>) -> Result<(), AlgorithmError>;
    fn refresh(&mut self) -> Result<(), AlgorithmError>;
    fn result(&self) -> &Buffer<T>;
    fn plan(&self) -> &Plan;
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> AnyReducer<T> for Reducer<T, O> {
    fn run(&mut self, queue: Queue<'_>, x: Global<'_, T>) -> Result<(), AlgorithmError> {
        self.run_view(queue, x).map(drop)
    }

    fn refresh(&mut self) -> Result<(), AlgorithmError> {
        Ok(self.refresh()?)
    }

    fn result(&self) -> &Buffer<T> {
        self.result()
    }

    fn plan(&self) -> &Plan {
        self.plan()
    }
}

/// A [`SplitReduction`] by any operator.
pub(super) trait AnySplitReducer<T: Factor> {
    fn reduce(&mut self, x: &[Buffer<T>]) -> Result<T, MultiError>;
    fn roundings(&self) -> usize;
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> AnySplitReducer<T> for SplitReduction<'_, T, O> {
    fn reduce(&mut self, x: &[Buffer<T>]) -> Result<T, MultiError> {
        self.reduce(x)
    }

    fn roundings(&self) -> usize {
        self.roundings()
    }
}
