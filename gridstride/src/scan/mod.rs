//! The prefix scan: element i of the result is the elements up to i combined by an associative operator.
//!
//! [`scan`] runs one of the kernels of `gpu::scan` on buffers of any length; a [`Scanner`] does so again and again
//! without allocating. [`Scannable`] lists the element types of each operator.
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
//! // The recurrence a[i + 1] = 2·a[i] + i, from a[0] = 1, by composing its steps.
//! let steps: Vec<_> = (0..4).map(|i| Affine { factor: 2, offset: i }).collect();
//! let mut maps = device.alloc(4)?;
//! scan(&device, ScanRung::LookBack, ScanKind::Inclusive, &device.upload(&steps)?, &mut maps, Compose)?;
//! let values: Vec<_> = maps.download()?.into_iter().map(|map| map.apply(1)).collect();
//! assert_eq!(values, [2, 5, 12, 27]);
//! # Ok(())
//! # }
//! ```
//!
//! Input and output cannot overlap, which the compiler sees:
//!
//! ```compile_fail,E0502
//! # use gridstride::scan::{ScanRung, ScanKind, scan};
//! # fn overlap(device: &launch::Device, x: &mut launch::Buffer<f32>) {
//! let _ = scan(device, ScanRung::LookBack, ScanKind::Inclusive, x, x, gpu::operator::Sum);
//! # }
//! ```

use std::fmt;
use std::marker::PhantomData;

use cuda_std::{Global, GlobalMut};
use gpu::operator::Operator;
pub use gpu::scan::ScanRung;
use gpu::scan::{BLOCK_ELEMENTS, THREADS, pipelined_tile_elements, state_words, tile_elements};
use launch::{Buffer, Device, Element, Error, Graph, Held, Queue, Resources};

use crate::capabilities;
use crate::error::AlgorithmError;
use crate::vector::Vector;
use launches::Launches;

mod launches;
mod plan;
mod scannable;

pub use plan::{check_on, default_rung};
pub use scannable::Scannable;

/// Checks that the rung scans `len` elements of `T` with `O`.
///
/// # Errors
/// [`AlgorithmError::NotBuilt`] says what it offers instead.
pub fn check<T: Scannable<O>, O: Operator<T>>(rung: ScanRung, len: usize) -> Result<(), AlgorithmError> {
    capabilities::check(rung, &capabilities::of_operator::<T, O>(), len)
}

/// Returns the number of elements of `element_bytes` bytes that a block scans at a time, for a scan of `len` elements.
pub fn tile(rung: ScanRung, len: usize, element_bytes: usize) -> usize {
    let vector = 16 / element_bytes;
    match rung {
        ScanRung::Pipelined => pipelined_tile_elements(vector),
        ScanRung::LookBack => tile_elements(plan::chunks(len, element_bytes), vector),
        ScanRung::NaiveBlock => BLOCK_ELEMENTS,
        ScanRung::Naive | ScanRung::WorkEfficient => THREADS as usize,
    }
}

/// Returns the bytes of temporary storage for a scan of `len` elements of `T`.
pub fn temporary_bytes<T: Element>(rung: ScanRung, len: usize) -> u64 {
    let (count, size) = match rung {
        ScanRung::NaiveBlock | ScanRung::WorkEfficient => (0, 0),
        ScanRung::Naive => (if len > 2 { len } else { 0 }, size_of::<T>()),
        ScanRung::LookBack | ScanRung::Pipelined => (tile_state_words::<T>(rung, len), 8),
    };
    (count as u64).saturating_mul(size as u64)
}

/// Words of the states of the tiles of `len` elements.
fn tile_state_words<T: Element>(rung: ScanRung, len: usize) -> usize {
    state_words::<T>(len.div_ceil(tile(rung, len, size_of::<T>())))
}

/// Inclusive or exclusive: whether an element takes part in its own result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScanKind {
    /// Element i of the result is elements 0 to i combined.
    Inclusive,
    /// Element i of the result is elements 0 to i − 1 combined, and element 0 is the operator's identity.
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
    /// Returns the number of elements by which the result is shifted: 0 or 1.
    pub fn shift(self) -> usize {
        match self {
            Self::Inclusive => 0,
            Self::Exclusive => 1,
        }
    }
}

/// Writes the scan of `x` with `operator` into `y`.
///
/// Operands stay in order, but how they are grouped is the kernel's affair: sums and products of floats depend on it by
/// rounding. `LookBack` and `Pipelined` group by what they meet first, so that two of their runs may differ by that;
/// all other results are the same in every run.
///
/// On a GPU it returns at once: `y` is there for whatever is asked of the device next.
///
/// # Errors
/// [`Error::LengthMismatch`] unless `x` and `y` are of the same length, [`AlgorithmError::NotBuilt`] when the rung is
/// not built for the type and operator or for so many elements, or the device has too little shared memory for it, and
/// whatever prevents the launch.
pub fn scan<T: Scannable<O>, O: Operator<T>>(
    device: &Device,
    rung: ScanRung,
    kind: ScanKind,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    _operator: O,
) -> Result<(), AlgorithmError> {
    Scanner::<T, O>::new(device, rung, x.len())?.scan(kind, x, y)
}

/// A kernel made ready to scan arrays of one length, with its temporary storage.
#[derive(Debug)]
pub struct Scanner<T: Scannable<O>, O: Operator<T>> {
    device: Device,
    rung: ScanRung,
    len: usize,
    storage: Storage<T>,
    operator: PhantomData<fn() -> O>,
}

/// The temporary storage of a kernel.
#[derive(Debug)]
enum Storage<T: Element> {
    None,
    /// The other of the two buffers that take turns.
    Elements(Buffer<T>),
    /// The states of the tiles.
    States(Buffer<u64>),
}

impl<T: Scannable<O>, O: Operator<T>> Scanner<T, O> {
    /// For arrays of `len` elements on `device`.
    ///
    /// # Errors
    /// [`AlgorithmError::NotBuilt`] as for [`scan`]; [`Error::OutOfMemory`].
    pub fn new(device: &Device, rung: ScanRung, len: usize) -> Result<Self, AlgorithmError> {
        check_on::<T, O>(rung, device, len)?;
        let words = tile_state_words::<T>(rung, len);
        let storage = match rung {
            _ if temporary_bytes::<T>(rung, len) == 0 => Storage::None,
            ScanRung::NaiveBlock | ScanRung::WorkEfficient => Storage::None,
            ScanRung::Naive => Storage::Elements(device.alloc(len)?),
            // A scan begins with the states that the one before has left, of elements of as many words.
            ScanRung::LookBack | ScanRung::Pipelined => Storage::States(device.workspace::<Self, _>(words)?),
        };
        Ok(Self { device: device.clone(), rung, len, storage, operator: PhantomData })
    }

    /// Writes the scan of `x` into `y`, as [`scan`] does.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless both have the length that the scanner is for, and whatever prevents the launch.
    pub fn scan(&mut self, kind: ScanKind, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<(), AlgorithmError> {
        let device = self.device.clone();
        self.scan_in(device.queue(), kind, x, y)
    }

    /// The [`scan`](Self::scan) of `x` into `y` as a graph, which borrows them.
    ///
    /// A graph of more than that, or one that owns what it uses, so that `x` can be filled anew between its launches,
    /// is made by [`Device::record`] and [`scan_in`](Self::scan_in):
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
    /// As for [`scan`](Self::scan), and whatever prevents the graph from being made.
    #[allow(clippy::type_complexity, reason = "it is what the graph holds")]
    pub fn record<'a>(
        &'a mut self,
        kind: ScanKind,
        x: &'a Buffer<T>,
        y: &'a mut Buffer<T>,
    ) -> Result<Graph<(&'a mut Self, &'a Buffer<T>, &'a mut Buffer<T>)>, AlgorithmError> {
        let device = self.device.clone();
        device.record((self, x, y), |queue, (scanner, x, y)| scanner.scan_in(queue, kind, x, y))
    }

    /// As [`scan`](Self::scan), where `queue` is: the device, or a graph that is being recorded.
    ///
    /// # Errors
    /// As for [`scan`](Self::scan).
    pub fn scan_in(
        &mut self,
        queue: Queue<'_>,
        kind: ScanKind,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<(), AlgorithmError> {
        self.scan_views(queue, kind, x.view(), y.view_mut())
    }

    /// As [`scan_in`](Self::scan_in), of views: of parts of buffers, say, which may begin with any element. Those that
    /// begin at no multiple of 16 bytes are moved by elements, which takes longer.
    ///
    /// # Errors
    /// As for [`scan`](Self::scan).
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
        match (self.rung, &mut self.storage) {
            (ScanRung::NaiveBlock, _) => launches.one_block(),
            (ScanRung::Naive, Storage::Elements(other)) => launches.naive(Some(other)),
            (ScanRung::Naive, _) => launches.naive(None),
            (ScanRung::WorkEfficient, _) => launches.work_efficient(),
            (ScanRung::LookBack, Storage::States(states)) => launches.look_back(states),
            (ScanRung::Pipelined, Storage::States(states)) => launches.pipelined(states),
            // No elements have no states, and are not scanned.
            (ScanRung::LookBack | ScanRung::Pipelined, _) => Ok(()),
        }
    }

    /// Bytes of temporary storage.
    pub fn temporary_bytes(&self) -> u64 {
        temporary_bytes::<T>(self.rung, self.len)
    }
}

impl<T: Scannable<O>, O: Operator<T>> Resources for Scanner<T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        match &mut self.storage {
            Storage::None => {}
            Storage::Elements(other) => other.hold(held),
            Storage::States(states) => states.hold(held),
        }
    }
}

/// The scan as methods of a device, by the default rung.
pub trait ScanExt {
    /// The inclusive scan: element i is `x[0] ∘ … ∘ x[i]`.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_inclusive(&[3, 1, 4, 1, 5], Sum)?, [3, 4, 8, 9, 14]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlgorithmError::Launch`] when the device fails or has too little memory.
    fn scan_inclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>;

    /// The exclusive scan: element i is `x[0] ∘ … ∘ x[i − 1]`, and element 0 the operator's identity.
    ///
    /// ```
    /// # use gridstride::prelude::*;
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, gridstride::MODULES)?;
    /// assert_eq!(device.scan_exclusive(&[3, 1, 4, 1, 5], Sum)?, [0, 3, 4, 8, 9]);
    /// # Ok::<(), AlgorithmError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`scan_inclusive`](Self::scan_inclusive).
    fn scan_exclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>;
}

impl ScanExt for Device {
    fn scan_inclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>,
    {
        scanned(self, ScanKind::Inclusive, x, operator)
    }

    fn scan_exclusive<X, O>(&self, x: X, operator: O) -> Result<X::Output, AlgorithmError>
    where
        X: Vector<Element: Scannable<O>>,
        O: Operator<X::Element>,
    {
        scanned(self, ScanKind::Exclusive, x, operator)
    }
}

fn scanned<X, O>(device: &Device, kind: ScanKind, x: X, operator: O) -> Result<X::Output, AlgorithmError>
where
    X: Vector<Element: Scannable<O>>,
    O: Operator<X::Element>,
{
    x.mapped(device, |x, y| scan(device, default_rung::<X::Element>(device, x.len()), kind, x, y, operator))
}
