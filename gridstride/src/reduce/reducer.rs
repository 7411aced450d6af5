//! [`Reducer`]: a reduction that keeps its device memory between runs.

use std::marker::PhantomData;

use cuda_std::{Global, Ladder, Zeroable};
use gpu::collective::flagged_words::words;
use gpu::collective::vectors::{vector_alignment, vector_len};
use launch::{Buffer, Device, Element, Error, Graph, Held, Queue, Resources};

use super::plan::Kind;
use super::{Pass, Plan, ReduceInput, ReduceRung, element};
use crate::capabilities;
use crate::error::AlgorithmError;

/// A repeatable reduction of *n* elements of type `T` by the operator `O`, or by [`Widened`](super::Widened),
/// [`ArgMin`](super::ArgMin) or [`ArgMax`](super::ArgMax). It owns the device memory for partial results, so a run
/// allocates no memory.
pub struct Reducer<T: ReduceInput<O>, O: 'static> {
    device: Device,
    plan: Plan,
    /// One buffer of partial results for each launch except the last.
    partials: Vec<Buffer<T>>,
    /// The words in which the blocks of the grid-stride rung publish partial results. All words are zero between two
    /// launches.
    published: Buffer<u64>,
    result: Buffer<T::Output>,
    operator: PhantomData<fn() -> O>,
}

impl<T: ReduceInput<O>, O: 'static> Reducer<T, O> {
    /// Returns a reducer that reduces `n` elements on `device` by `rung`, with the plan for that device.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the rung is not built for `O` on `T`. Returns [`AlgorithmError::Launch`]
    /// if the device has too little memory.
    pub fn new(device: &Device, rung: ReduceRung, n: usize) -> Result<Self, AlgorithmError> {
        let multiprocessors = device.multiprocessors();
        Self::with_plan(device, Plan::new(rung, n, size_of::<T>(), multiprocessors))
    }

    /// Returns a reducer on `device` that launches its kernels according to `plan`.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn with_plan(device: &Device, plan: Plan) -> Result<Self, AlgorithmError> {
        element::check::<T, O>(plan.rung(), plan.n())?;
        let (last, before) = plan.passes().split_last().map_or((0, &[][..]), |(last, before)| (last.blocks, before));
        let partials = partial_results(device, before)?;
        let published = match plan.kind() {
            Kind::Passes { .. } => device.zeroed(0)?,
            // The kernel sets the workspace to zero again at its end.
            Kind::GridStride | Kind::OneTile => device.workspace::<Plan, _>(last as usize * words::<T::Partial>())?,
        };
        let result = device.alloc(1)?;
        Ok(Self { device: device.clone(), plan, partials, published, result, operator: PhantomData })
    }

    /// Returns the reducer's plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Combines all elements of `x`, and returns a buffer whose only element is the result.
    ///
    /// On a GPU this function returns before the kernel has finished. Later work on the same device sees the result.
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the reducer was made for another length. Otherwise returns the error of a
    /// launch.
    pub fn run(&mut self, x: &Buffer<T>) -> Result<&Buffer<T::Output>, AlgorithmError> {
        let Self { device, plan, partials, published, result, .. } = self;
        launches::<T, O>(device.queue(), plan, x.view(), partials, published, result)?;
        Ok(result)
    }

    /// Like [`run`](Self::run), but on `queue`, the queue of a device, a stream or a graph that is being recorded.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn run_in(&mut self, queue: Queue<'_>, x: &Buffer<T>) -> Result<&Buffer<T::Output>, AlgorithmError> {
        self.run_view(queue, x.view())
    }

    /// Does the same as [`run_in`](Self::run_in) for a view, such as a part of a buffer. The view may begin at any
    /// element of a buffer.
    ///
    /// ```
    /// use gpu::operator::Sum;
    /// use gridstride::reduce::{ReduceRung, Reducer};
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let x = device.upload(&[3, -1, 4])?;
    /// let mut sum = Reducer::<i32, Sum>::new(&device, ReduceRung::GridStride, 2)?;
    /// assert_eq!(sum.run_view(device.queue(), x.view().part(1, 2))?.download()?, [3]);
    /// # Ok::<(), gridstride::error::AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn run_view(&mut self, queue: Queue<'_>, x: Global<'_, T>) -> Result<&Buffer<T::Output>, AlgorithmError> {
        let Self { plan, partials, published, result, .. } = self;
        launches::<T, O>(queue, plan, x, partials, published, result)?;
        Ok(result)
    }

    /// Records a [`run`](Self::run) of `x` as a graph. The graph borrows the reducer and `x`. [`result`](Self::result)
    /// returns the result.
    ///
    /// Use [`Device::record`] with [`run_in`](Self::run_in) for larger graphs. Use it also for graphs that own `x`, so
    /// that the program can change `x` between launches.
    ///
    /// ```
    /// use gpu::operator::Sum;
    /// use gridstride::reduce::{ReduceRung, Reducer};
    /// # fn main() -> Result<(), gridstride::error::AlgorithmError> {
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let x = device.upload(&[3, -1, 4])?;
    /// let mut sum = Reducer::<i32, Sum>::new(&device, ReduceRung::GridStride, x.len())?;
    /// let mut graph = sum.record(&x)?;
    /// graph.launch()?;
    /// assert_eq!(graph.resources().0.result().download()?, [6]);
    ///
    /// let mut graph = device.record((sum, x), |queue, (sum, x)| sum.run_in(queue, x).map(|_| ()))?;
    /// graph.resources_mut().1.upload(&[30, 0, 40])?;
    /// graph.launch()?;
    /// assert_eq!(graph.resources().0.result().download()?, [70]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run), and an error if the recording fails.
    pub fn record<'a>(&'a mut self, x: &'a Buffer<T>) -> Result<Graph<(&'a mut Self, &'a Buffer<T>)>, AlgorithmError> {
        let device = self.device.clone();
        device.record((self, x), |queue, (reduction, x)| reduction.run_in(queue, x).map(|_| ()))
    }

    /// Sets the result to zero, so that a caller can detect a run that writes no result.
    ///
    /// # Errors
    /// Returns the device's error if the device fails.
    pub fn refresh(&mut self) -> Result<(), Error> {
        self.result.fill_zero()
    }

    /// Returns the buffer that holds the result of the last run.
    pub fn result(&self) -> &Buffer<T::Output> {
        &self.result
    }

    /// Returns the number of bytes of device memory for the partial results and the result.
    pub fn workspace_bytes(&self) -> u64 {
        let partials: usize = self.partials.iter().map(|partials| partials.len() * size_of::<T>()).sum();
        (partials + self.published.len() * size_of::<u64>() + size_of::<T::Output>()) as u64
    }

    /// Runs the reduction, waits for it, and returns all elements of `x` combined.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run), and an error if an earlier launch failed.
    pub fn reduce(&mut self, x: &Buffer<T>) -> Result<T::Output, AlgorithmError> {
        let mut result = [T::Output::zeroed()];
        self.run(x)?.download_into(&mut result)?;
        let [result] = result;
        Ok(result)
    }
}

impl<T: ReduceInput<O>, O: 'static> Resources for Reducer<T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.partials.hold(held);
        self.result.hold(held);
        self.published.hold(held);
    }
}

/// Returns one buffer of partial results for each of `passes`. The function has no operator parameter, so that it is
/// compiled only once per type.
fn partial_results<T: Element>(device: &Device, passes: &[Pass]) -> Result<Vec<Buffer<T>>, Error> {
    passes.iter().map(|pass| device.alloc(pass.blocks as usize)).collect()
}

/// Enqueues the launches of `plan` on `queue`.
fn launches<T: ReduceInput<O>, O: 'static>(
    queue: Queue<'_>,
    plan: &Plan,
    x: Global<'_, T>,
    partials: &mut [Buffer<T>],
    published: &mut Buffer<u64>,
    result: &mut Buffer<T::Output>,
) -> Result<(), AlgorithmError> {
    if x.len() != plan.n() {
        return Err(Error::LengthMismatch { what: "reduce", buffer: x.len(), other: plan.n() }.into());
    }
    // The pointer of an empty view may be dangling.
    let alignment = vector_alignment(vector_len(size_of::<T>()) * size_of::<T>());
    let is_aligned = x.is_empty() || (x.as_ptr() as usize).is_multiple_of(alignment);
    for (number, &pass) in plan.passes().iter().enumerate() {
        let config = plan.config(pass);
        let call = match plan.kind() {
            Kind::Passes { rung, .. } => {
                let (before, after) = partials.split_at_mut(number);
                let x = before.last().map_or(x, Buffer::view);
                match after.first_mut() {
                    Some(y) => T::step(rung.rung(), pass.segment, x, y.view_mut()),
                    None => T::last_step(rung.rung(), pass.segment, x, result.view_mut()),
                }
            }
            Kind::GridStride if is_aligned => T::grid_stride(x, published.view_mut(), result.view_mut()),
            Kind::GridStride => T::unaligned(x, published.view_mut(), result.view_mut()),
            Kind::OneTile => T::one_tile(x, published.view_mut(), result.view_mut()),
        };
        // `with_plan` has already checked that the instance is built, so this error does not occur.
        let call = call.ok_or_else(|| capabilities::not_built(plan.rung(), &capabilities::of_operator::<T, O>()))?;
        queue.launch(config, call)?;
    }
    Ok(())
}
