//! Panics of kernels: silent, and remembered with their source line.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::thread;

use crate::source::SourceLocation;

/// The payload that unwinds a simulated thread which has faulted or is abandoned. It passes by the panic hook.
pub(crate) struct Unwind;

/// Unwinds the calling simulated thread.
#[cold]
#[inline(never)]
pub(crate) fn unwind() -> ! {
    panic::resume_unwind(Box::new(Unwind))
}

thread_local! {
    /// The last panic of a simulated thread on this OS thread.
    static LAST: RefCell<Option<(String, SourceLocation)>> = const { RefCell::new(None) };
    /// [`end_unfinished`] is at work.
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
}

/// The most panics of a thread within each other that are looked for.
const MAX_NESTED: u32 = 4;

/// Installs the process-wide panic hook, once: where `is_simulated` says that a simulated thread panics, it keeps
/// message and source line and prints nothing; everywhere else it calls the hook that was there before.
pub(crate) fn install_hook(is_simulated: fn() -> bool) {
    static INSTALLED: Once = Once::new();
    // The hook cannot be changed while this thread unwinds; a later launch will install it.
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

/// Message and place of the panic in whose midst a simulated thread of this OS thread was ended.
pub(crate) fn take_unfinished() -> Option<(String, SourceLocation)> {
    LAST.with(RefCell::take)
}

/// Has std forget the panics of this OS thread whose fibre was ended in their midst. For std each goes on until it is
/// caught: until then a mutex that is given back is poisoned, and `thread::panicking()` is true.
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

/// Called by the hook: std does not count what is raised within it, but does count that it is caught.
fn count_one_less() {
    let _caught = panic::catch_unwind(|| unwind());
}

fn remember(info: &PanicHookInfo<'_>) {
    let message = text_of(info.payload());
    let location =
        info.location().map_or(SourceLocation { file: "unknown".to_owned(), line: 0, column: 0 }, SourceLocation::from);
    LAST.with(|last| *last.borrow_mut() = Some((message, location)));
}

/// Message and place of the panic that was caught with `payload`.
pub(crate) fn describe(payload: &(dyn Any + Send)) -> (String, Option<SourceLocation>) {
    match take_unfinished() {
        Some((message, location)) => (message, Some(location)),
        // Another hook has replaced ours, or the kernel unwound without a panic.
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
