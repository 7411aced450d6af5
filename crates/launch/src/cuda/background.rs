//! The compilation of a program's own kernels, which begins when a GPU is opened.
//!
//! # Design
//!
//! The kernels of [`include_ptx!`](crate::include_ptx) are compiled in the background: as many at the same time as the
//! machine has cores but one, those with the longest texts first. The driver needs no context for this, so that it
//! begins before the GPU's context is made. Devices with the same modules and the same architecture share it, because
//! they share the code. It ends early when the last of them is dropped. The end waits for the kernels that have begun,
//! because a call of the driver cannot be interrupted.
//!
//! The library's own kernels are not compiled so: a program launches few of them.

use std::ffi::{CStr, c_int};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

use super::code::Target;
use super::sys;
use crate::compiling::Background;

/// The running compilations.
static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

struct Running {
    /// The address of the modules, and the GPU's compute capability.
    of: (usize, (u32, u32)),
    background: Weak<Background>,
}

/// Compiles those kernels of `target` that are to be compiled when a device is opened. Returns `None` if there are
/// none.
pub(super) fn start(target: Target) -> Option<Arc<Background>> {
    if !target.has_images_to_compile() {
        return None;
    }
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.retain(|running| running.background.strong_count() > 0);
    let of = (target.known.as_ptr().addr(), target.capability);
    if let Some(background) = running.iter().find(|running| running.of == of).and_then(|it| it.background.upgrade()) {
        return Some(background);
    }
    let background = Arc::new(Background::start(move |stop| {
        stop_at_exit();
        target.compile_at_open(stop);
    }));
    running.push(Running { of, background: Arc::downgrade(&background) });
    Some(background)
}

/// An empty kernel, for which the driver loads its compiler.
const EMPTY: &CStr = c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\n\tret;\n}\n";

/// Makes the end of the process wait for the kernels that have begun, also if a program calls `exit` before it drops
/// its devices. Otherwise the driver and its compiler would be torn down while they are in use.
fn stop_at_exit() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    extern "C" fn finish() {
        let running = std::mem::take(&mut *RUNNING.lock().unwrap_or_else(PoisonError::into_inner));
        running.iter().filter_map(|it| it.background.upgrade()).for_each(|background| background.finish());
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // The last function that is registered runs first. The compiler registers its own when it is loaded.
        let _ = sys::load_library(EMPTY);
        // SAFETY: `finish` takes no argument and does not unwind. If it cannot be registered, nothing changes.
        let _ = unsafe { atexit(finish) };
    });
}
