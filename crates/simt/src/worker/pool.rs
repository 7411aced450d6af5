//! The worker pool: several workers run the blocks of one grid, the thread that launches and helpers from the pool.

use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;

use super::{Done, work, work_as_helper};
use crate::block::Entry;
use crate::grid::Grid;

/// A launch that helpers may join. A small launch is over before a sleeping helper has woken up, and is not to wait
/// for it: so a helper comes through a gate, which is closed when the launching thread has found no more blocks.
struct Invitation {
    grid: *const Grid<'static>,
    entry: *const Entry<'static>,
    gate: Mutex<Gate>,
    left: Condvar,
}

#[derive(Default)]
struct Gate {
    is_closed: bool,
    /// Helpers that have come in.
    entered: usize,
    /// Helpers that are in.
    inside: usize,
    done: Done,
}

// SAFETY: the pointers are used by helpers inside the gate alone, while what they point to is alive (see
// `work_together`); `Grid` and `Entry` are `Sync`.
unsafe impl Send for Invitation {}
// SAFETY: as above.
unsafe impl Sync for Invitation {}

impl Invitation {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// On a helper: works on the grid, unless the launch is over.
    fn accept(&self) {
        let number = {
            let mut gate = self.gate();
            if gate.is_closed {
                return;
            }
            gate.inside += 1;
            gate.entered += 1;
            gate.entered
        };
        let leaving = Leaving(self);
        // SAFETY: this helper is inside the gate, so `work_together` has not returned, and grid and entry live.
        let done = unsafe { work_as_helper(&*self.grid, &*self.entry, number) };
        self.gate().done.add(done);
        drop(leaving);
    }

    /// Lets nobody in any more, and waits for those inside.
    fn close(&self) -> Done {
        let mut gate = self.gate();
        gate.is_closed = true;
        while gate.inside > 0 {
            gate = self.left.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        gate.done
    }
}

/// Takes a helper out of the gate, whatever happens.
struct Leaving<'a>(&'a Invitation);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.gate().inside -= 1;
        self.0.left.notify_one();
    }
}

/// Closes the gate, whatever happens.
struct Closing<'a>(&'a Invitation);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Runs `grid` on this OS thread and up to `helpers` of the pool's.
pub(crate) fn work_together(pool: &ThreadPool, grid: &Grid<'_>, entry: &Entry<'_>, helpers: usize) -> Done {
    let invitation = Arc::new(Invitation {
        grid: ptr::from_ref(grid).cast(),
        // SAFETY: only the lifetime changes. The pointer is used by helpers inside the gate alone, and this function
        // does not end, not even by a panic, before the gate is closed and nobody is inside.
        entry: unsafe { std::mem::transmute::<*const Entry<'_>, *const Entry<'static>>(entry) },
        gate: Mutex::default(),
        left: Condvar::new(),
    });
    let closing = Closing(&invitation);
    for _ in 0..helpers {
        let invitation = Arc::clone(&invitation);
        pool.spawn(move || invitation.accept());
    }
    let mut done = work(grid, entry, None, 0);
    done.add(invitation.close());
    drop(closing);
    done
}
