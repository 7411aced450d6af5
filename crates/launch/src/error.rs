//! The errors of this crate.

use std::fmt;

use cuda_std::{DeviceId, Dim3, KernelInfo, LaunchConfig, PartOutOfRange};

use crate::group_choice::GroupChoice;
use crate::ordering::StreamRace;
use crate::unavailable::Unavailable;
use crate::version::CudaVersion;

/// The launch to which an error refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The number of blocks.
    pub grid: Dim3,
    /// The number of threads per block.
    pub block: Dim3,
    /// The dynamic shared memory per block, in bytes.
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

/// An error of a device or of its use. `Debug` writes the text of `Display`, because `main` and `unwrap` print errors
/// by `Debug`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device does not have enough free memory.
    #[error("out of memory on {device}: {requested_bytes} bytes requested, {free_bytes} free; use less or free some")]
    OutOfMemory {
        /// The number of bytes requested.
        requested_bytes: u64,
        /// The number of free bytes, which may not be contiguous.
        free_bytes: u64,
        /// The device's name.
        device: String,
    },
    /// The host does not have enough free memory for a download.
    #[error("out of host memory: no room for the {requested_bytes} bytes to download; use less or free some")]
    OutOfHostMemory {
        /// The number of bytes requested.
        requested_bytes: u64,
    },
    /// The host does not have enough free memory that can be page-locked.
    #[error(
        "out of host memory: {requested_bytes} bytes cannot be page-locked; use less, free some, or use memory that is \
         not page-locked"
    )]
    OutOfPageLockedMemory {
        /// The number of bytes requested.
        requested_bytes: u64,
    },
    /// The size of a buffer in bytes does not fit into an address.
    #[error("no memory holds {len} elements of {element_bytes} bytes each: use fewer elements")]
    TooLarge {
        /// The number of elements requested.
        len: usize,
        /// The size of an element in bytes.
        element_bytes: usize,
    },
    /// The chosen device cannot be used.
    #[error("device {choice} cannot be used: {reason}; {}; or use the simulator (device `sim`)", reason.remedy())]
    NoDevice {
        /// The chosen device or devices.
        choice: GroupChoice,
        /// The reason.
        reason: Unavailable,
    },
    /// A call of the driver failed.
    #[error("cannot {what}: {text} ({name}, {code}){}", Remedy(remedy))]
    Driver {
        /// The call's purpose, such as "allocate 64 bytes".
        what: String,
        /// The driver's error code.
        code: u32,
        /// The code's name in NVIDIA's manuals.
        name: String,
        /// The driver's description of the code.
        text: String,
        /// The remedy, or an empty text.
        remedy: &'static str,
    },
    /// The device cannot run this launch. Nothing was launched.
    #[error("cannot launch {launch}: {reason}")]
    InvalidLaunch {
        /// The launch.
        launch: Launched,
        /// The limit that the launch exceeds, or the parameter that does not fit.
        reason: String,
    },
    /// A kernel failed while it ran. All memory and work of this process on the GPU is lost.
    #[error(
        "the GPU failed: {text} ({name}, {code}){}; all memory and work of this process on the GPU is lost, and the \
        driver refuses it every GPU from now on: restart the program; the simulator (device `sim`) finds the line at \
        fault",
        LastLaunch(launch)
    )]
    ContextLost {
        /// The last kernel launched. If only one kernel was running, it is the kernel that failed.
        launch: Option<Launched>,
        /// The driver's error code.
        code: u32,
        /// The code's name in NVIDIA's manuals.
        name: String,
        /// The driver's description of the code.
        text: String,
    },
    /// A kernel failed in the simulator.
    #[error(transparent)]
    Fault(Box<simt::Fault>),
    /// The buffer and the other side of a copy have different lengths.
    #[error("cannot {what}: the buffer has {buffer} elements, but {other} were passed: pass {buffer} elements")]
    LengthMismatch {
        /// The operation, such as "upload".
        what: &'static str,
        /// The number of elements of the buffer.
        buffer: usize,
        /// The number of elements of the other slice or buffer.
        other: usize,
    },
    /// A range of elements goes beyond the end of the buffer.
    #[error("cannot {what} elements {start}..{end}: the buffer has elements 0..{buffer}")]
    OutOfRange {
        /// The operation, such as "copy from".
        what: &'static str,
        /// The first element of the range.
        start: usize,
        /// The first element after the range.
        end: usize,
        /// The number of elements of the buffer.
        buffer: usize,
    },
    /// A part of a view that exceeds the view was passed to a launch or copy.
    #[error(
        "cannot use elements {start}..{end} of a view that has elements 0..{len}: the part was made at {location}; \
        make it shorter"
    )]
    PartOutOfRange {
        /// The first element of the part.
        start: usize,
        /// The first element after the part.
        end: usize,
        /// The number of elements of the view.
        len: usize,
        /// The source line that made the part.
        location: &'static std::panic::Location<'static>,
    },
    /// Two streams access the same memory without an order, and at least one of them writes it.
    ///
    /// Checking devices report races between streams ([`checked_devices`](crate::checked_devices)). The access that was
    /// enqueued later is not executed. A launch is executed nevertheless if only its execution shows what it writes.
    #[error("{0}")]
    StreamRace(Box<StreamRace>),
    /// The address of another library's memory is not aligned.
    #[error(
        "the memory at {address:#x} cannot be used: its address must be a multiple of {alignment}; pass the start of \
        an allocation, or a view of its elements"
    )]
    Misaligned {
        /// The address that was passed.
        address: usize,
        /// The alignment in bytes that the address must have.
        alignment: usize,
    },
    /// The source and the destination of a copy overlap.
    #[error("source and destination of the copy overlap: copy in pieces, or through another buffer")]
    Overlap,
    /// The devices cannot form a group.
    #[error("cannot form a group of devices: {reason}")]
    InvalidGroup {
        /// The reason why the devices cannot form a group, and the remedy.
        reason: &'static str,
    },
    /// Memory or an event of one device was used on another.
    #[error(
        "{what} needs memory or an event of {device}, but another device's was passed: copy the memory to {device} \
        first, or record the event there"
    )]
    WrongDevice {
        /// The operation, such as "the launch of `saxpy`".
        what: String,
        /// The device on which the memory or the event was used.
        device: String,
    },
    /// A tensor map that the hardware does not have.
    #[error("cannot make a tensor map: {reason}")]
    TensorMap {
        /// The limit that the map exceeds, and what to change.
        reason: String,
    },
    /// The work of a graph uses a buffer that is not among the graph's resources.
    #[error(
        "`{user}` {how} memory that the graph does not hold for that: pass its buffer to Device::record, by value or \
        as `&mut` if it is written, name it in `Resources::hold`, and do not replace it by another buffer"
    )]
    NotHeld {
        /// The operation that uses the memory: a kernel's name, `fill_zero` or `copy`.
        user: &'static str,
        /// The kind of access: "reads" or "writes".
        how: &'static str,
    },
    /// A queue that records its work for a graph was used for an operation that needs the work to run.
    #[error("cannot {what} while the work is recorded for a graph: do it before or after the recording")]
    Recording {
        /// The operation, such as "download".
        what: &'static str,
    },
    /// No PTX was passed for this kernel, so that only the simulator can run it.
    #[error(
        "there is no PTX for kernel `{kernel}` of `{module}`: pass Device::open a PtxModule whose path is \
        `{module}` or a module that contains it"
    )]
    NoModule {
        /// The kernel's name.
        kernel: &'static str,
        /// The Rust module in which the kernel is declared.
        module: &'static str,
    },
    /// The driver cannot compile a module's PTX.
    #[error("the driver cannot compile the PTX of `{module}` for sm_{arch}: {text} ({name}, {code})\n{log}")]
    Jit {
        /// The module's path.
        module: &'static str,
        /// The architecture of the PTX image.
        arch: u32,
        /// The driver's error code.
        code: u32,
        /// The code's name in NVIDIA's manuals.
        name: String,
        /// The driver's description of the code.
        text: String,
        /// The compiler's messages.
        log: String,
    },
    /// The driver is too old for every image of the module that the GPU could run.
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
        /// The lowest CUDA version that supports one of the images, if the PTX states its version.
        need: Option<CudaVersion>,
    },
    /// The device does not support an operation.
    #[error("{device} has no {what}; use a GPU")]
    NotSupported {
        /// The missing feature, such as "registers to count".
        what: &'static str,
        /// The device's name.
        device: String,
    },
}

simt::debug_as_display!(Error);

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

impl Error {
    /// Returns the error for the use of a view of the device `used` by `what` on the device called `device`.
    pub(crate) fn wrong_device(used: DeviceId, what: String, device: &str) -> Self {
        match used.part_out_of_range() {
            None => Self::WrongDevice { what, device: device.to_owned() },
            Some(PartOutOfRange { start, len, view_len, location }) => {
                Self::PartOutOfRange { start, end: start.saturating_add(len), len: view_len, location }
            }
        }
    }
}

/// The remedy at the end of a message, or nothing.
struct Remedy<'a>(&'a str);

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            remedy => write!(f, "; {remedy}"),
        }
    }
}

/// Displays the part of a message that names the last launch, or nothing if there was no launch.
struct LastLaunch<'a>(&'a Option<Launched>);

impl fmt::Display for LastLaunch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(launch) => write!(f, "; the last kernel launched is {launch}"),
            None => Ok(()),
        }
    }
}
