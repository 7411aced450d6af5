//! The functions of reduce that are compiled for each pair of an element type and an operator.

use std::str::FromStr;

use cuda_std::{ArgumentId, Zeroable};
use launch::{Device, Held, Queue, Resources};

use super::inputs::{Factor, element};
use super::reference::{self, Answer, Reference};
use super::scaling::SplitReduce;
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::RandomVector;
use crate::scaling::SplitWork;
use crate::vectors::{DeviceVector, HostVector};
use gridstride::capabilities::of_operator;
use gridstride::numbers::{NumberType, OperatorName};
use gridstride::reduce::{
    ArgMax, ArgMin, Indexed, Plan, ReduceElement, ReduceInput, ReduceRung, Reducer, before_first_vector,
};
use multi::team::Team;
use units::alternatives;

/// The reduction that a user selects: an operator, or the position of an extreme element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reduction {
    Operator(OperatorName),
    ArgMin,
    ArgMax,
}

impl Reduction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Operator(operator) => operator.name(),
            Self::ArgMin => "argmin",
            Self::ArgMax => "argmax",
        }
    }

    /// Returns the operator whose inputs the reduction takes.
    pub(super) fn of_inputs(self) -> OperatorName {
        match self {
            Self::Operator(operator) => operator,
            Self::ArgMin => OperatorName::Min,
            Self::ArgMax => OperatorName::Max,
        }
    }
}

impl FromStr for Reduction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let operators = OperatorName::ALL.iter().copied().map(Self::Operator);
        let mut all = operators.chain([Self::ArgMin, Self::ArgMax]);
        all.clone().find(|reduction| reduction.name() == text).ok_or_else(|| {
            let names: Vec<&str> = all.by_ref().map(Self::name).collect();
            format!("there is no operator '{text}': use {}", alternatives(&names))
        })
    }
}

/// The functions of reduce for an element type and a reduction.
pub(super) struct Operation {
    pub(super) reduction: Reduction,
    pub(super) number: NumberType,
    /// The type of the result that [`AnyReducer::result`] stores.
    pub(super) result: NumberType,
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
            reduction: Reduction::Operator(O::NAME),
            number: T::TYPE,
            result: T::TYPE,
            instance: of_operator::<T, O>(),
            reducer: |device, plan| Ok(Box::new(Reducer::<T, O>::with_plan(device, plan)?)),
            split: |team, rung, n, seed| {
                if matches!(T::TYPE, NumberType::F16 | NumberType::Bf16) {
                    return invalid!("reduce checks {} on one device: choose one device, or the type f32", T::TYPE);
                }
                let x = team.filled(n, |index| element(O::NAME, RandomVector::<T>::new(seed, 0), n, index))?;
                SplitReduce::<T, O>::boxed(team, rung, x, answer::<T, O>(seed, n))
            },
            judge: |seed, n| {
                let answer = answer::<T, O>(seed, n);
                Box::new(move |found, roundings| answer.deviation(found.elements()[0], roundings))
            },
        }
    }

    /// Returns the functions that find the position of the least element, by `ArgMin`.
    pub(super) const fn least<T: Factor + ReduceInput<ArgMin, Output = Indexed<T>>>() -> Self {
        Self::position::<T, ArgMin>(Reduction::ArgMin, |seed, n| judge_position::<T>(seed, n, |a, b| a < b))
    }

    /// Returns the functions that find the position of the greatest element, by `ArgMax`.
    pub(super) const fn greatest<T: Factor + ReduceInput<ArgMax, Output = Indexed<T>>>() -> Self {
        Self::position::<T, ArgMax>(Reduction::ArgMax, |seed, n| judge_position::<T>(seed, n, |a, b| a > b))
    }

    const fn position<T: Factor + ReduceInput<O, Output = Indexed<T>>, O: 'static>(
        reduction: Reduction,
        judge: fn(u64, usize) -> Judge,
    ) -> Self {
        Self {
            reduction,
            number: T::TYPE,
            result: NumberType::U64,
            instance: of_operator::<T, O>(),
            reducer: |device, plan| Ok(Box::new(Position(Reducer::<T, O>::with_plan(device, plan)?))),
            split: |_, _, _, _| invalid!("a position is found on one device: choose one device"),
            judge,
        }
    }
}

/// Returns the comparison with the first position, for `n` elements of `seed`.
fn judge_position<T: Factor>(seed: u64, n: usize, precedes: fn(T, T) -> bool) -> Judge {
    let vector = RandomVector::<T>::new(seed, 0);
    let first = reference::first_position(n, |index| vector.element(index), precedes);
    let first = first.map_or(Indexed::<T>::NONE, |index| index as u64);
    Box::new(move |found, _| {
        let mut deviation = Deviation::default();
        deviation.add_exact(0, found.elements::<u64>()[0], first);
        deviation
    })
}

/// Returns the reference result for `n` elements of `seed`.
fn answer<T: Factor, O: Reference<T>>(seed: u64, n: usize) -> Answer<T> {
    reference::reduce::<T, O>(n, |index| element(O::NAME, RandomVector::new(seed, 0), n, index))
}

/// A [`Reducer`] of any element type and operator.
pub(super) trait AnyReducer: Resources {
    fn run(&mut self, queue: Queue<'_>, x: &DeviceVector) -> Result<(), WorkbenchError>;
    fn reset(&mut self) -> Result<(), WorkbenchError>;
    fn workspace_bytes(&self) -> u64;

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

    fn workspace_bytes(&self) -> u64 {
        self.workspace_bytes()
    }

    fn result(&self, x: &DeviceVector, into: &mut HostVector) -> Result<usize, WorkbenchError> {
        self.result().download_into(into.elements_mut())?;
        let roundings = self.plan().roundings_from(before_first_vector(x.view::<T>()?));
        // The kernel for these types combines the elements of a vector one after the other.
        let is_accumulated = matches!(T::TYPE, NumberType::F16 | NumberType::Bf16);
        Ok(if is_accumulated { roundings * 8 + 64 } else { roundings })
    }
}

/// A [`Reducer`] whose result is a position.
struct Position<T: ReduceInput<O>, O: 'static>(Reducer<T, O>);

impl<T: ReduceInput<O>, O: 'static> Resources for Position<T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.0.hold(held);
    }
}

impl<T: Factor + ReduceInput<O, Output = Indexed<T>>, O: 'static> AnyReducer for Position<T, O> {
    fn run(&mut self, queue: Queue<'_>, x: &DeviceVector) -> Result<(), WorkbenchError> {
        Ok(self.0.run_view(queue, x.view()?).map(drop)?)
    }

    fn reset(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.0.refresh()?)
    }

    fn workspace_bytes(&self) -> u64 {
        self.0.workspace_bytes()
    }

    fn result(&self, _x: &DeviceVector, into: &mut HostVector) -> Result<usize, WorkbenchError> {
        let mut found = [Indexed::<T>::zeroed()];
        self.0.result().download_into(&mut found)?;
        into.elements_mut::<u64>()[0] = found[0].index;
        Ok(0)
    }
}
