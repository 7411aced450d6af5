//! A SIMT simulator: runs a kernel's threads on the CPU, in a deterministic order, and reports their faults.
//!
//! A kernel is a closure and a `static` [`KernelInfo`]. [`Simulator::launch`] runs the closure once for each thread
//! of a [`LaunchConfig`]; the closure learns from [`thread`] which thread it is, and meets others through
//! [`thread::sync_threads`], [`warp`], [`shared`] and [`memory`].
//!
//! ```
//! use simt::{KernelInfo, LaunchConfig, Simulator, memory, thread};
//!
//! static COUNT: KernelInfo = KernelInfo::new("count", module_path!(), file!(), line!()).summary("Counts.");
//!
//! let counter = memory::Allocation::new(4).unwrap();
//! let address = counter.as_ptr() as usize;
//! // SAFETY: the allocation has 4 bytes and outlives the launch.
//! unsafe { memory::store(address as *mut u32, 0) };
//! let launch = Simulator::new().launch(&COUNT, LaunchConfig::new(10, 256), || {
//!     if thread::thread_idx().x % 2 == 0 {
//!         // SAFETY: as above.
//!         unsafe { memory::update(address as *mut u32, |count: u32| count + 1) };
//!     }
//! });
//! assert_eq!(launch.unwrap().threads, 2560);
//! // SAFETY: as above.
//! assert_eq!(unsafe { memory::load(address as *const u32) }, 1280);
//! ```
//!
//! # How threads run
//!
//! The threads of a block run one at a time, on one OS thread, each until it waits: at a block barrier, at a warp
//! operation, or in a poll. Lanes of a warp are not in lock-step, and warp operations are meetings of the lanes that
//! their masks name, as the independent thread scheduling of devices since Volta has it. Blocks are spread over the
//! simulator's workers.
//!
//! A thread has 128 KiB of stack. One that needs more is a fault, on Linux on x86-64 and AArch64; elsewhere it ends the
//! process, as a stack overflow does anywhere.
//! A thread that loops for ever without waiting, polling or synchronising keeps its launch from ending.
//!
//! # The order
//!
//! A [`Schedule`] says in what order blocks, warps and lanes run; every one is determined by its name and seed. With
//! [`Schedule::Natural`] that is their natural order, with [`Schedule::Random`] a pseudo-random order of all three. The
//! others are hostile to mistakes that these two do not bring to light: the last comes first; one warp is far ahead of
//! all others, or far behind; another thread runs before each access; several blocks take turns. A kernel that
//! synchronises as it should gives the same under each, up to the order of what does not commute;
//! [`Schedule::HOSTILE`] are eight to test under. With [`Schedule::Held`] some threads wait before an atomic access until
//! nobody else can go on.
//!
//! As a rule a thread runs until it waits, and with one worker blocks run one after the other. With
//! [`Schedule::EveryAccess`] and [`Schedule::Interleaved`] a thread also *gives way*: before an access to memory, atomic
//! or not, another thread goes on, or another block. Such a launch has one worker.
//!
//! With several workers blocks run at the same time, and yet the result is that of one worker as long as blocks
//! communicate by atomic loads, stores and updates, fences and polls. Before a block does the first of these it waits
//! for its *turn*: until all blocks earlier in the order have finished. Messages that kernels print come in this order,
//! too. If several blocks fault, the fault of the first in the order is reported; where blocks take turns, the first
//! fault in time.
//!
//! Where this ends:
//! - Blocks that write with plain stores what other blocks read with plain loads have a data race. No harm comes to
//!   the process, but what is read depends on timing.
//! - A block whose threads all only poll, for a write of a block later in the order, passes its turn on and is looked
//!   at again later. With several workers, when it goes on depends on timing. With one worker all is determined.
//! - 32768 polls in which a block's threads do nothing else count as only polling; a kernel that loads as often
//!   without waiting loses its turn as well.
//!
//! When no block of the grid does anything but poll, for a million polls, the launch ends with
//! [`FaultKind::NoProgress`].
//!
//! # Faults
//!
//! A panic, an access out of bounds or to where there is no memory, a barrier that not all threads reach and the like end the launch with a
//! [`Fault`] that names kernel, block, thread and source line. Threads that wait are unwound, so that what they own is
//! dropped. To keep panics of kernels silent the first launch installs a panic hook; it passes on all other panics to
//! the hook that was there before.

mod allocation;
mod block;
mod call_path;
mod call_paths;
mod check;
mod current;
mod director;
mod fault;
mod geometry;
mod grid;
mod hashing;
mod holds;
#[cfg(feature = "serde")]
mod json;
mod lanes;
mod launch_log;
pub mod memory;
mod memory_map;
mod observe;
mod order;
mod ordered;
mod output;
mod panic;
mod pointer_fault;
mod profile;
mod race;
pub mod raw;
mod redundant;
mod region;
mod remedy;
mod reporter;
mod schedule;
mod scope;
mod search;
pub mod shared;
mod simulator;
mod source;
mod statics;
mod step;
mod synchronisations;
pub mod thread;
mod threads;
mod validation;
pub mod warp;
mod watch;
mod whereabouts;
mod worker;

pub use call_path::{CallPath, CallStep};
pub use check::Checks;
pub use fault::{CopyUnderWay, Fault, FaultKind};
pub use geometry::{Dim3, KernelInfo, LaunchConfig};
pub use holds::{Hold, Holds};
pub use launch_log::{LaunchLog, LaunchStats, LoggedLaunch};
pub use pointer_fault::{PointerFault, PointerProblem};
pub use profile::{AccessKind, AccessProfile, BranchProfile, Profile, Profiles};
pub use race::{Element, Race, RaceAccess, RaceSide, SharedPart};
pub use raw::notes::{Note, NoteKind, Notes};
#[doc(hidden)]
pub use redundant::first_to_notice;
pub use redundant::{Redundant, redundant_synchronisations};
pub use region::{Region, Space};
pub use remedy::Remedy;
pub use reporter::{Reported, Reporter};
pub use schedule::{Schedule, ScheduleTextError};
#[doc(hidden)]
pub use search::Search;
pub use simulator::Simulator;
pub use source::SourceLocation;
pub use statics::DeviceStatic;
#[doc(hidden)]
pub use step::{Step, StepGuard};
pub use synchronisations::{SyncKind, Synchronisations};
#[doc(hidden)]
pub use threads::Threads;
pub use whereabouts::{Activity, Whereabouts};
