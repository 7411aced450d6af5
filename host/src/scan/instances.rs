//! Which element types and operators the kernels of scan are built for, and their launches.

use std::marker::PhantomData;

use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
use gpu::scan::{
    scan_down_sweep, scan_look_back, scan_naive_block, scan_naive_step, scan_pipelined, scan_shifted_copy,
    scan_up_sweep, state_words,
};
use launch::{Buffer, Element, Error, Kernel, LaunchConfig, Queue};

/// An element type that can be scanned with the operator `O`: the six number types with sum, product, minimum and
/// maximum, and [`Affine`] with [`Compose`].
#[diagnostic::on_unimplemented(
    message = "no kernel scans elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u32, i32, u64, i64, f32 and f64; Compose takes Affine"
)]
pub trait Scannable<O>: Element {
    /// The operator's identity.
    #[doc(hidden)]
    const IDENTITY: Self;

    /// Words of state that those kernels need for `tiles` tiles.
    #[doc(hidden)]
    fn state_words(tiles: usize) -> usize {
        state_words::<Self>(tiles)
    }

    #[doc(hidden)]
    fn look_back(launch: SinglePass<'_, Self>, chunks: u32) -> Result<(), Error>;

    #[doc(hidden)]
    fn pipelined(launch: SinglePass<'_, Self>) -> Result<(), Error>;

    /// The textbook's kernels, if they are built for this type and operator.
    #[doc(hidden)]
    fn textbook() -> Option<&'static dyn Textbook<Self>>;
}

/// A launch of a kernel that makes one pass.
#[doc(hidden)]
pub struct SinglePass<'a, T: Element> {
    pub queue: Queue<'a>,
    pub config: LaunchConfig,
    pub x: &'a Buffer<T>,
    pub y: &'a mut Buffer<T>,
    pub exclusive: u32,
    pub states: &'a mut Buffer<u64>,
}

/// The textbook's kernels for one element type and operator.
#[doc(hidden)]
pub trait Textbook<T: Element>: Sync {
    fn block(&self, at: At<'_>, x: &Buffer<T>, y: &mut Buffer<T>, shift: usize) -> Result<(), Error>;
    fn step(&self, at: At<'_>, x: &Buffer<T>, y: &mut Buffer<T>, distance: usize, shift: usize) -> Result<(), Error>;
    fn copy(&self, at: At<'_>, x: &Buffer<T>, y: &mut Buffer<T>, shift: usize) -> Result<(), Error>;
    fn up(&self, at: At<'_>, y: &mut Buffer<T>, width: usize) -> Result<(), Error>;
    fn down(&self, at: At<'_>, y: &mut Buffer<T>, width: usize) -> Result<(), Error>;
}

/// Where a kernel is launched.
#[doc(hidden)]
pub type At<'a> = (Queue<'a>, LaunchConfig);

/// Stands for the textbook's kernels with the operator `O`.
struct Built<O>(PhantomData<fn() -> O>);

impl<T: Element, O: Operator<T>> Textbook<T> for Built<O>
where
    scan_naive_block<T, O>: Kernel,
    scan_naive_step<T, O>: Kernel,
    scan_shifted_copy<T, O>: Kernel,
    scan_up_sweep<T, O>: Kernel,
    scan_down_sweep<T, O>: Kernel,
{
    fn block(&self, (queue, config): At<'_>, x: &Buffer<T>, y: &mut Buffer<T>, shift: usize) -> Result<(), Error> {
        queue.launch(config, scan_naive_block::<T, O>(x.view(), y.view_mut(), shift))
    }

    fn step(
        &self,
        (queue, config): At<'_>,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
        distance: usize,
        shift: usize,
    ) -> Result<(), Error> {
        queue.launch(config, scan_naive_step::<T, O>(x.view(), y.view_mut(), distance, shift))
    }

    fn copy(&self, (queue, config): At<'_>, x: &Buffer<T>, y: &mut Buffer<T>, shift: usize) -> Result<(), Error> {
        queue.launch(config, scan_shifted_copy::<T, O>(x.view(), y.view_mut(), shift))
    }

    fn up(&self, (queue, config): At<'_>, y: &mut Buffer<T>, width: usize) -> Result<(), Error> {
        queue.launch(config, scan_up_sweep::<T, O>(y.view_mut(), width))
    }

    fn down(&self, (queue, config): At<'_>, y: &mut Buffer<T>, width: usize) -> Result<(), Error> {
        queue.launch(config, scan_down_sweep::<T, O>(y.view_mut(), width))
    }
}

macro_rules! scannable {
    (@textbook) => { None };
    (@textbook textbook $operator:ident) => { Some(&Built::<$operator>(PhantomData)) };
    ($($type:ident, $vector:literal a vector: $($operator:ident $(($textbook:ident))?)+;)*) => {$($(
        impl Scannable<$operator> for $type {
            const IDENTITY: Self = <$operator as Operator<Self>>::IDENTITY;

            fn look_back(launch: SinglePass<'_, Self>, chunks: u32) -> Result<(), Error> {
                let SinglePass { queue, config, x, y, exclusive, states } = launch;
                let call = scan_look_back::<Self, $operator, $vector>;
                queue.launch(config, call(x.view(), y.view_mut(), exclusive, chunks, states.view_mut()))
            }

            fn pipelined(launch: SinglePass<'_, Self>) -> Result<(), Error> {
                let SinglePass { queue, config, x, y, exclusive, states } = launch;
                let call = scan_pipelined::<Self, $operator, $vector>;
                queue.launch(config, call(x.view(), y.view_mut(), exclusive, states.view_mut()))
            }

            fn textbook() -> Option<&'static dyn Textbook<Self>> {
                scannable!(@textbook $($textbook $operator)?)
            }
        }
    )+)*};
}

scannable! {
    f32, 4 a vector: Sum(textbook) Product Min Max;
    i32, 4 a vector: Sum(textbook) Product Min Max;
    u32, 4 a vector: Sum Product Min Max;
    f64, 2 a vector: Sum(textbook) Product Min Max;
    i64, 2 a vector: Sum Product Min Max;
    u64, 2 a vector: Sum Product Min Max;
    Affine, 2 a vector: Compose;
}
