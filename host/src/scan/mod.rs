//! The prefix scan: element i of the result is the elements up to i combined by an associative operator.
//!
//! [`scan`] runs one of the kernels of `gpu::scan` on buffers of any length; a [`Scanner`] does so again and again without
//! allocating. [`Scannable`] says which element types go with which operators; the plain CPU answer is in
//! [`mod@reference`].
//!
//! ```
//! use gpu::operator::{Affine, Compose, Sum};
//! use host::scan::{ScanKernel, ScanKind, scan};
//! use launch::{Device, DeviceChoice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::open(DeviceChoice::Sim, host::modules::MODULES)?; // or `Auto`: a GPU where there is one
//! let x = device.upload(&[3, 1, 4, 1, 5])?;
//! let mut y = device.alloc::<i32>(5)?;
//! scan(&device, ScanKernel::LookBack, ScanKind::Inclusive, &x, &mut y, Sum)?;
//! assert_eq!(y.download()?, [3, 4, 8, 9, 14]);
//! scan(&device, ScanKernel::WorkEfficient, ScanKind::Exclusive, &x, &mut y, Sum)?;
//! assert_eq!(y.download()?, [0, 3, 4, 8, 9]);
//!
//! // The recurrence a[i + 1] = 2·a[i] + i, from a[0] = 1, by composing its steps.
//! let steps: Vec<_> = (0..4).map(|i| Affine { factor: 2, offset: i }).collect();
//! let mut maps = device.alloc(4)?;
//! scan(&device, ScanKernel::LookBack, ScanKind::Inclusive, &device.upload(&steps)?, &mut maps, Compose)?;
//! let values: Vec<_> = maps.download()?.into_iter().map(|map| map.apply(1)).collect();
//! assert_eq!(values, [2, 5, 12, 27]);
//! # Ok(())
//! # }
//! ```
//!
//! Input and output cannot overlap, which the compiler sees:
//!
//! ```compile_fail,E0502
//! # use host::scan::{ScanKernel, ScanKind, scan};
//! # fn overlap(device: &launch::Device, x: &mut launch::Buffer<f32>) {
//! let _ = scan(device, ScanKernel::LookBack, ScanKind::Inclusive, x, x, gpu::operator::Sum);
//! # }
//! ```

use std::any::type_name;
use std::marker::PhantomData;

use gpu::scan::{
    BLOCK_ELEMENTS, PIPELINED_THREADS, RING_BYTES, THREADS, down_sweep_nodes, pipelined_tile_elements, tile_elements,
    up_sweep_nodes,
};
use launch::{Buffer, Device, Error, Graph, Held, LaunchConfig, Queue, Resources};

use crate::rungs::{AlgorithmError, Rung, rungs};

pub mod command;
mod inputs;
mod instances;
mod plan;
pub mod reference;

pub use instances::Scannable;
use instances::{SinglePass, Textbook};

/// The most blocks of a grid whose threads stride over the elements.
const MOST_BLOCKS: usize = i32::MAX as usize;

rungs! {
    /// The kernels that scan.
    pub enum ScanKernel: "scan" {
        /// Every element takes in the one 2ᵏ before it, step by step, in one block of up to 1024 elements.
        NaiveBlock = "naive_block",
        /// The same over any length, a launch a step.
        Naive = "naive",
        /// Up and down a tree over any length, a launch a level.
        WorkEfficient = "work_efficient",
        /// One pass: a tile looks back at what the tiles before it have published.
        LookBack = "look_back",
        /// One pass by blocks that stay: one tile is copied, one summed, one scanned at a time.
        Pipelined = "pipelined",
    }
}

impl ScanKernel {
    /// The kernels of `gpu` that it launches.
    pub(crate) const fn families(self) -> &'static [&'static str] {
        match self {
            Self::NaiveBlock => &["scan_naive_block"],
            Self::Naive => &["scan_naive_step"],
            Self::WorkEfficient => &["scan_shifted_copy", "scan_up_sweep", "scan_down_sweep"],
            Self::LookBack => &["scan_look_back"],
            Self::Pipelined => &["scan_pipelined"],
        }
    }

    /// Whether the kernel scans `len` elements of `T` with `O`.
    ///
    /// # Errors
    /// [`AlgorithmError::NotOffered`] says what it offers instead.
    pub fn check<T: Scannable<O>, O>(self, len: usize) -> Result<(), AlgorithmError> {
        let refuse = |asked: String| {
            let offered = self.offered().to_owned();
            Err(AlgorithmError::NotOffered { algorithm: Self::ALGORITHM, kernel: self.name(), asked, offered })
        };
        if !matches!(self, Self::LookBack | Self::Pipelined) && T::textbook().is_none() {
            return refuse(format!("{} of {}", short_name::<O>(), short_name::<T>()));
        }
        if self == Self::NaiveBlock && len > BLOCK_ELEMENTS {
            return refuse(format!("{len} elements"));
        }
        Ok(())
    }

    fn offered(self) -> &'static str {
        match self {
            Self::NaiveBlock => "the sum of f32, i32 and f64, of up to 1024 elements",
            Self::Naive | Self::WorkEfficient => "the sum of f32, i32 and f64",
            Self::LookBack | Self::Pipelined => {
                "sum, product, min and max of f32, f64, i32, u32, i64 and u64, and the composition of affine maps"
            }
        }
    }

    /// Elements of `element_bytes` bytes that a block scans at a time, of `len` in all.
    pub fn tile(self, len: usize, element_bytes: usize) -> usize {
        let vector = 16 / element_bytes;
        match self {
            Self::Pipelined => pipelined_tile_elements(vector),
            Self::LookBack => tile_elements(plan::chunks(len, element_bytes), vector),
            Self::NaiveBlock => BLOCK_ELEMENTS,
            Self::Naive | Self::WorkEfficient => THREADS as usize,
        }
    }

    /// Bytes of temporary storage for a scan of `len` elements of `T` with `O`.
    pub fn temporary_bytes<T: Scannable<O>, O>(self, len: usize) -> u64 {
        let (count, size) = match self {
            Self::NaiveBlock | Self::WorkEfficient => (0, 0),
            Self::Naive => (if len > 2 { len } else { 0 }, size_of::<T>()),
            Self::LookBack | Self::Pipelined => (T::state_words(len.div_ceil(self.tile(len, size_of::<T>()))), 8),
        };
        (count as u64).saturating_mul(size as u64)
    }
}

/// The last part of a type's name, in lower case.
fn short_name<T>() -> String {
    type_name::<T>().rsplit("::").next().unwrap_or_default().to_lowercase()
}

/// Whether an element takes part in its own result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScanKind {
    /// It does: element i is elements 0 to i combined.
    Inclusive,
    /// It does not: element i is elements 0 to i − 1 combined, and element 0 the operator's identity.
    Exclusive,
}

impl ScanKind {
    /// Elements by which the result is moved up.
    fn shift(self) -> usize {
        match self {
            Self::Inclusive => 0,
            Self::Exclusive => 1,
        }
    }
}

/// Writes the scan of `x` with `operator` into `y`.
///
/// Operands stay in order, but how they are grouped is the kernel's affair: sums and products of floats depend on it by
/// rounding. `LookBack` and `Pipelined` group by what they meet first, so that two of their runs may differ by that; all
/// other results are the same in every run.
///
/// On a GPU it returns at once: `y` is there for whatever is asked of the device next.
///
/// # Errors
/// [`Error::LengthMismatch`] unless `x` and `y` are of the same length, [`AlgorithmError::NotOffered`] when the kernel is
/// not built for the type and operator or for so many elements, or the device has too little shared memory for it, and
/// whatever prevents the launch.
pub fn scan<T: Scannable<O>, O>(
    device: &Device,
    kernel: ScanKernel,
    kind: ScanKind,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    _operator: O,
) -> Result<(), AlgorithmError> {
    Scanner::<T, O>::new(device, kernel, x.len())?.scan(kind, x, y)
}

/// A kernel made ready to scan arrays of one length, with its temporary storage.
#[derive(Debug)]
pub struct Scanner<T: Scannable<O>, O> {
    device: Device,
    kernel: ScanKernel,
    len: usize,
    storage: Storage<T>,
    operator: PhantomData<fn() -> O>,
}

/// What a kernel needs beside input and output.
#[derive(Debug)]
enum Storage<T: launch::Element> {
    None,
    /// The other of the two buffers that take turns.
    Elements(Buffer<T>),
    /// The states of the tiles.
    States(Buffer<u64>),
}

impl<T: Scannable<O>, O> Scanner<T, O> {
    /// For arrays of `len` elements on `device`.
    ///
    /// # Errors
    /// [`AlgorithmError::NotOffered`] as for [`scan`]; [`Error::OutOfMemory`].
    pub fn new(device: &Device, kernel: ScanKernel, len: usize) -> Result<Self, AlgorithmError> {
        kernel.check_on::<T, O>(device, len)?;
        let storage = match kernel {
            _ if kernel.temporary_bytes::<T, O>(len) == 0 => Storage::None,
            ScanKernel::NaiveBlock | ScanKernel::WorkEfficient => Storage::None,
            ScanKernel::Naive => Storage::Elements(device.alloc(len)?),
            ScanKernel::LookBack | ScanKernel::Pipelined => {
                Storage::States(device.zeroed(T::state_words(len.div_ceil(kernel.tile(len, size_of::<T>()))))?)
            }
        };
        Ok(Self { device: device.clone(), kernel, len, storage, operator: PhantomData })
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
    /// A graph of more than that, or one that owns what it uses, so that `x` can be filled anew between its launches, is
    /// made by [`Device::record`] and [`scan_in`](Self::scan_in):
    ///
    /// ```
    /// use gpu::operator::Sum;
    /// use host::scan::{ScanKernel, ScanKind, Scanner};
    /// # fn main() -> Result<(), host::rungs::AlgorithmError> {
    /// # let device = launch::Device::open(launch::DeviceChoice::Sim, host::modules::MODULES)?;
    /// let (x, y) = (device.upload(&[3, 1, 4])?, device.alloc(3)?);
    /// let scanner = Scanner::<i32, Sum>::new(&device, ScanKernel::LookBack, x.len())?;
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
        for (what, buffer) in [("scan into another buffer", y.len()), ("scan with this scanner", x.len())] {
            if buffer != self.len {
                return Err(Error::LengthMismatch { what, buffer, other: self.len }.into());
            }
        }
        if self.len == 0 {
            return Ok(());
        }
        let tiles = self.len.div_ceil(self.kernel.tile(self.len, size_of::<T>()));
        match (self.kernel, T::textbook(), &mut self.storage) {
            (ScanKernel::NaiveBlock, Some(kernels), _) => {
                let block = self.len.next_multiple_of(32).min(BLOCK_ELEMENTS) as u32;
                kernels.block((queue, LaunchConfig::new(1, block)), x, y, kind.shift())?;
            }
            (ScanKernel::Naive, Some(kernels), storage) => {
                let other = match storage {
                    Storage::Elements(other) => Some(other),
                    _ => None,
                };
                naive(kernels, queue, kind, x, y, other)?;
            }
            (ScanKernel::WorkEfficient, Some(kernels), _) => work_efficient(kernels, queue, kind, x, y)?,
            (ScanKernel::LookBack, _, Storage::States(states)) => {
                // Where more blocks are needed than can be counted, the launch refuses the most that can.
                let tiles = u32::try_from(tiles).unwrap_or(u32::MAX);
                let config = LaunchConfig::new(tiles, THREADS);
                let exclusive = kind.shift() as u32;
                let chunks = plan::chunks(self.len, size_of::<T>()) as u32;
                let pass = SinglePass { queue, config, x, y, exclusive, states };
                if let Err(error) = T::look_back(pass, chunks) {
                    // The states may have been left half-way, and a scan begins with those that the one before has left.
                    queue.fill_zero(states)?;
                    return Err(error.into());
                }
            }
            (ScanKernel::Pipelined, _, Storage::States(states)) => {
                queue.fill_zero(states)?;
                let blocks = plan::pipelined_grid(&self.device, tiles);
                let config = LaunchConfig::new(blocks, PIPELINED_THREADS).shared_bytes(RING_BYTES);
                let exclusive = kind.shift() as u32;
                T::pipelined(SinglePass { queue, config, x, y, exclusive, states })?;
            }
            // `new` has refused what has no kernel.
            (kernel, ..) => kernel.check::<T, O>(self.len)?,
        }
        Ok(())
    }
}

impl<T: Scannable<O>, O> Resources for Scanner<T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        match &mut self.storage {
            Storage::None => {}
            Storage::Elements(other) => other.hold(held),
            Storage::States(states) => states.hold(held),
        }
    }
}

/// A grid of a thread an element or, for very many, whose threads stride over them.
fn grid(n: usize) -> LaunchConfig {
    LaunchConfig::new(n.div_ceil(THREADS as usize).clamp(1, MOST_BLOCKS) as u32, THREADS)
}

/// Steps 1, 2, 4, … elements wide, of which the last writes `y`; `other` is needed from the second step on.
fn naive<T: launch::Element>(
    kernels: &dyn Textbook<T>,
    queue: Queue<'_>,
    kind: ScanKind,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    mut other: Option<&mut Buffer<T>>,
) -> Result<(), Error> {
    let (n, at) = (y.len(), (queue, grid(y.len())));
    // One element takes a step as well: it copies.
    let steps = n.next_power_of_two().ilog2().max(1);
    for step in 0..steps {
        let writes_y = (steps - 1 - step).is_multiple_of(2);
        let (distance, shift) = (1 << step, if step == 0 { kind.shift() } else { 0 });
        match (&mut other, writes_y) {
            (_, true) if step == 0 => kernels.step(at, x, y, distance, shift)?,
            (Some(other), false) if step == 0 => kernels.step(at, x, other, distance, shift)?,
            (Some(other), true) => kernels.step(at, other, y, distance, shift)?,
            (Some(other), false) => kernels.step(at, y, other, distance, shift)?,
            (None, _) => return Err(Error::LengthMismatch { what: "take turns", buffer: n, other: 0 }),
        }
    }
    Ok(())
}

/// Up-sweep and down-sweep in place in `y`.
fn work_efficient<T: launch::Element>(
    kernels: &dyn Textbook<T>,
    queue: Queue<'_>,
    kind: ScanKind,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
) -> Result<(), Error> {
    let n = y.len();
    kernels.copy((queue, grid(n)), x, y, kind.shift())?;
    let levels = n.ilog2();
    for width in (0..levels).map(|level| 1 << level) {
        kernels.up((queue, grid(up_sweep_nodes(n, width))), y, width)?;
    }
    for width in (0..levels).rev().map(|level| 1 << level) {
        match down_sweep_nodes(n, width) {
            0 => {}
            nodes => kernels.down((queue, grid(nodes)), y, width)?,
        }
    }
    Ok(())
}
