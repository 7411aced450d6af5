//! Devices, buffers, timing and typed launches, on NVIDIA GPUs or in the simulator.
//!
//! The driver is loaded when a program opens a GPU: nothing has to be installed or set to build a program, and it also
//! runs where there is no driver. With the feature `cust`, the crate `cust` makes the context and launches the kernels.
//!
//! ```
//! use launch::{Device, DeviceChoice, LaunchConfig};
//! use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};
//!
//! /// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
//! #[kernel]
//! pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
//!     for i in thread::grid_stride(y.len()) {
//!         y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
//!     }
//! }
//!
//! # fn main() -> Result<(), launch::Error> {
//! # const MODULES: &[launch::PtxModule] = &[];
//! let device = Device::open(DeviceChoice::Sim, MODULES)?; // or `Auto`: a GPU where there is one
//! let x = device.upload(&[1.0, 2.0, 3.0])?;
//! let mut y = device.upload(&[10.0, 20.0, 30.0])?;
//! device.launch(LaunchConfig::new(1, 32), saxpy(2.0, x.view(), y.view_mut()))?;
//! assert_eq!(y.download()?, [12.0, 24.0, 36.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The compiler checks a launch against the kernel's parameters, on GPUs and in the simulator:
//!
//! ```compile_fail,E0308
//! # use cuda_std::{Global, GlobalMut, kernel};
//! # #[kernel]
//! # pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {}
//! # fn swapped(x: &launch::Buffer<f32>, y: &mut launch::Buffer<f32>) {
//! let call = saxpy(2.0, y.view_mut(), x.view()); // does not compile: the views are swapped
//! # }
//! ```
//!
//! Buffers stay borrowed as long as a call has views of them:
//!
//! ```compile_fail,E0505
//! # use cuda_std::{Global, GlobalMut, kernel};
//! # #[kernel]
//! # pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {}
//! # fn freed(device: &launch::Device, x: launch::Buffer<f32>, y: &mut launch::Buffer<f32>) {
//! let call = saxpy(2.0, x.view(), y.view_mut());
//! drop(x); // does not compile: the call has a view of `x`
//! let result = device.launch(launch::LaunchConfig::new(1, 32), call);
//! # }
//! ```
//!
//! Code that uses this crate need not know which device runs it. GPUs and the simulator differ in these points:
//!
//! - A launch on a GPU returns at once, and work runs in the order in which it is enqueued. In the simulator a launch
//!   returns when the kernel has ended.
//! - If a kernel fails on a GPU, the next call that waits for the device returns [`Error::ContextLost`], and the device
//!   cannot be used any more. In the simulator the launch returns [`Error::Fault`] with thread and source line, and the
//!   device stays usable.
//! - A kernel's `println!` is printed at [`Device::synchronize`] on a GPU, and as it runs in the simulator.
//! - New memory has unspecified contents on a GPU, and a poison pattern in the simulator.
//! - The host reads a buffer by [`Buffer::download`] or [`Buffer::download_range`]. `load` of a view is for kernels:
//!   called on the host, it returns the element in the simulator, and panics for a GPU's memory.
//!
//! A [`Device`] is a cheap handle: clone it, send it, use it from several threads. It lives as long as any of its
//! buffers.
//!
//! # Streams
//!
//! One [`Stream`] can copy while another runs kernels, if the host memory is page-locked ([`PinnedBuffer`]). Streams
//! live in a scope, as threads do in [`std::thread::scope`], so that the memory that they use outlives their work:
//!
//! ```
//! use launch::{Device, DeviceChoice, LaunchConfig};
//! # use cuda_std::{Global, GlobalMut, kernel, thread};
//! # /// `y[i] = a·x[i]` for every `i`; any grid.
//! # #[kernel]
//! # pub fn scale(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
//! #     for i in thread::grid_stride(y.len()) {
//! #         y.store(i, a * x.load(i));
//! #     }
//! # }
//! # fn main() -> Result<(), launch::Error> {
//! # const MODULES: &[launch::PtxModule] = &[];
//! # let device = Device::open(DeviceChoice::Sim, MODULES)?;
//! const HALF: usize = 512;
//! let mut host = device.pinned::<f32>(2 * HALF)?;
//! host.fill(1.5);
//! let mut result = device.pinned::<f32>(2 * HALF)?;
//! let mut x = device.alloc::<f32>(2 * HALF)?;
//! let mut y = device.alloc::<f32>(2 * HALF)?;
//!
//! // One stream copies its half while the other computes.
//! let device_halves = x.as_part_mut().chunks(HALF).zip(y.as_part_mut().chunks(HALF));
//! let halves = device_halves.zip(host.chunks(HALF).zip(result.chunks_mut(HALF)));
//! device.streams(2, |streams| {
//!     for (stream, ((x, y), (from, into))) in streams.iter().zip(halves) {
//!         let (x, y) = (stream.upload_part(x, from)?, y.view_mut());
//!         stream.launch(LaunchConfig::new(2, 256), scale(2.0, x, y))?;
//!         stream.download(y, into)?;
//!     }
//!     Ok(())
//! })?;
//! assert!(result.iter().all(|&y| y == 3.0));
//! # Ok(())
//! # }
//! ```
//!
//! An [`OwnedStream`] belongs to no scope. A struct can keep it, and a task can await its work:
//! `stream.queue().finished().await`. A [`Queue`] enqueues work on a device, in a stream or in a graph, so a function
//! that takes a queue works for all of them.
//!
//! A [`MappedBuffer`] is host memory that kernels access in place.
//!
//! # Graphs
//!
//! Small work that is repeated can be recorded once, by [`Device::record`], as a [`Graph`], which is launched as a
//! whole.
//!
//! # Several devices
//!
//! A [`Group`] is a set of devices that work together: all GPUs (`gpu:all`), some GPUs (`gpu:0,2`), or simulated
//! devices, each with its own memory (`sim:4`). A kernel is launched on each [member](Group::members) with views of
//! that member's memory; the launch returns an error if a view points to another member's memory.
//!
//! Copies between members ([`Buffer::copy_range_from`], [`Group::copy_all`]) go directly from GPU to GPU if possible.
//! They run after the earlier work of both members and before their later work. A [`SplitBuffer`] divides its elements
//! among the members. Each part has a halo, which contains copies of its neighbours' elements:
//!
//! ```
//! use launch::{Ends, Group, LaunchConfig};
//! # use cuda_std::{Global, GlobalMut, kernel, thread};
//! /// `y[i] = x[i] + x[i + 1] + x[i + 2]` for every `i`; any grid.
//! #[kernel]
//! pub fn sum_of_three(x: Global<u32>, y: GlobalMut<u32>) {
//!     for i in thread::grid_stride(y.len()) {
//!         y.store(i, x.load(i) + x.load(i + 1) + x.load(i + 2));
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # const MODULES: &[launch::PtxModule] = &[];
//! let group = Group::open(&"sim:3".parse()?, MODULES)?; // or "gpu:all"
//! let mut x = group.split::<u32>(8, 1, Ends::Wrap)?;
//! let mut y = group.split::<u32>(8, 1, Ends::Wrap)?;
//! x.upload(&[0, 1, 2, 3, 4, 5, 6, 7])?;
//! for _generation in 0..2 {
//!     x.exchange_halos()?;
//!     for (member, (x, y)) in group.members().iter().zip(x.parts().iter().zip(y.parts_mut())) {
//!         member.launch(LaunchConfig::new(1, 32), sum_of_three(x.view(), y.own_mut()))?;
//!     }
//!     std::mem::swap(&mut x, &mut y);
//! }
//! assert_eq!(x.download()?, [24, 17, 18, 27, 36, 45, 46, 39]);
//! # Ok(())
//! # }
//! ```
//!
//! To copy while kernels run, use the [streams](Group::streams) of a group. Each stream can wait for events of all
//! members.
//!
//! [`checked_groups`] returns simulated groups for tests of code with several devices. The simulator executes work as
//! soon as it is enqueued, so its results alone do not show what a GPU may do. A race checker therefore records which
//! pieces of work the events and waits order. If two unordered pieces of work access the same memory and one of them
//! writes it, the call returns an [`Error::StreamRace`], which names both source lines:
//!
//! ```
//! use launch::{Error, LaunchConfig, checked_groups};
//! # use cuda_std::{GlobalMut, kernel, thread};
//! # /// `y[i] += 1` for every `i`; any grid.
//! # #[kernel]
//! # pub fn add_one(y: GlobalMut<u32>) {
//! #     for i in thread::grid_stride(y.len()) {
//! #         y.store(i, y.load(i) + 1);
//! #     }
//! # }
//! # fn main() -> Result<(), Error> {
//! let group = checked_groups(2).next().expect("one for each order");
//! let (mut x, mut y) = (group.members()[0].zeroed::<u32>(9)?, group.members()[1].zeroed::<u32>(9)?);
//! let (x, y) = (x.view_mut(), y.view_mut());
//! let exchange = |waits: bool| {
//!     group.streams(1, |streams| {
//!         let (first, second) = (&streams[0][0], &streams[1][0]);
//!         first.launch(LaunchConfig::new(1, 32), add_one(x.part(0, 8)))?;
//!         if waits {
//!             second.wait(&first.record()?)?;
//!         }
//!         second.copy(y.part(8, 1), x.part(7, 1)) // the halo of `y`
//!     })
//! };
//! exchange(true)?;
//! let error = exchange(false).expect_err("the copy may come before the kernel");
//! assert!(matches!(error, Error::StreamRace(race) if race.bytes == 4));
//! # Ok(())
//! # }
//! ```
//!
//! The race checker assumes that a launch reads everything in its views. It also assumes that a launch writes a whole
//! mutable view if the kernel has ever changed anything through that parameter. If kernels run at the same time, pass
//! each of them views of its own part only, and pass the interior and the halos as separate views.
//!
//! # Testing a kernel
//!
//! [`checked_devices`] returns eight simulated devices, each with another order of threads and blocks (schedule). They
//! report errors that a single run may not show: data races, reads of uninitialised memory, and results that depend on
//! the order. A test runs its kernel on each device and compares the results. A fault names the line, the array and the
//! thread:
//!
//! ```
//! use launch::{LaunchConfig, checked_devices};
//! # use cuda_std::{Global, GlobalMut, kernel, thread};
//! # /// `y[i] = a·x[i]` for every `i`; any grid.
//! # #[kernel]
//! # pub fn scale(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
//! #     for i in thread::grid_stride(y.len()) {
//! #         y.store(i, a * x.load(i));
//! #     }
//! # }
//! # fn main() -> Result<(), launch::Error> {
//! for device in checked_devices() {
//!     let x = device.upload(&[1.0; 100])?;
//!     let mut y = device.alloc(100)?; // not zeroed: reading an unwritten element is a fault
//!     device.launch(LaunchConfig::new(3, 32), scale(2.0, x.view(), y.view_mut()))?;
//!     assert_eq!(y.download()?, [2.0; 100], "{}", device.summary());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`checked_devices_strict`] returns devices on which two accesses count as ordered only if CUDA's documentation
//! guarantees it. [`redundant_synchronisations`] lists barriers and fences that a kernel seems not to need.
//! [`check_thoroughly`] tries more schedules, for kernels whose blocks or warps wait for each other.
//! [`check_thoroughly_strict`] does the same with the strict checks.
//!
//! A run with checks takes about ten times as long as a run without them, so use [`DeviceChoice::Sim`] for large
//! inputs. To choose the schedule or the checks, make the device from a [`Simulator`]:
//!
//! ```
//! use launch::{Checks, Device, Schedule, Simulator};
//!
//! let simulator = Simulator::new().with_checks(Checks::default()).with_schedule(Schedule::LastFirst);
//! let device = Device::simulated(simulator);
//! ```

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]
#![cfg_attr(not(any(target_os = "linux", windows)), allow(dead_code, reason = "only the GPU back end uses some items"))]

mod backend;
mod bare;
mod buffer;
mod checked;
mod choice;
mod compiling;
mod completion;
mod copies;
#[cfg(any(target_os = "linux", windows))]
mod cuda;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "no_cuda.rs"]
mod cuda;
mod device;
mod error;
mod event;
mod finished;
mod graph;
mod group;
mod group_choice;
mod host_memory;
mod interop;
mod ipc;
mod limits;
mod mapped;
mod memory;
mod module;
mod objects;
mod open_stream;
mod opening;
mod operation;
mod ordering;
mod owned_stream;
mod part;
mod pinned;
mod properties;
mod ptx;
mod queue;
mod recorder;
mod reporting;
mod resources;
mod scope;
mod simulated;
mod simulated_device;
mod simulated_ipc;
mod simulated_memory;
mod simulated_stream;
mod split;
mod statics;
mod stream;
mod tables;
mod tensor_map;
mod unavailable;
mod version;
mod view;

#[doc(hidden)]
pub use bare::BareLaunch;
pub use buffer::Buffer;
#[doc(hidden)]
pub use checked::search;
pub use checked::{
    Failed, Thorough, check_thoroughly, check_thoroughly_strict, checked_devices, checked_devices_strict,
    redundant_synchronisations,
};
pub use choice::{DeviceChoice, ParseChoiceError};
pub use cuda_std::{Call, DeviceCopy, Dim3, Element, Kernel, KernelInfo, LaunchConfig};
pub use device::Device;
pub use error::{Error, Launched};
pub use event::Event;
pub use finished::Finished;
pub use graph::Graph;
pub use group::{Group, checked_groups};
pub use group_choice::{GroupChoice, ParseGroupChoiceError};
pub use ipc::{IpcBuffer, IpcEvent, IpcHandle, OpenedBuffer, OpenedEvent};
pub use mapped::MappedBuffer;
pub use module::{PtxImage, PtxModule};
pub use opening::{compile_beside, gpus};
pub use ordering::{StreamAccess, StreamRace, StreamWork};
pub use owned_stream::OwnedStream;
pub use part::BufferPart;
pub use pinned::PinnedBuffer;
pub use properties::{Gpu, KernelResources, Occupancy, Properties};
pub use queue::Queue;
pub use resources::{Held, Holdable, Resources};
pub use simt::{
    Absence, AccessKind, AccessProfile, Activity, BranchProfile, CallPath, CallStep, Checks, CopyUnderWay, Deviation,
    Deviations, Fault, FaultKind, HistoryLimit, Hold, Holds, Note, NoteKind, Notes, OlderValue, Profile, Profiles,
    Race, RaceAccess, RaceSide, Redundant, Remedy, Schedule, SharedPart, Simulator, SourceLocation, Space, SyncKind,
    Synchronisations, Wait, Whereabouts,
};
pub use split::{Ends, SplitBuffer, SplitPart};
pub use statics::Static;
pub use stream::Stream;
pub use tables::tables;
pub use tensor_map::{Swizzle, TensorElement, TensorMapBuilder, TensorView};
pub use unavailable::Unavailable;
pub use version::CudaVersion;
pub use view::View;
