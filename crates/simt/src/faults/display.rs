//! The messages of faults.

use std::fmt;

use super::FaultKind;
use crate::faults::pointer::PointerFault;
use crate::faults::race::Race;
use crate::faults::wait::NoProgress;
use crate::region::{DYNAMIC, OfType, Space, fmt_element, is_of_source};

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) if message == "attempt to subtract with overflow" => write!(
                f,
                "panicked: {message}; an unsigned number cannot be below 0: compare the two numbers first, or add on \
                 the other side of a comparison"
            ),
            Self::Panic(message) => write!(f, "panicked: {message}"),
            Self::OutOfBounds { space, array, element_type, index, len } => {
                // An index that has wrapped around is printed as a negative number.
                write!(f, "index {} is out of bounds of ", index.cast_signed())?;
                match array {
                    Some(name) if is_of_source(name) => write!(f, "`{name}`{}, {space} memory", OfType(*element_type))?,
                    Some(description) => f.write_str(description)?,
                    None => write!(f, "{space} memory")?,
                }
                write!(f, " of length {len}")?;
                if *array == Some(DYNAMIC) {
                    f.write_str("; the launch sets this length: `.shared_bytes(bytes)` of its `LaunchConfig`")?;
                }
                Ok(())
            }
            Self::Misaligned { space, element, address, size } => {
                write!(f, "{space} access of {size} bytes at address {address:#x}")?;
                match element.as_deref() {
                    Some((name, index)) if is_of_source(name) => write!(f, " (`{name}[{index}]`)")?,
                    Some((description, index)) => write!(f, " (element {index} of {description})")?,
                    None => {}
                }
                write!(f, ", which is not a multiple of {size}: use a narrower access or align the data")
            }
            Self::Pointer(fault) => {
                let PointerFault { address, bytes, problem } = &**fault;
                write!(f, "an access of {bytes} bytes through a pointer, at address {address:#x}: {problem}")
            }
            Self::Unseen { address } => write!(
                f,
                "an access at address {address:#x}, which is not mapped or not writable, by a function that is not \
                 instrumented: mark the function with `#[cuda_std::device]`; the reported line is the last one known"
            ),
            Self::StackOverflow { bytes } => write!(
                f,
                "the thread needs more than the {} KiB of stack of a simulated thread: keep large arrays in shared or \
                global memory",
                bytes / 1024
            ),
            Self::Race(race) => write!(f, "{race}"),
            Self::EarlyRead(race) => {
                let Race { space, element, here, there, remedy, .. } = &**race;
                write!(f, "a read of ")?;
                fmt_element(f, *space, (element.array, element.element_type), element.index)?;
                write!(
                    f,
                    " that may read uninitialised memory: nothing orders this {} after the {} by block {}, thread {} \
                    at {}, which is the first write to it; {remedy}",
                    here.access, there.access, there.block, there.thread, there.location
                )
            }
            Self::WrittenReadOnly(race) => {
                let Race { space, element, here, there, remedy, .. } = &**race;
                write!(f, "a read-only load of ")?;
                fmt_element(f, *space, (element.array, element.element_type), element.index)?;
                write!(
                    f,
                    ", which the launch writes: the {} here, the {} by block {}, thread {} at {}. Such a load \
                    (`load_readonly`) may return the old value whatever orders the two; {remedy}",
                    here.access, there.access, there.block, there.thread, there.location
                )
            }
            Self::WithoutProxyFence(race) => {
                let Race { space, element, here, there, .. } = &**race;
                f.write_str("no proxy fence on ")?;
                fmt_element(f, *space, (element.array, element.element_type), element.index)?;
                write!(
                    f,
                    " between this {} and the {} by block {}, thread {} at {}: the two are ordered, but go through \
                     different proxies",
                    here.access, there.access, there.block, there.thread, there.location
                )
            }
            Self::BulkCopy(fault) => write!(f, "{fault}"),
            Self::Warpgroup(fault) => write!(f, "{fault}"),
            Self::Uninitialised { space, array, element_type, index, copy } => {
                f.write_str("a read of ")?;
                fmt_element(f, *space, (*array, *element_type), *index)?;
                if let Some(copy) = copy {
                    return write!(
                        f,
                        ", to which thread {} began an asynchronous copy at {} that has not ended",
                        copy.thread, copy.location
                    );
                }
                match space {
                    Space::Global => f.write_str(", which neither the host nor any kernel has written"),
                    Space::Shared => f.write_str(", which no thread of the block has written"),
                }
            }
            Self::BeforeDependencies => f.write_str(
                "global memory is accessed before `grid::wait_for_dependencies()`, which every thread must call first: \
                the previous launch may still be running",
            ),
            Self::BarrierNotReached { waiting, exited, missing } => write!(
                f,
                "a block barrier that not every thread reaches: {}, {}; {missing}",
                waiting_threads(*waiting),
                exited_threads(*exited)
            ),
            Self::GridBarrierNotReached { waiting, ended } => write!(
                f,
                "a barrier of the grid that not every block reaches: {}, {}. Every thread of the grid must reach each \
                 such barrier",
                counted(*waiting, "waits", "wait"),
                counted(*ended, "has ended", "have ended")
            ),
            Self::ClusterBarrierNotReached { waiting, exited, block, missing } => write!(
                f,
                "a barrier of the cluster that not every thread reaches: {}, {}; block {block}, {missing}",
                waiting_threads(*waiting),
                exited_threads(*exited)
            ),
            Self::ClusterMisuse(misuse) => write!(f, "{misuse}"),
            Self::RemoteAccess(access) => write!(f, "{access}"),
            Self::BarrierMismatch { other, other_thread } => write!(
                f,
                "threads of one block wait at different barriers: this thread here, thread {other_thread} at {other}"
            ),
            Self::BarrierApart { other_thread, paths } => {
                let [path, other] = &**paths;
                write!(
                    f,
                    "lanes of one warp reach this barrier by different call paths: this one {path}, thread \
                    {other_thread} {other}; the lanes of a warp must reach a barrier together"
                )
            }
            Self::WarpMismatch { mask, other: None } => {
                write!(f, "a warp operation whose caller is not in its own mask {mask:#010x}")
            }
            Self::WarpMismatch { mask, other: Some(other) } => {
                write!(f, "a warp operation with mask {mask:#010x} whose lanes never meet: {other}")
            }
            Self::PartialWarp { instruction, missing: None } => {
                write!(f, "`{instruction}` in a warp that has fewer than 32 threads")
            }
            Self::PartialWarp { instruction, missing: Some(missing) } => {
                write!(f, "`{instruction}`, which not every lane of the warp reaches together: {missing}")
            }
            Self::NoProgress { polling, waiting, held_up, waits } => {
                let (polling, waiting) = (*polling, *waiting);
                write!(f, "{}", NoProgress { polling, waiting, held_up: held_up.as_deref(), waits })
            }
            Self::EndlessLoop { seconds } => write!(
                f,
                "a loop that seems never to end: the thread has run for {seconds} seconds in loops, without a memory \
                access and without waiting; if the loop does end, set the environment variable \
                GRIDSTRIDE_LOOP_SECONDS to a longer time"
            ),
            Self::UnspecifiedShuffle { mask, source, absence, element } => {
                write!(f, "a shuffle with mask {mask:#010x} takes the value of lane {source}, which {absence}")?;
                match element {
                    Some((array, index)) => {
                        write!(f, "; the value is unspecified, and `{array}[{index}]` depends on it")
                    }
                    None => f.write_str("; the value is unspecified, and the outcome of the launch depends on it"),
                }
            }
            Self::SharedMemory { needed, limit } => {
                write!(f, "a block needs {needed} bytes of shared memory, and {limit} are allowed: use smaller arrays")
            }
            Self::StaticSharedMemory { needed, limit } => write!(
                f,
                "the kernel's static shared arrays need {needed} bytes, and {limit} are allowed: put the large ones in \
                dynamic shared memory (`dynamic_shared`), whose size `.shared_bytes(bytes)` of the launch's \
                `LaunchConfig` sets"
            ),
            Self::InvalidLaunch(reason) => write!(f, "invalid launch: {reason}"),
            Self::SimulatorLimit(reason) => write!(f, "beyond a limit of the simulator: {reason}"),
            Self::HostMemory(reason) => write!(f, "the simulator ran out of memory: {reason}"),
        }
    }
}

/// Returns the number of threads that wait, such as "1 waits".
fn waiting_threads(count: u32) -> String {
    counted(count.into(), "waits", "wait")
}

/// Returns the number of threads that have exited, such as "1 has exited".
fn exited_threads(count: u32) -> String {
    counted(count.into(), "has exited", "have exited")
}

/// Returns `count` and the verb in its singular or plural.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
