//! A reduction with its memory, to be run again and again.

use std::marker::PhantomData;

use gpu::operator::Operator;
use gpu::published::words;
use launch::{Buffer, Device, Error};

use super::reducible::not_offered;
use super::{Plan, ReduceKernel, Reducible};
use crate::rungs::AlgorithmError;

/// A reduction of *n* elements of `T` by `O`, and the device memory for its partial results. A run allocates nothing.
pub struct Reduction<T: Reducible<O>, O: Operator<T>> {
    device: Device,
    plan: Plan,
    /// What each launch but the last leaves.
    partials: Vec<Buffer<T>>,
    /// What the blocks of the grid-stride rung publish. Zeros between two launches.
    published: Buffer<u64>,
    result: Buffer<T>,
    operator: PhantomData<O>,
}

impl<T: Reducible<O>, O: Operator<T>> Reduction<T, O> {
    /// A reduction of `n` elements on `device` by `kernel`, with the plan that suits the device.
    ///
    /// # Errors
    /// [`AlgorithmError::NotOffered`] when the kernel is not built for `O` on `T`; no memory.
    pub fn new(device: &Device, kernel: ReduceKernel, n: usize) -> Result<Self, AlgorithmError> {
        let multiprocessors = device.multiprocessors();
        Self::with_plan(device, Plan::new(kernel, n, size_of::<T>(), multiprocessors))
    }

    /// A reduction on `device` by a plan.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_plan(device: &Device, plan: Plan) -> Result<Self, AlgorithmError> {
        if !T::KERNELS.contains(&plan.kernel()) {
            return Err(not_offered(plan.kernel(), T::NAME));
        }
        let (last, before) = plan.passes().split_last().map_or((0, &[][..]), |(last, before)| (last.blocks, before));
        let partials = before.iter().map(|pass| device.alloc(pass.blocks as usize)).collect::<Result<_, _>>()?;
        let published = match plan.kernel() {
            ReduceKernel::GridStride => device.zeroed(last as usize * words::<T>())?,
            _ => device.zeroed(0)?,
        };
        let result = device.alloc(1)?;
        Ok(Self { device: device.clone(), plan, partials, published, result, operator: PhantomData })
    }

    /// Its launches.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Combines all elements of `x`, which is left as it is. The result is the only element of the buffer returned.
    ///
    /// On a GPU it returns at once: the result is there for whatever is asked of the device next.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless `x` has as many elements as the reduction was made for, and whatever prevents a
    /// launch.
    pub fn run(&mut self, x: &Buffer<T>) -> Result<&Buffer<T>, AlgorithmError> {
        let Self { device, plan, partials, published, result, .. } = self;
        if x.len() != plan.n() {
            return Err(Error::LengthMismatch { what: "reduce", buffer: x.len(), other: plan.n() }.into());
        }
        for (number, &pass) in plan.passes().iter().enumerate() {
            let config = plan.config(pass);
            if plan.kernel() == ReduceKernel::GridStride {
                T::grid_stride(device, config, x, published, result)?;
                continue;
            }
            let (before, after) = partials.split_at_mut(number);
            let (x, y) = (before.last().unwrap_or(x), after.first_mut().unwrap_or(result));
            T::pass(device, plan.kernel(), config, pass.part, x, y)?;
        }
        Ok(result)
    }

    /// All elements of `x` combined, on the host.
    ///
    /// # Errors
    /// As for [`run`](Self::run), and when a launch made before failed.
    pub fn reduce(&mut self, x: &Buffer<T>) -> Result<T, AlgorithmError> {
        let mut result = [T::zeroed()];
        self.run(x)?.download_into(&mut result)?;
        let [result] = result;
        Ok(result)
    }
}
