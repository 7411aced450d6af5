//! Gridstride's algorithms, on a GPU or in the simulator.
//!
//! ```
//! use gridstride::prelude::*;
//!
//! # fn main() -> Result<(), AlgorithmError> {
//! # /*
//! let device = gridstride::open()?; // a GPU if there is one, else the simulator
//! # */
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//! let x = [3.0_f32, -1.0, 4.0, -1.5];
//! assert_eq!(device.reduce(&x, Sum)?, 4.5);
//! assert_eq!(device.scan_inclusive(&x, Max)?, [3.0, 3.0, 4.0, 4.0]);
//!
//! let x = device.upload(&x)?; // on the device from here on: no copies in between
//! let sums = device.scan_exclusive(&x, Sum)?;
//! let mut y = device.zeroed::<f32>(4)?;
//! device.saxpy(2.0, &sums, &mut y)?;
//! let columns = device.transpose(&y, 2, 2)?;
//! assert_eq!(columns.download()?, [0.0, 4.0, 6.0, 12.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to begin
//!
//! | item | what it is |
//! |---|---|
//! | [`open()`] | opens a GPU if there is one, and otherwise the simulator |
//! | [`prelude`] | all names that a program needs, the methods of `Device` below among them |
//! | [`Device`] | a GPU or the simulator: `upload`, `zeroed`, and the algorithms |
//! | [`Buffer`](launch::Buffer) | elements in the memory of a device; `download` copies them to the host |
//! | [`Vector`](vector::Vector) | an input: a slice, an array, a `Vec`, a `Buffer` or a part of one |
//! | [`Operator`](gpu::operator::Operator) | what reductions and scans combine by: `Sum`, `Product`, `Min`, `Max` and others |
//! | [`Queue`](launch::Queue) | where work is enqueued: that of a device, of a stream, or of a graph |
//! | [`AlgorithmError`] | the error of every function, with the given value, the allowed ones and a remedy |
//!
//! # Methods of `Device`
//!
//! Each algorithm adds methods to [`Device`] by a trait, which the [`prelude`] imports. They run the fastest kernel.
//! The last column has the type that keeps the plan and the memory for repeated calls, if there is one.
//!
//! | methods | trait | for repeated calls |
//! |---|---|---|
//! | `reduce`, `sum_as`, `arg_min`, `arg_max` | [`ReduceExt`](reduce::ReduceExt) | [`Reducer`](reduce::Reducer) |
//! | `scan_inclusive`, `scan_exclusive` | [`ScanExt`](scan::ScanExt) | [`Scanner`](scan::Scanner) |
//! | `sort`, `sort_with`, `sorted`, `sort_into`, `sort_pairs`, `argsort`, `top_k`, `sort_by_fields`, `sort_segments` | [`SortExt`](sort::SortExt) | [`Sorter`](sort::Sorter) |
//! | `sort_by`, `sorted_by`, `merge_by` | [`MergeSortExt`](merge_sort::MergeSortExt) | [`MergeSorter`](merge_sort::MergeSorter) |
//! | `select`, `select_flagged`, `partition`, `unique`, `run_length_encode` | [`SelectExt`](select::SelectExt) | [`Selector`](select::Selector) |
//! | `reduce_by_key`, `scan_by_key_inclusive`, `scan_by_key_exclusive` | [`ByKeyExt`](by_key::ByKeyExt) | [`ByKeyRunner`](by_key::ByKeyRunner) |
//! | `reduce_segments`, `scan_segments_inclusive`, `scan_segments_exclusive` | [`SegmentsExt`](segments::SegmentsExt) | [`SegmentRunner`](segments::SegmentRunner) |
//! | `histogram` | [`HistogramExt`](histogram::HistogramExt) | |
//! | `matmul` | [`MatmulExt`](matmul::MatmulExt) | [`Matmul`](matmul::Matmul) |
//! | `transpose` | [`TransposeExt`](transpose::TransposeExt) | |
//! | `saxpy` | [`SaxpyExt`](saxpy::SaxpyExt) | |
//! | `scale` | [`ScaleExt`](scale::ScaleExt) | |
//!
//! For kernels of your own, see the crates `cuda_std` (what a kernel calls) and [`launch`] (how it is launched).
//!
//! # Streams and futures
//!
//! The plans and functions of each algorithm enqueue their work in a [`Queue`](launch::Queue), which is that of a
//! device, of a stream, or of a graph. A program can keep a stream as long as it likes, and await its work with any
//! executor:
//!
//! ```
//! use gridstride::prelude::*;
//! use gridstride::reduce::{Reducer, default_rung};
//!
//! /// Returns the sum of `x`. The task sleeps until the GPU is done.
//! async fn sum(device: &Device, x: &Buffer<f32>) -> Result<f32, AlgorithmError> {
//!     let stream = device.stream()?;
//!     let mut sum = Reducer::<f32, Sum>::new(device, default_rung::<f32, Sum>(), x.len())?;
//!     sum.run_in(stream.queue(), x)?;
//!     stream.queue().finished().await?;
//!     Ok(sum.result().download()?[0])
//! }
//! # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
//! # let x = device.upload(&[3.0, -1.0, 4.0])?;
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # let std::task::Poll::Ready(sum) = std::pin::pin!(sum(&device, &x)).poll(&mut context) else { panic!("not done") };
//! # assert_eq!(sum?, 6.0);
//! # Ok::<(), AlgorithmError>(())
//! ```
//!
//! # Modules
//!
//! Each algorithm has a module here and a module of the same name in the crate `gpu`. The module in `gpu` holds the
//! kernels and their ladder. The module here holds the plan (grid, block and launches) and the types that run the
//! kernels.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

#[macro_use]
mod debug;

#[macro_use]
pub mod catalogue;

pub mod capabilities;
pub mod error;
pub mod host;
pub mod numbers;
pub mod prelude;
pub mod size;
pub mod vector;

macro_rules! declare_modules {
    ($($name:ident)+; $($other:ident)*) => {
        $(pub mod $name;)+
    };
}

catalogue! { declare_modules }

pub use catalogue::MODULES;
pub use error::AlgorithmError;
use launch::{Device, Error};
pub use size::Size;

/// Opens a device with all kernels: a GPU if one can be used, otherwise the simulator. Then a line on standard error
/// says so, with the reason. [`Device::summary`] describes the device.
///
/// # Errors
/// Currently returns no error, because the simulator can always be opened.
pub fn open() -> Result<Device, Error> {
    Device::open_default(MODULES)
}

/// Opens a GPU with all kernels, and never the simulator.
///
/// # Errors
/// [`Error::NoDevice`] if no GPU can be used, with the reason.
pub fn open_gpu() -> Result<Device, Error> {
    Device::open_gpu(MODULES)
}
