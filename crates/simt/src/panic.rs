//! Records the messages and source lines of kernels' panics instead of printing them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::thread;

use crate::source::SourceLocation;

/// The panic payload with which a simulated thread unwinds if it has faulted or its block has ended. Such an unwinding
/// does not call the panic hook.
pub(crate) struct Unwind;

/// Unwinds the calling simulated thread.
#[cold]
#[inline(never)]
pub(crate) fn unwind() -> ! {
    panic::resume_unwind(Box::new(Unwind))
}

thread_local! {
    /// The message and location of the last panic of a simulated thread on this OS thread.
    static LAST: RefCell<Option<(String, SourceLocation)>> = const { RefCell::new(None) };
    /// True while [`end_unfinished`] runs.
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
}

/// A thread may panic again while `end_unfinished` ends it. This is the maximum number of such nested panics.
const MAX_NESTED: u32 = 4;

/// Installs the process-wide panic hook on the first call. If `is_simulated` returns true, the hook records the panic's
/// message and source line and prints nothing. Otherwise the hook calls the previous hook.
pub(crate) fn install_hook(is_simulated: fn() -> bool) {
    static INSTALLED: Once = Once::new();
    // The hook cannot be changed while this thread unwinds. A later launch installs it.
    if thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_ENDING.get() {
                count_one_less();
            } else if is_simulated() {
                remember(info);
            } else {
                previous(info);
            }
        }));
    });
}

/// Removes and returns the message and location of the last panic of a simulated thread on this OS thread. Returns
/// `None` if an earlier call removed them.
pub(crate) fn take_unfinished() -> Option<(String, SourceLocation)> {
    LAST.with(RefCell::take)
}

/// Makes std forget the panics of a thread that the simulator ended before they were caught. Otherwise
/// `thread::panicking()` would stay true, and unlocking a mutex would poison it.
pub(crate) fn end_unfinished() {
    IS_ENDING.set(true);
    for _ in 0..MAX_NESTED {
        if !thread::panicking() {
            break;
        }
        let _caught = panic::catch_unwind(|| panic::panic_any(Unwind));
    }
    IS_ENDING.set(false);
}

/// Decrements std's count of panics, by a panic that this function catches itself. The panic hook calls this function.
/// In the hook std does not count a new panic, but still decrements the count when the panic is caught.
fn count_one_less() {
    let _caught = panic::catch_unwind(|| unwind());
}

fn remember(info: &PanicHookInfo<'_>) {
    let message = text_of(info.payload());
    let location =
        info.location().map_or(SourceLocation { file: "unknown".to_owned(), line: 0, column: 0 }, SourceLocation::from);
    LAST.with(|last| *last.borrow_mut() = Some((message, location)));
}

/// Returns the message and the location of the panic that was caught with `payload`.
pub(crate) fn describe(payload: &(dyn Any + Send)) -> (String, Option<SourceLocation>) {
    match take_unfinished() {
        Some((message, location)) => (message, Some(location)),
        // Another hook has replaced this one, or the kernel unwound without a panic.
        None => (text_of(payload), None),
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a payload that is not text".to_owned())
}
