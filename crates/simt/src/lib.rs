//! A SIMT simulator: runs a kernel's threads on the CPU, in a deterministic order, and reports their faults.
//!
//! A kernel is a closure and a `static` [`KernelInfo`]. [`Simulator::launch`] runs the closure once for each thread of
//! a [`LaunchConfig`]. In the closure, the functions of [`thread`] return the thread's index. Threads communicate
//! through [`thread::sync_threads`], [`warp`], [`shared`] and [`memory`].
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
//!         // SAFETY: the allocation has 4 bytes and outlives the launch.
//!         unsafe { memory::update(address as *mut u32, |count: u32| count + 1) };
//!     }
//! });
//! assert_eq!(launch.unwrap().threads, 2560);
//! // SAFETY: the allocation has 4 bytes and outlives the launch.
//! assert_eq!(unsafe { memory::load(address as *const u32) }, 1280);
//! ```
//!
//! # How threads run
//!
//! The threads of a block run one at a time on one OS thread. Each thread runs until it waits at a block barrier, at a
//! warp operation, or in a poll. To *poll* is to repeat a load until another thread has written the value. As on
//! devices since Volta (independent thread scheduling), the lanes of a warp do not run in lock-step. At a warp
//! operation, the lanes in the operation's mask wait for each other. Blocks are distributed over the simulator's
//! workers.
//!
//! A thread has 128 KiB of stack. A stack overflow is a fault on Linux on x86-64 and AArch64. On other platforms it
//! ends the process. A thread that loops for 10 seconds without a memory access
//! and without waiting is a fault, if its code is instrumented. The environment variable `GRIDSTRIDE_LOOP_SECONDS` or
//! [`Simulator::with_loop_limit`] sets another time. Without checks, plain accesses are not observed, and the time is
//! six times as long.
//!
//! # The order
//!
//! A [`Schedule`] is the order in which blocks, warps and lanes run. The schedule's name and seed determine the order
//! completely. [`Schedule::Natural`] is the natural order, and [`Schedule::Random`] is a pseudo-random order of blocks,
//! warps and lanes.
//!
//! The other schedules expose errors that these two may hide. One starts with the last block, warp and lane. Two run
//! one warp far ahead of all others, or far behind. Two others switch threads or blocks before accesses. A correctly
//! synchronised kernel has the same results under every schedule, unless it combines values by operations that do not
//! commute, such as floating-point sums. [`Schedule::HOSTILE`] lists eight schedules for tests. With
//! [`Schedule::Held`], some threads wait before an atomic access until no other thread can continue.
//!
//! In checked launches under some schedules ([`Schedule::has_weak_memory`]), atomic reads may return older values, as
//! PTX's memory model allows. [`Schedule::Chosen`] gives these choices. They are no faults, but a kernel that depends
//! on the newest value then has a wrong outcome, and [`Fault::older`] or [`Simulator::older_values`] names the access.
//!
//! Usually a thread runs until it waits, and one worker runs its blocks one after the other. Under
//! [`Schedule::EveryAccess`] and [`Schedule::Interleaved`] a thread also *yields* before a memory access, atomic or
//! not, so that another thread or another block continues. Under [`Schedule::BlocksInTurn`] it yields to another block
//! before each atomic access. Such a launch has one worker.
//!
//! With several workers, blocks run at the same time. The result is still the same as with one worker if blocks
//! communicate only by atomic accesses, fences and polls. Before its first such operation, a block waits for its
//! *turn*, which comes when all blocks earlier in the order have finished. Messages that kernels print appear in the
//! order of the blocks. If several blocks fault, the launch reports the fault of the first block in the order. Under
//! [`Schedule::Interleaved`] and [`Schedule::BlocksInTurn`] it reports the fault that occurs first.
//!
//! The determinism has limits:
//! - Blocks that communicate by plain stores and plain loads have a data race. The process remains sound, but the
//!   loaded values depend on timing.
//! - A block whose threads all poll for a write of a later block passes its turn on, and continues later. With several
//!   workers, the point at which the block continues depends on timing. With one worker this point is deterministic.
//! - A block passes its turn on after 32768 polls without other work. A block that makes 32768 atomic loads without
//!   waiting also passes its turn on.
//!
//! If the blocks of a grid make 131072 polls and do nothing else, the launch ends with [`FaultKind::NoProgress`].
//!
//! # Faults
//!
//! An error in a kernel ends the launch with a [`Fault`]. Examples are a panic, an access out of bounds or to unmapped
//! memory, and a barrier that not all threads reach. The fault names the kernel, block, thread and source line. The
//! simulator unwinds waiting threads, so that their values are dropped. The first launch installs a panic hook that
//! keeps panics of kernels silent. The hook passes all other panics on to the previous hook.
//!
//! # Design
//!
//! This crate depends neither on `cuda_std` nor on a GPU. A fault always has the kernel's name, block, thread and
//! source line. If code that the simulator cannot observe may access memory, a checked launch reports this in a note.
//!
//! The scheduler calls watchers, such as the checker and the profiler, only through the trait `Watcher`. A watcher
//! never calls the scheduler.

/// Implements `Debug` for an error type by its `Display`, because `main` and `unwrap` print errors by `Debug`.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($Type:ty) => {
        impl ::std::fmt::Debug for $Type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// Defines methods of `$Type`. Each method sets a field and returns the changed value. With `[const]` the methods are
/// `const` functions.
macro_rules! setters {
    ($Type:ident $const:tt $($(#[$doc:meta])* fn $name:ident($parameter:ident: $Parameter:ty) => $field:ident = $value:expr;)*) => {
        impl $Type {$(setters! { @one $const [$(#[$doc])*] $name($parameter: $Parameter) => $field = $value })*}
    };
    (@one [$($const:tt)?] [$($doc:tt)*] $name:ident($parameter:ident: $Parameter:ty) => $field:ident = $value:expr) => {
        $($doc)*
        #[must_use]
        pub $($const)? fn $name(mut self, $parameter: $Parameter) -> Self {
            self.$field = $value;
            self
        }
    };
}

mod allocation;
mod argument;
mod block;
pub mod bulk;
mod call_path;
mod call_paths;
mod check;
mod choices;
pub mod cluster;
mod current;
mod director;
mod endless;
mod faults;
mod free_memory;
mod geometry;
mod grid;
mod holds;
#[cfg(feature = "serde")]
mod json;
mod lanes;
mod last_writes;
mod launch_log;
mod limits;
pub mod memory;
mod memory_map;
mod observe;
mod on_drop;
mod order;
mod ordered;
mod output;
mod panic;
mod profile;
pub mod raw;
mod redundant;
mod region;
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
pub mod tensor;
pub mod thread;
mod threads;
mod unspecified;
pub mod warp;
mod watch;
pub mod wgmma;
mod worker;

pub use argument::{ArgumentId, GenericArgument};
pub use call_path::{CallPath, CallStep};
pub use check::Checks;
pub use choices::{Deviation, Deviations};
#[doc(hidden)]
pub use endless::LoopCount;
pub use faults::bulk::BulkFault;
pub use faults::older::OlderValue;
pub use faults::pointer::{PointerFault, PointerProblem};
pub use faults::race::{Element, MissedPhase, PastRow, Race, RaceAccess, RaceSide, ShortPhase};
pub use faults::remedy::Remedy;
pub use faults::remote::{ClusterMisuse, Lifetime, RemoteAccess};
pub use faults::wait::{Bytes, Change, PhaseWait, Wait};
pub use faults::warpgroup::{DescriptorProblem, Difference, RegisterCount, WarpgroupFault};
pub use faults::whereabouts::{Absence, Activity, Whereabouts};
pub use faults::{CopyUnderWay, Fault, FaultKind};
pub use geometry::{Dim3, KernelInfo, LaunchConfig};
pub use holds::{Hold, Holds};
pub use last_writes::LastWrites;
pub use launch_log::{LaunchLog, LaunchStats, Log, LoggedLaunch};
pub use limits::LaunchLimits;
pub use profile::{AccessKind, AccessProfile, AccessedArray, BranchProfile, Profile, Profiles, WarpAccess, WarpStep};
pub use profile::{BulkDirection, BulkProfile, BytesInFlight, Factors, ProductInstruction, ProductProfile};
pub use raw::notes::{HistoryLimit, Note, NoteKind, Notes};
#[doc(hidden)]
pub use redundant::first_to_notice;
pub use redundant::{Redundant, redundant_synchronisations};
pub use region::{Region, SharedPart, Space};
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
