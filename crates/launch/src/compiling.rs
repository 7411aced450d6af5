//! Compiles kernels in several threads, each kernel once.
//!
//! # Design
//!
//! Each kernel has a slot. The first thread that begins to compile the kernel claims the slot. Threads in the
//! background claim a kernel only when they begin it. A launch of a kernel that has not begun therefore compiles it at
//! once, in its own thread, however many kernels are still to be compiled. A launch of a kernel that has begun waits
//! for that kernel alone.
//!
//! The largest texts are compiled first, so that no thread begins a long one when the others have finished.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};

/// The result of compiling a kernel, set when the compiler has finished: `None` if there is no code.
type Slot<C> = Arc<OnceLock<Option<C>>>;

/// The address of a kernel's image, and the kernel's name.
type Key = (usize, Box<str>);

/// The compiled kernels of this process.
pub(crate) struct Slots<C>(Mutex<BTreeMap<Key, Slot<C>>>);

impl<C: Clone> Slots<C> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the code of a kernel. Calls `compile` if no thread has begun to compile this kernel; otherwise waits for
    /// that thread.
    pub(crate) fn get(&self, image: usize, kernel: &str, compile: impl FnOnce() -> Option<C>) -> Option<C> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (slot, is_first) = match slots.entry((image, kernel.into())) {
            Entry::Occupied(slot) => (slot.get().clone(), false),
            Entry::Vacant(place) => (place.insert(Slot::default()).clone(), true),
        };
        drop(slots);
        if is_first {
            let claim = Claim(&slot);
            let _ = claim.0.set(compile());
        }
        slot.wait().clone()
    }
}

/// The obligation to set a slot. Dropping it sets an empty slot to `None`.
struct Claim<'s, C>(&'s OnceLock<Option<C>>);

impl<C> Drop for Claim<'_, C> {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

/// Calls `work` for each of `jobs`, those of the most bytes first, in `threads` threads including the calling one.
/// Begins no job after `stop` is set.
pub(crate) fn largest_first<J: Send>(
    mut jobs: Vec<(usize, J)>,
    threads: usize,
    stop: &AtomicBool,
    work: impl Fn(J) + Sync,
) {
    jobs.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let threads = threads.min(jobs.len());
    let jobs = Mutex::new(jobs.into_iter());
    let next = || match stop.load(Ordering::Relaxed) {
        true => None,
        false => jobs.lock().unwrap_or_else(PoisonError::into_inner).next(),
    };
    let work = || {
        while let Some((_, job)) = next() {
            work(job);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, the others do its work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// Work in a thread of its own. Dropping the value stops the work and waits for the jobs that have begun.
pub(crate) struct Background {
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Background {
    /// Calls `work` in a new thread. Does nothing if no thread can be started: kernels are then compiled at their
    /// launch.
    pub(crate) fn start(work: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::Builder::new().name("compiling".to_owned()).spawn(move || work(&stopped)).ok();
        Self { stop, thread: Mutex::new(thread) }
    }

    /// Makes the work begin no further job, and does not wait.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Makes the work begin no further job, and waits for the jobs that have begun.
    pub(crate) fn finish(&self) {
        self.stop();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // If the thread has panicked, the kernels that are left are compiled at their launch.
            let _ = thread.join();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    /// Longer than any step of these tests takes.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_kernel_is_compiled_once_and_failures_stay() {
        let slots = Slots::new();
        assert_eq!(slots.get(1, "a", || Some(3)), Some(3));
        assert_eq!(slots.get(1, "a", || panic!("compiled again")), Some(3));
        assert_eq!((slots.get(2, "a", || Some(4)), slots.get(1, "b", || None)), (Some(4), None));
        assert_eq!(slots.get(1, "b", || panic!("compiled again")), None);
        // A panic of the compiler leaves no launch waiting.
        let slots = &slots;
        thread::scope(|scope| {
            let panics = scope.spawn(move || slots.get(1, "c", || panic!("on purpose")));
            assert!(panics.join().is_err());
        });
        assert_eq!(slots.get(1, "c", || panic!("compiled again")), None);
    }

    #[test]
    fn the_largest_jobs_begin_first_in_the_given_number_of_threads() {
        let order = Mutex::new(Vec::new());
        let jobs = vec![(2, "b"), (1, "a"), (4, "d"), (3, "c")];
        largest_first(jobs, 1, &AtomicBool::new(false), |job| order.lock().unwrap().push(job));
        assert_eq!(*order.lock().unwrap(), ["d", "c", "b", "a"]);

        // All three threads meet, and none is left over: the barrier lets only whole groups of three pass.
        let meeting = Barrier::new(3);
        largest_first((0..6).map(|i| (i, ())).collect(), 3, &AtomicBool::new(false), |()| {
            meeting.wait();
        });
        largest_first(Vec::<(usize, ())>::new(), 3, &AtomicBool::new(false), |()| panic!("there is no job"));
    }

    #[test]
    fn a_launch_waits_for_its_own_kernel_only() {
        static SLOTS: Slots<u32> = Slots::new();
        let (begins, begun) = channel();
        let (finishes, finish) = channel();
        // The background compiles `long`, and would compile `short` after it.
        let background = Background::start(move |stop| {
            let finish = Mutex::new(finish);
            largest_first(vec![(1, "short"), (2, "long")], 1, stop, |kernel| {
                SLOTS.get(0, kernel, || {
                    begins.send(kernel).unwrap();
                    finish.lock().unwrap().recv_timeout(LONG).ok()
                });
            });
        });
        assert_eq!(begun.recv_timeout(LONG), Ok("long"));
        // A kernel that has not begun is compiled in the thread of its launch.
        let caller = thread::current().id();
        assert_eq!(SLOTS.get(0, "short", || (thread::current().id() == caller).then_some(7)), Some(7));
        // A launch of a kernel that has begun waits for it.
        let launch = thread::spawn(|| SLOTS.get(0, "long", || panic!("compiled twice")));
        finishes.send(5).unwrap();
        assert_eq!(launch.join().unwrap(), Some(5));
        drop(background);
        assert!(begun.recv().is_err(), "the background compiled `short` again");
    }

    #[test]
    fn the_end_of_the_background_waits_only_for_jobs_that_have_begun() {
        let (begins, begun) = channel();
        let (finishes, finish) = channel::<()>();
        let finish = Mutex::new(finish);
        let background = Background::start(move |stop| {
            largest_first((0..100).map(|i| (i, i)).collect(), 2, stop, |job| {
                begins.send(job).unwrap();
                let _ = finish.lock().unwrap().recv_timeout(LONG);
            });
        });
        let mut first = [begun.recv_timeout(LONG).unwrap(), begun.recv_timeout(LONG).unwrap()];
        first.sort_unstable();
        assert_eq!(first, [98, 99]);
        background.stop();
        drop(finishes);
        drop(background);
        assert_eq!(begun.recv().ok(), None, "a job began after the end");
    }
}
