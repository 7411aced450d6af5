//! The worker pool: the launching thread and helper threads from the pool run the blocks of a grid.

use std::ptr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPool;

use super::{Done, work, work_as_helper};
use crate::block::Entry;
use crate::grid::Grid;
use crate::on_drop::OnDrop;

/// A launch that helper threads may join. A small launch ends before a sleeping helper wakes up, and must not wait for
/// that helper. Helpers therefore enter through a gate, which the launching thread closes when no blocks are left.
struct Invitation {
    grid: *const Grid<'static>,
    entry: *const Entry<'static>,
    gate: Mutex<Gate>,
    left: Condvar,
}

#[derive(Default)]
struct Gate {
    is_closed: bool,
    /// The number of helpers that have ever entered the gate.
    entered: usize,
    /// The number of helpers that have entered the gate and not left.
    inside: usize,
    done: Done,
}

// SAFETY: only helpers inside the gate use the pointers, while their targets are alive (see `work_together`). `Grid`
// and `Entry` are `Sync`.
unsafe impl Send for Invitation {}
// SAFETY: only helpers inside the gate use the pointers, while their targets are alive, and `Grid` and `Entry` are
// `Sync`.
unsafe impl Sync for Invitation {}

impl Invitation {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters the gate and runs blocks of the grid, unless the launch has ended. A helper thread calls this function.
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
        let leaving = OnDrop(|| {
            self.gate().inside -= 1;
            self.left.notify_one();
        });
        // SAFETY: this helper is inside the gate, so `work_together` has not returned, and grid and entry are alive.
        let done = unsafe { work_as_helper(&*self.grid, &*self.entry, number) };
        self.gate().done.add(done);
        drop(leaving);
    }

    /// Closes the gate, waits until all helpers have left, and returns the sum of the helpers' counts.
    fn close(&self) -> Done {
        let mut gate = self.gate();
        gate.is_closed = true;
        while gate.inside > 0 {
            gate = self.left.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        gate.done
    }
}

/// Runs `grid` on the calling OS thread and on up to `helpers` threads of the pool.
pub(crate) fn work_together(pool: &ThreadPool, grid: &Grid<'_>, entry: &Entry<'_>, helpers: usize) -> Done {
    let invitation = Arc::new(Invitation {
        grid: ptr::from_ref(grid).cast(),
        // SAFETY: only the lifetime changes. Only helpers inside the gate use the pointer. This function does not end,
        // even by a panic, before the gate is closed and no helper is inside.
        entry: unsafe { std::mem::transmute::<*const Entry<'_>, *const Entry<'static>>(entry) },
        gate: Mutex::default(),
        left: Condvar::new(),
    });
    let closing = OnDrop(|| _ = invitation.close());
    for _ in 0..helpers {
        let invitation = Arc::clone(&invitation);
        pool.spawn(move || invitation.accept());
    }
    let mut done = work(grid, entry, None, 0);
    done.add(invitation.close());
    drop(closing);
    done
}
