//! What can go wrong between the host and a device.

use std::fmt;

use cuda_std::{Dim3, KernelInfo, LaunchConfig};

use crate::group_choice::GroupChoice;
use crate::ordering::StreamRace;
use crate::unavailable::Unavailable;
use crate::version::CudaVersion;

/// A launch, as an error names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
    /// Dynamic shared memory, in bytes per block.
    pub shared_bytes: u32,
}

impl Launched {
    pub(crate) fn new(kernel: &KernelInfo, config: LaunchConfig) -> Self {
        Self { kernel: kernel.name, grid: config.grid, block: config.block, shared_bytes: config.shared_bytes }
    }
}

impl fmt::Display for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, grid {}, block {}", self.kernel, self.grid, self.block)?;
        match self.shared_bytes {
            0 => Ok(()),
            bytes => write!(f, ", {bytes} bytes of dynamic shared memory"),
        }
    }
}

/// What can go wrong between the host and a device. `Debug` is the same text, since `main` and `unwrap` show that one.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device has not that much memory left.
    #[error("out of memory on {device}: {requested_bytes} bytes asked for, {free_bytes} free; use less or free some")]
    OutOfMemory {
        /// Bytes asked for.
        requested_bytes: u64,
        /// Bytes free, though perhaps not in one piece.
        free_bytes: u64,
        /// The device's name.
        device: String,
    },
    /// The host has not that much memory left for what is downloaded.
    #[error("out of host memory: no room for the {requested_bytes} bytes to download; use less or free some")]
    OutOfHostMemory {
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// The host has not that much memory left that could be locked in its place.
    #[error(
        "out of host memory: {requested_bytes} bytes cannot be page-locked; use less, free some, or use memory that is \
         not page-locked"
    )]
    OutOfPageLockedMemory {
        /// Bytes asked for.
        requested_bytes: u64,
    },
    /// More bytes than an address can count.
    #[error("{len} elements of {element_bytes} bytes are more than any memory holds")]
    TooLarge {
        /// Elements asked for.
        len: usize,
        /// Bytes of each.
        element_bytes: usize,
    },
    /// The device asked for cannot be used.
    #[error("device {choice} cannot be used: {reason}; {}; or use the simulator (device `sim`)", reason.remedy())]
    NoDevice {
        /// The device or devices asked for.
        choice: GroupChoice,
        /// Why not.
        reason: Unavailable,
    },
    /// The driver refuses something.
    #[error("cannot {what}: {text} ({name}, {code}){}", Remedy(remedy))]
    Driver {
        /// What it was asked to do.
        what: String,
        /// Its answer.
        code: u32,
        /// The answer's name, as NVIDIA's manuals have it.
        name: String,
        /// The answer in words.
        text: String,
        /// What to do, or nothing.
        remedy: &'static str,
    },
    /// A launch that this device cannot run. Nothing was launched.
    #[error("cannot launch {launch}: {reason}")]
    InvalidLaunch {
        /// What was asked for.
        launch: Launched,
        /// The limit that it exceeds.
        reason: String,
    },
    /// A kernel failed while it ran, and the GPU gave up on everything that this process had there.
    #[error(
        "the GPU failed: {text} ({name}, {code}){}; everything that this process had on it is lost, and the driver lets \
         it use no GPU again: restart the program; the simulator (device `sim`) finds the line at fault",
        LastLaunch(launch)
    )]
    ContextLost {
        /// The last kernel launched: the one that failed, unless several were under way.
        launch: Option<Launched>,
        /// The driver's answer.
        code: u32,
        /// The answer's name.
        name: String,
        /// The answer in words.
        text: String,
    },
    /// A kernel failed in the simulator.
    #[error(transparent)]
    Fault(Box<simt::Fault>),
    /// Host and device disagree on how many elements there are.
    #[error("cannot {what}: the buffer has {buffer} elements and the other side has {other}; they must be equal")]
    LengthMismatch {
        /// What was asked for.
        what: &'static str,
        /// Elements of the buffer.
        buffer: usize,
        /// Elements of the slice or buffer that it was to be copied from or to.
        other: usize,
    },
    /// A buffer has not all of the elements that are asked for.
    #[error("cannot {what} elements {start}..{end}: the buffer has {buffer} elements")]
    OutOfRange {
        /// What was asked for: "copy from".
        what: &'static str,
        /// The first of the elements.
        start: usize,
        /// The one after the last.
        end: usize,
        /// Elements of the buffer.
        buffer: usize,
    },
    /// Two streams access the same memory, one of them writes it, and nothing orders them. Devices that check find it
    /// ([`checked_devices`](crate::checked_devices)). What was asked later is not done, unless it is a launch that is
    /// known only afterwards to write.
    #[error("{0}")]
    StreamRace(Box<StreamRace>),
    /// What is copied is in part where it is copied to.
    #[error("cannot copy elements to a place that has some of them: copy in pieces, or by way of another buffer")]
    Overlap,
    /// No group can be made of these devices.
    #[error("no group of devices: {reason}")]
    InvalidGroup {
        /// What is wrong, and what to do.
        reason: &'static str,
    },
    /// Memory of one device is used on another.
    #[error("{what} uses memory of another device than {device}; copy it there first")]
    WrongDevice {
        /// What was asked for: "the launch of `saxpy`".
        what: String,
        /// The device that was to do it.
        device: String,
    },
    /// A graph's work uses memory that the graph does not hold.
    #[error(
        "`{user}` {how} memory that the graph does not hold for that: give its buffer to Device::record, by value or as \
         `&mut` if it is written, name it in `Resources::hold`, and exchange it for no other"
    )]
    NotHeld {
        /// The kernel, `fill_zero` or `copy`.
        user: &'static str,
        /// "reads" or "writes".
        how: &'static str,
    },
    /// No PTX was given for this kernel, so that only the simulator can run it.
    #[error(
        "there is no PTX for kernel `{kernel}` of `{module}`: give Device::open a PtxModule whose path is that module's \
         or one above it"
    )]
    NoModule {
        /// The kernel's name.
        kernel: &'static str,
        /// The Rust module that it stands in.
        module: &'static str,
    },
    /// The driver cannot compile a module's PTX.
    #[error("the driver cannot compile the PTX of `{module}` for sm_{arch}: {text} ({name}, {code})\n{log}")]
    Jit {
        /// The module's path.
        module: &'static str,
        /// The architecture of the image.
        arch: u32,
        /// The driver's answer.
        code: u32,
        /// The answer's name.
        name: String,
        /// The answer in words.
        text: String,
        /// The compiler's messages.
        log: String,
    },
    /// The driver is too old for every image of a module that the GPU could run.
    #[error(
        "the PTX of `{module}` is too new for this driver, which supports CUDA {have}; install one that supports \
         CUDA {} or later, or use the simulator (device `sim`)",
        need.map_or_else(|| "of a later version".to_owned(), |need| need.to_string())
    )]
    PtxTooNew {
        /// The module's path.
        module: &'static str,
        /// The CUDA version that the driver supports.
        have: CudaVersion,
        /// The lowest that reads one of the images, if the PTX states its version.
        need: Option<CudaVersion>,
    },
    /// The device has no such thing.
    #[error("{device} has no {what}; use a GPU")]
    NotSupported {
        /// What was asked for.
        what: &'static str,
        /// The device's name.
        device: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<simt::Fault> for Error {
    fn from(fault: simt::Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<Box<StreamRace>> for Error {
    fn from(race: Box<StreamRace>) -> Self {
        Self::StreamRace(race)
    }
}

/// The end of a message that may have something to recommend.
struct Remedy<'a>(&'a str);

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            remedy => write!(f, "; {remedy}"),
        }
    }
}

/// The part of a message that names the last launch, if there was one.
struct LastLaunch<'a>(&'a Option<Launched>);

impl fmt::Display for LastLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(launch) => write!(f, "; the last kernel launched is {launch}"),
            None => Ok(()),
        }
    }
}
