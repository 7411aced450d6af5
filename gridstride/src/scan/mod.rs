//! Prefix scan: element i of the result combines the elements of the input up to element i by an associative operator.
//!
//! [`scan`] runs one of the kernels of `gpu::scan` on buffers of any length. Use a [`Scanner`] for repeated scans,
//! because its scans allocate no memory. [`ScanElement`] lists the element types for each operator. A scan of an empty
//! input is empty. The operators say what they do with NaN and with −0.
//!
//! ```
//! use gpu::operator::{Affine, Compose, Sum};
//! use gridstride::scan::{ScanRung, ScanKind, scan};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, gridstride::MODULES)?; // or `Auto`: a GPU where there is one
//! let x = device.upload(&[3, 1, 4, 1, 5])?;
//! let mut y = device.alloc::<i32>(5)?;
//! scan(&device, ScanRung::LookBack, ScanKind::Inclusive, &x, &mut y, Sum)?;
//! assert_eq!(y.download()?, [3, 4, 8, 9, 14]);
//! scan(&device, ScanRung::WorkEfficient, ScanKind::Exclusive, &x, &mut y, Sum)?;
//! assert_eq!(y.download()?, [0, 3, 4, 8, 9]);
//!
//! // Solves the recurrence a[i + 1] = 2·a[i] + i with a[0] = 1 by composing its steps.
//! let steps: Vec<_> = (0..4).map(|i| Affine { factor: 2, offset: i }).collect();
//! let mut maps = device.alloc(4)?;
//! scan(&device, ScanRung::LookBack, ScanKind::Inclusive, &device.upload(&steps)?, &mut maps, Compose)?;
//! let values: Vec<_> = maps.download()?.into_iter().map(|map| map.apply(1)).collect();
//! assert_eq!(values, [2, 5, 12, 27]);
//! # Ok(())
//! # }
//! ```
//!
//! The borrow checker rejects input and output that overlap:
//!
//! ```compile_fail,E0502
//! # use gridstride::scan::{ScanRung, ScanKind, scan};
//! # fn overlap(device: &launch::Device, x: &mut launch::Buffer<f32>) {
//! let _ = scan(device, ScanRung::LookBack, ScanKind::Inclusive, x, x, gpu::operator::Sum);
//! # }
//! ```

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut};
use gpu::collective::vectors::vector_len;
use gpu::operator::Operator;
pub use gpu::scan::ScanRung;
use gpu::scan::{BLOCK_ELEMENTS, THREADS, pipelined_tile_elements, state_words, tile_elements};
use launch::{Buffer, Device, Element, Error, Graph, Held, Queue, Resources};

use crate::error::AlgorithmError;
use crate::vector::Vector;
use launches::Launches;
pub(crate) use launches::cleared_after_failure;
pub(crate) use plan::PersistentBlocks;

mod element;
mod launches;
mod plan;

pub use element::check;
pub use gpu::scan::ScanElement;
// The former name.
pub use gpu::scan::ScanElement as Scannable;
pub use plan::{check_on, default_rung, default_rung_by};

/// Returns the number of elements that a block scans at a time, in a scan of `len` elements of `element_bytes` bytes.
pub fn tile(rung: ScanRung, len: usize, element_bytes: usize) -> usize {
    let vector = vector_len(element_bytes);
    match rung {
        ScanRung::Pipelined => pipelined_tile_elements(vector),
        ScanRung::LookBack => tile_elements(plan::chunks(len, element_bytes), vector),
        ScanRung::NaiveBlock => BLOCK_ELEMENTS,
        ScanRung::Naive | ScanRung::WorkEfficient => THREADS as usize,
    }
}

/// Returns the number of bytes of temporary storage that a scan of `len` elements of `T` needs.
pub fn temporary_bytes<T: Element>(rung: ScanRung, len: usize) -> u64 {
    let (count, size) = match rung {
        ScanRung::NaiveBlock | ScanRung::WorkEfficient => (0, 0),
        ScanRung::Naive => (if len > 2 { len } else { 0 }, size_of::<T>()),
        ScanRung::LookBack | ScanRung::Pipelined => (tile_state_words::<T>(rung, len), 8),
    };
    (count as u64).saturating_mul(size as u64)
}

/// Returns the number of `u64` words that contain the tile states during a scan of `len` elements.
fn tile_state_words<T: Element>(rung: ScanRung, len: usize) -> usize {
    state_words::<T>(len.div_ceil(tile(rung, len, size_of::<T>())))
}

/// The kind of a scan: inclusive or exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScanKind {
    /// Element i of the result combines elements 0 to i of the input.
    Inclusive,
    /// Element i of the result combines elements 0 to i − 1 of the input. Element 0 is the operator's identity.
    Exclusive,
}

impl fmt::Display for ScanKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inclusive => "inclusive",
            Self::Exclusive => "exclusive",
        })
    }
}

impl ScanKind {
    /// Returns the number of elements by which the result is shifted compared with an inclusive scan: 0 for an
    /// inclusive scan, 1 for an exclusive scan.
    pub fn shift(self) -> usize {
        match self {
            Self::Inclusive => 0,
            Self::Exclusive => 1,
        }
    }
}

/// Writes the scan of `x` with `operator` into `y`.
///
/// Every kernel combines the operands in order, but each kernel groups the operands differently. Float sums and
/// products depend on the grouping. In `LookBack` and `Pipelined`, the grouping also depends on timing, so the results
/// of two runs may differ by rounding. All other results are the same in every run.
///
/// On a GPU this function returns before the kernel has finished. Later work on the same device sees the result.
///
/// # Errors
/// - Returns [`Error::LengthMismatch`] if `x` and `y` differ in length.
/// - Returns [`AlgorithmError::NotBuilt`] if the rung is not built for the type and operator, does not accept that many
///   elements, or needs more shared memory than the device has.
/// - Returns the error of the launch, if it fails.
pub fn scan<T: ScanElement<O>, O: Operator<T>>(
    device: &Device,
    rung: ScanRung,
    kind: ScanKind,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    _operator: O,
) -> Result<(), AlgorithmError> {
    Scanner::<T, O>::new(device, rung, x.len())?.scan(kind, x, y)
}

/// A scan that can run repeatedly on vectors of one length. It owns the temporary storage that it needs, so a run
/// allocates no memory.
#[derive(Debug)]
pub struct Scanner<T: ScanElement<O>, O: Operator<T>> {
    device: Device,
    rung: ScanRung,
    len: usize,
    /// A buffer for intermediate results of the naive rung. Each step of this rung reads one buffer and writes another.
    /// `None` if no such buffer is needed.
    other: Option<Buffer<T>>,
    /// The tile states; empty for a rung without tile states.
    states: Buffer<u64>,
    operator: PhantomData<fn() -> O>,
}

impl<T: ScanElement<O>, O: Operator<T>> Scanner<T, O> {
    /// Returns a scanner for `len` elements on `device`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] in the cases that [`scan`] lists. Returns [`Error::OutOfMemory`] if the
    /// device has too little memory.
    pub fn new(device: &Device, rung: ScanRung, len: usize) -> Result<Self, AlgorithmError> {
        check_on::<T, O>(rung, device, len)?;
        // A scan of two elements takes one step, which has no intermediate result.
        let other = if rung == ScanRung::Naive && len > 2 { Some(device.alloc(len)?) } else { None };
        let words = match rung {
            ScanRung::LookBack | ScanRung::Pipelined => tile_state_words::<T>(rung, len),
            ScanRung::NaiveBlock | ScanRung::Naive | ScanRung::WorkEfficient => 0,
        };
        // A scan starts from the tile states that the previous scan of the same type left in this memory.
        let states = device.workspace::<Self, _>(words)?;
        Ok(Self { device: device.clone(), rung, len, other, states, operator: PhantomData })
    }

    /// Writes the scan of `x` into `y`, like the function [`scan`].
    ///
    /// # Errors
    /// Returns [`Error::LengthMismatch`] if the scanner was made for another length. Otherwise returns the error of the
    /// launch.
    pub fn scan(&mut self, kind: ScanKind, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<(), AlgorithmError> {
        let device = self.device.clone();
        self.scan_in(device.queue(), kind, x, y)
    }

    /// Records a [`scan`](Self::scan) of `x` into `y` as a graph. The graph borrows the scanner and both buffers.
    ///
    /// Use [`Device::record`] with [`scan_in`](Self::scan_in) for larger graphs. Use it also for graphs that own `x`,
    /// so that the program can change `x` between launches:
    ///
    /// ```
    /// use gpu::operator::Sum;
    /// use gridstride::scan::{ScanRung, ScanKind, Scanner};
    /// # fn main() -> Result<(), gridstride::error::AlgorithmError> {
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let (x, y) = (device.upload(&[3, 1, 4])?, device.alloc(3)?);
    /// let scanner = Scanner::<i32, Sum>::new(&device, ScanRung::LookBack, x.len())?;
    /// let mut graph = device.record((scanner, x, y), |queue, (scanner, x, y)| {
    ///     scanner.scan_in(queue, ScanKind::Inclusive, x, y)
    /// })?;
    /// graph.launch()?;
    /// assert_eq!(graph.resources().2.download()?, [3, 4, 8]);
    /// graph.resources_mut().1.upload(&[1, 1, 1])?;
    /// graph.launch()?;
    /// assert_eq!(graph.resources().2.download()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`scan`](Self::scan), and an error if the recording fails.
    #[allow(clippy::type_complexity, reason = "the type lists the graph's resources")]
    pub fn record<'a>(
        &'a mut self,
        kind: ScanKind,
        x: &'a Buffer<T>,
        y: &'a mut Buffer<T>,
    ) -> Result<Graph<(&'a mut Self, &'a Buffer<T>, &'a mut Buffer<T>)>, AlgorithmError> {
        let device = self.device.clone();
        device.record((self, x, y), |queue, (scanner, x, y)| scanner.scan_in(queue, kind, x, y))
    }

    /// Like [`scan`](Self::scan), but on `queue`, the queue of a device, a stream or a graph that is being recorded.
    ///
    /// # Errors
    /// Returns the errors of [`scan`](Self::scan).
    pub fn scan_in(
        &mut self,
        queue: Queue<'_>,
        kind: ScanKind,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<(), AlgorithmError> {
        self.scan_views(queue, kind, x.view(), y.view_mut())
    }

    /// Does the same as [`scan_in`](Self::scan_in) for views, such as parts of buffers. A view may begin at any element
    /// of a buffer. The scan takes longer if a view does not begin at a multiple of 16 bytes, because the kernel then
    /// moves single elements.
    ///
    /// # Errors
    /// Returns the errors of [`scan`](Self::scan).
    pub fn scan_views(
        &mut self,
        queue: Queue<'_>,
        kind: ScanKind,
        x: Global<'_, T>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError> {
        for (what, buffer) in [("scan into another buffer", y.len()), ("scan with this scanner", x.len())] {
            if buffer != self.len {
                return Err(Error::LengthMismatch { what, buffer, other: self.len }.into());
            }
        }
        if self.len == 0 {
            return Ok(());
        }
        let launches = Launches { queue, kind, x, y, operator: PhantomData::<O> };
        match self.rung {
            ScanRung::NaiveBlock => launches.one_block(),
            ScanRung::Naive => launches.naive(self.other.as_mut()),
            ScanRung::WorkEfficient => launches.work_efficient(),
            ScanRung::LookBack => launches.look_back(&mut self.states),
            ScanRung::Pipelined => launches.pipelined(&mut self.states),
        }
    }

    /// Returns the number of bytes of the scanner's temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        temporary_bytes::<T>(self.rung, self.len)
    }
}

impl<T: ScanElement<O>, O: Operator<T>> Resources for Scanner<T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.other.hold(held);
        self.states.hold(held);
    }
}

/// Extends [`Device`] with scans by the default rung, the fastest kernel for the length and the device.
pub trait ScanExt: Borrow<Device> {
    /// Returns the inclusive scan: element i is `x[0] ∘ … ∘ x[i]`.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_inclusive(&[3, 1, 4, 1, 5], Sum)?, [3, 4, 8, 9, 14]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// 16-bit floats are added in `f32`, and each result is rounded once:
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// // In `f16`, 2048 + 1 is 2048.
    /// let x = [2048.0, 1.0, 1.0, 1.0, -2048.0].map(f16::from_f32);
    /// let sums = device.scan_inclusive(&x, Sum)?;
    /// assert_eq!(sums, [2048.0, 2048.0, 2050.0, 2052.0, 3.0].map(f16::from_f32));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// `Min` and `Max` skip NaN; `Minimum` and `Maximum` propagate it:
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// let x = [1.5, f32::NAN, -2.0];
    /// assert_eq!(device.scan_inclusive(&x, Min)?, [1.5, 1.5, -2.0]);
    /// assert!(device.scan_inclusive(&x, Minimum)?[1..].iter().all(|y| y.is_nan()));
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Launch`] if the device fails or has too little memory.
    fn scan_inclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: ScanElement<O>>,
        O: Operator<X::Element>,
    {
        scanned(self.borrow(), ScanKind::Inclusive, x, operator)
    }

    /// Returns the exclusive scan: element i is `x[0] ∘ … ∘ x[i − 1]`, and element 0 is the operator's identity.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_exclusive(&[3, 1, 4, 1, 5], Sum)?, [0, 3, 4, 8, 9]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`scan_inclusive`](Self::scan_inclusive).
    fn scan_exclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: ScanElement<O>>,
        O: Operator<X::Element>,
    {
        scanned(self.borrow(), ScanKind::Exclusive, x, operator)
    }
}

impl ScanExt for Device {}

fn scanned<X, O>(device: &Device, kind: ScanKind, x: X, operator: O) -> Result<X::Output, AlgorithmError>
where
    X: Vector<Element: ScanElement<O>>,
    O: Operator<X::Element>,
{
    x.mapped(device, |x, y| scan(device, default_rung_by::<X::Element, O>(device, x.len()), kind, x, y, operator))
}
