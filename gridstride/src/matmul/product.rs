//! [`Matmul`]: a product that keeps its plan and its workspace between runs.

use std::any::Any;

use cuda_std::{Element, Global, GlobalMut, GpuFloat};
use gpu::matmul::{Epilogue, Linear, MatmulEpilogue, Operand, Output, Problem, Strides};
use launch::{Buffer, Call, Device, Held, Queue, Resources, TensorElement};

use super::element::Packing;
use super::launches::{Arguments, launch, launch_vector, pack};
use super::plan::Plan;
use super::warpgroups::{WarpgroupOperand, launch_split};
use super::{Layout, MatmulElement, MatmulOptions, Matrix, MatrixError, MatrixMut};
use crate::error::AlgorithmError;
use crate::sort::{bytes_of, refuse_overlap, written};

/// The product *C* = α·*A*·*B* + β·*C* of matrices of one size and layout, or another [`Epilogue`], that can run
/// repeatedly. It owns the workspace that it needs, so a run allocates no memory.
///
/// *A* and *B* have elements of type `T`, and *C* of type `C`. Without other settings, α is 1 and β is 0; then the
/// previous *C* is not read.
///
/// ```
/// use gridstride::matmul::{Matmul, Matrix, MatrixMut};
/// use gridstride::prelude::*;
///
/// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
/// let (a, b) = (device.upload(&[1.0_f32, 2.0, 3.0, 4.0])?, device.upload(&[1.0, 0.0, -1.0, 1.0])?);
/// let (mut c, bias) = (device.zeroed::<f32>(4)?, device.upload(&[0.5, 0.0])?);
/// let mut product = Matmul::<f32>::new(&device, [2, 2, 2])?.alpha(2.0).relu();
/// let (a, b) = (Matrix::row_major(&a, 2, 2)?, Matrix::row_major(&b, 2, 2)?);
/// product.run_with_bias(device.queue(), a, b, MatrixMut::row_major(&mut c, 2, 2)?, &bias)?;
/// assert_eq!(c.download()?, [0.0, 4.0, 0.0, 8.0]);
/// # Ok::<(), AlgorithmError>(())
/// ```
pub struct Matmul<
    T: MatmulElement,
    C: Output<T::Sum> + TensorElement = <T as MatmulElement>::Result,
    E = Linear<<T as Operand>::Sum>,
> {
    plan: Plan,
    options: MatmulOptions,
    epilogue: E,
    /// The packed operands.
    packed: [Buffer<T>; 2],
    /// The packed operands, if they are of the other type.
    other: [Buffer<T::Other>; 2],
    /// The bias of a product without one.
    none: Buffer<C>,
    /// Memory for a parameter that the kernel does not use.
    spare: Buffer<C>,
    /// The parts of the sums, and memory for a parameter that their kernel does not use.
    partials: [Buffer<T::Sum>; 2],
}

impl<T: MatmulElement, C: Output<T::Sum> + TensorElement> Matmul<T, C> {
    /// Returns the product of an *A* of `m` × `k` and a *B* of `k` × `n` elements in row-major order.
    ///
    /// # Errors
    /// Returns the errors of [`with_options`](Self::with_options).
    pub fn new(device: &Device, [m, n, k]: [usize; 3]) -> Result<Self, AlgorithmError> {
        Self::with_options(device, &MatmulOptions::row_major([m, n, k]))
    }

    /// Returns the product of operands of any layout.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Matrix`] if matrices of these sizes cannot be multiplied. Returns
    /// [`AlgorithmError::NotBuilt`] if no kernel is built for the types, or not that of the chosen rung. Returns
    /// [`launch::Error::OutOfMemory`] if the device has too little memory.
    pub fn with_options(device: &Device, options: &MatmulOptions) -> Result<Self, AlgorithmError> {
        let plan = Plan::new::<T, C>(device, options)?;
        let is_other = plan.is_other;
        let [a, b] = plan.workspace();
        let own = |len| device.alloc(if is_other { 0 } else { len });
        let other = |len| device.alloc(if is_other { len } else { 0 });
        Ok(Self {
            plan,
            options: *options,
            epilogue: Linear { alpha: T::ONE, beta: <T::Sum as gpu::matmul::Sum>::ZERO, steps: 0 },
            packed: [own(a)?, own(b)?],
            other: [other(a)?, other(b)?],
            none: device.alloc(0)?,
            spare: device.alloc(1)?,
            partials: [device.alloc(plan.partials())?, device.alloc(1)?],
        })
    }

    /// Sets the factor α of the product.
    #[must_use]
    pub fn alpha(mut self, alpha: T::Sum) -> Self {
        self.epilogue.alpha = alpha;
        self
    }

    /// Sets the factor β of the previous *C*. If it is 0, *C* is not read.
    #[must_use]
    pub fn beta(mut self, beta: T::Sum) -> Self {
        self.epilogue.beta = beta;
        self
    }

    /// Replaces negative results by zero, as the last step.
    #[must_use]
    pub fn relu(self) -> Self {
        self.step(Linear::<T::Sum>::RELU)
    }

    /// Applies the Gaussian error linear unit, in its approximation by tanh, to the results, as the last step.
    #[must_use]
    pub fn gelu(self) -> Self
    where
        T::Sum: GpuFloat,
    {
        self.step(Linear::<T::Sum>::GELU)
    }

    fn step(mut self, step: u32) -> Self {
        self.epilogue.steps |= step;
        self
    }
}

impl<T: MatmulElement, C: Output<T::Sum> + TensorElement, E: MatmulEpilogue<T, C> + 'static> Matmul<T, C, E> {
    /// Replaces the epilogue, which computes the elements of *C* from the sums. `gpu::instances!` makes the kernels for
    /// an epilogue of your own: those that run by default.
    ///
    /// A run returns [`AlgorithmError::NotBuilt`] if [`MatmulOptions::rung`] is another rung, which has no kernel with
    /// this epilogue.
    #[must_use]
    pub fn epilogue<F: MatmulEpilogue<T, C> + 'static>(self, epilogue: F) -> Matmul<T, C, F> {
        let Self { plan, options, packed, other, none, spare, partials, .. } = self;
        Matmul { plan, options, epilogue, packed, other, none, spare, partials }
    }

    /// Returns the plan.
    pub fn plan(&self) -> Plan {
        self.plan
    }

    /// Returns the number of bytes of the workspace.
    pub fn temporary_bytes(&self) -> u64 {
        let size = if self.plan.is_other { size_of::<T::Other>() } else { size_of::<T>() };
        let packed: u64 = self.plan.workspace().iter().map(|&len| len as u64 * size as u64).sum();
        packed + (self.plan.partials() * size_of::<T::Sum>()) as u64
    }

    /// Enqueues the product on `queue`, the queue of a device, a stream or a graph that is being recorded.
    ///
    /// On a GPU this function returns before the kernel has finished. Later work on the same queue sees the result.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Matrix`] if *A* or *B* has another layout than planned or begins at an address that
    /// the plan excludes, or if *C* has another size. Returns [`launch::Error::Overlap`] if *C* overlaps an input.
    /// Otherwise returns the error of a launch.
    pub fn run<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: MatrixMut<'_, C>,
    ) -> Result<(), AlgorithmError> {
        self.run_views(queue.into(), a, b, c, None)
    }

    /// Does the same as [`run`](Self::run), and adds element *j* of `bias` to each element of column *j* of *C*, before
    /// an activation.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run), and [`AlgorithmError::Matrix`] if `bias` does not have one element per
    /// column.
    pub fn run_with_bias<'q>(
        &mut self,
        queue: impl Into<Queue<'q>>,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: MatrixMut<'_, C>,
        bias: &Buffer<C>,
    ) -> Result<(), AlgorithmError> {
        self.run_views(queue.into(), a, b, c, Some(bias.view()))
    }

    /// Does the same as [`run_with_bias`](Self::run_with_bias), or as [`run`](Self::run) without a bias. The bias is a
    /// view, which may be a part of a buffer.
    ///
    /// # Errors
    /// Returns the errors of [`run_with_bias`](Self::run_with_bias).
    pub fn run_views(
        &mut self,
        queue: Queue<'_>,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: MatrixMut<'_, C>,
        bias: Option<Global<'_, C>>,
    ) -> Result<(), AlgorithmError> {
        self.check(&a, &b, &c, bias)?;
        let mut epilogue = self.epilogue;
        let any: &mut dyn Any = &mut epilogue;
        if let Some(linear) = any.downcast_mut::<Linear<T::Sum>>()
            && bias.is_some()
        {
            linear.steps |= Linear::<T::Sum>::BIAS;
        }
        let [m, n, k, batch] = self.plan.sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
        if m == 0 || n == 0 || batch == 0 {
            return Ok(());
        }
        let Self { plan, packed: [packed_a, packed_b], other: [other_a, other_b], none, spare, partials, .. } = self;
        let (bias, spare) = (bias.unwrap_or(none.view()), spare.view_mut());
        let [of_a, of_b, of_c] = [a.layout, b.layout, c.layout].map(|layout| layout.strides());
        let problem = Problem { m, n, k, batch, a: of_a, b: of_b, c: of_c };
        let exported = E::INSTANCES;
        if plan.is_vector {
            let arguments = Arguments { problem, a: a.view, b: b.view, c: c.view, bias, epilogue, exported };
            if launch_vector::<T, C, E>(queue, arguments)? {
                return Ok(());
            }
        }
        let [pack_a, pack_b] = plan.packings;
        let problem = Problem {
            a: pack_a.map_or(of_a, |packing| packing.to),
            b: pack_b.map_or(of_b, |packing| Strides { row: packing.to.column, column: packing.to.row, ..packing.to }),
            ..problem
        };
        if plan.is_other {
            let a = packed(queue, pack_a, a.view, other_a, T::as_other, T::pack_other)?;
            let b = packed(queue, pack_b, b.view, other_b, T::as_other, T::pack_other)?;
            multiply::<T::Other, C, E>(
                queue,
                plan,
                Arguments { problem, a, b, c: c.view, bias, epilogue, exported },
                spare,
                partials,
            )
        } else {
            let a = packed(queue, pack_a, a.view, packed_a, Some, T::pack)?;
            let b = packed(queue, pack_b, b.view, packed_b, Some, T::pack)?;
            let arguments = Arguments { problem, a, b, c: c.view, bias, epilogue, exported };
            multiply::<T, C, E>(queue, plan, arguments, spare, partials)
        }
    }

    /// Checks that the plan is for these matrices.
    fn check(
        &self,
        a: &Matrix<'_, T>,
        b: &Matrix<'_, T>,
        c: &MatrixMut<'_, C>,
        bias: Option<Global<'_, C>>,
    ) -> Result<(), AlgorithmError> {
        let wrong = |text: String| Err(MatrixError(text).into());
        for (name, matrix, planned) in [("A", a, &self.options.a), ("B", b, &self.options.b)] {
            if matrix.layout != *planned {
                return wrong(format!(
                    "this product was planned for {planned} as {name}, but {} was passed",
                    matrix.layout
                ));
            }
            if !self.options.unaligned && !matrix.view.as_ptr().addr().is_multiple_of(16) {
                let remedy = "pass one that does, or set `MatmulOptions::unaligned`";
                return wrong(format!("{name} does not begin at a multiple of 16 bytes: {remedy}"));
            }
        }
        let [m, n, _, count] = self.plan.sizes;
        let layout = c.layout;
        if (layout.rows(), layout.columns(), layout.count()) != (m, n, count) {
            return wrong(format!(
                "C must be {}, but {layout} was passed",
                Layout::row_major(m, n).batch(count, m * n)
            ));
        }
        if let Some(bias) = bias.filter(|bias| bias.len() != n) {
            return wrong(format!("the bias has {} elements, but C has {n} columns: pass {n}", bias.len()));
        }
        let of_c = bytes_of(c.view.as_ptr(), c.view.len());
        let [of_a, of_b] = [a, b].map(|matrix| bytes_of(matrix.view.as_ptr(), matrix.view.len()));
        let of_bias = bias.map_or(0..0, |bias| bytes_of(bias.as_ptr(), bias.len()));
        Ok(refuse_overlap(&[(&of_a, &of_c), (&of_b, &of_c), (&of_bias, &of_c)])?)
    }
}

/// Launches the kernels that multiply.
fn multiply<U: WarpgroupOperand, C: Output<U::Sum> + TensorElement, E: Epilogue<U::Sum, C> + 'static>(
    queue: Queue<'_>,
    plan: &Plan,
    arguments: Arguments<'_, U, C, E>,
    spare: GlobalMut<'_, C>,
    [partials, other]: &mut [Buffer<U::Sum>; 2],
) -> Result<(), AlgorithmError> {
    match plan.splits {
        1 => launch(queue, plan, plan.rung, arguments, spare),
        _ => launch_split(queue, plan, arguments, partials, other),
    }
}

/// Returns the operand `x` as the kernel takes it: packed to `to` if there is a packing.
fn packed<'v, T: Element, U: Element>(
    queue: Queue<'_>,
    packing: Option<Packing>,
    x: Global<'v, T>,
    to: &'v mut Buffer<U>,
    cast: impl FnOnce(Global<'v, T>) -> Option<Global<'v, U>>,
    call: impl for<'c> Fn(Packing, Global<'c, T>, GlobalMut<'c, U>) -> Option<Call<'c>>,
) -> Result<Global<'v, U>, AlgorithmError> {
    let Some(packing) = packing else {
        return cast(x).ok_or_else(|| MatrixError("an operand must be converted first".to_owned()).into());
    };
    let to = to.view_mut();
    pack(queue, packing, x, to, call)?;
    Ok(written(to))
}

impl<T: MatmulElement, C: Output<T::Sum> + TensorElement, E> Resources for Matmul<T, C, E> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.packed.hold(held);
        self.other.hold(held);
        self.none.hold(held);
        self.spare.hold(held);
        self.partials.hold(held);
    }
}
