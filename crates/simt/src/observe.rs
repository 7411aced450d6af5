//! Notifies the watcher of every access and branch of a kernel. Without a watcher, these functions only test a
//! thread-local flag.

use bytemuck::Pod;

use crate::block::Block;
use crate::current::current;
use crate::raw::guard;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Access, Next, Touch, Value, Watcher, has_weak_memory, is_watching, is_watching_branches};

/// Notifies the watcher of an access that the current thread makes immediately after this call.
#[inline(always)]
pub(crate) fn observe(touch: Touch) {
    if is_watching() {
        // The fields are separate arguments, so that they stay in registers. A structure would be written to the stack
        // before every access, even if no watcher is active.
        notify(touch.space, touch.access, touch.address, touch.bytes, touch.at);
    }
}

#[cold]
#[inline(never)]
fn notify(space: Space, access: Access, address: usize, bytes: usize, at: Line) {
    let touch = Touch { space, access, address, bytes, at };
    let Some(block) = current() else { return };
    if std::thread::panicking() {
        return;
    }
    let start = if space == Space::Shared { block.context.arena.base().addr() } else { 0 };
    guard::report(block, (start + address, bytes), access.writes());
    block.preempt(at, access.is_atomic());
    if access.is_atomic() {
        block.wait_at_hold(&touch);
        if has_weak_memory() {
            block.wait_by_choice(Some(&touch));
        }
    } else if access == Access::Load {
        block.note_load(address, at);
    }
    if let Some(watcher) = block.watcher() {
        notify_watcher(block, watcher, &touch);
    }
}

/// Notifies the watcher of an access that the current thread of `block` makes to the shared memory of `owner`
/// immediately after this call. Reports a fault if `owner` has ended.
pub(crate) fn observe_remote(block: &Block, owner: &Block, touch: &Touch) {
    owner.membership.is_accessed.set(true);
    let watching = is_watching() && !std::thread::panicking();
    if watching {
        let start = owner.context.arena.base().addr() + touch.address;
        guard::report(block, (start, touch.bytes), touch.access.writes());
        block.preempt(touch.at, touch.access.is_atomic());
    }
    block.check_owner(owner, touch);
    if let Some(watcher) = block.watcher().filter(|_| watching) {
        let mut next = watcher.remote_access(&block.context, &owner.context, touch);
        if matches!(next, Next::LetOthersRun) {
            block.let_others_run();
            block.check_owner(owner, touch);
            next = watcher.remote_access_again(&block.context, &owner.context, touch);
        }
        follow(block, watcher, next, touch.at);
    }
}

/// Returns the value that the current thread's atomic read returns, and whose notification came before. `newest` is the
/// value in memory.
#[inline(always)]
pub(crate) fn value_read<T: Pod>(newest: T) -> T {
    if has_weak_memory() { choose_value(newest) } else { newest }
}

#[cold]
#[inline(never)]
fn choose_value<T: Pod>(newest: T) -> T {
    let watcher = current().filter(|_| !std::thread::panicking()).and_then(|block| Some((block, block.watcher()?)));
    let Some((block, watcher)) = watcher else { return newest };
    let mut value = newest;
    let bits = watcher.value_read(&block.context, bits_of(newest));
    bytemuck::bytes_of_mut(&mut value).copy_from_slice(&bits.to_le_bytes()[..size_of::<T>()]);
    value
}

/// Returns true if memory takes the value `new` of the current thread's atomic write, whose notification came before.
/// `old` returns the value in memory.
#[inline(always)]
pub(crate) fn takes_value<T: Pod>(old: impl FnOnce() -> T, new: T) -> bool {
    !has_weak_memory() || note_value(old(), new)
}

#[cold]
#[inline(never)]
fn note_value<T: Pod>(old: T, new: T) -> bool {
    match current().and_then(|block| Some((block, block.watcher()?))) {
        Some((block, watcher)) if !std::thread::panicking() => {
            watcher.value_written(&block.context, bits_of(old), bits_of(new))
        }
        _ => true,
    }
}

fn bits_of<T: Pod>(value: T) -> Value {
    let mut bits = [0; size_of::<Value>()];
    bits[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    Value::from_le_bytes(bits)
}

/// Notifies `watcher` of an access and follows the instruction that the watcher returns.
#[inline(always)]
fn notify_watcher(block: &Block, watcher: &dyn Watcher, touch: &Touch) {
    if let Some(writes) = block.grid().last_writes {
        writes.note(&block.context, touch);
    }
    match watcher.access(&block.context, touch) {
        Next::Continue => {}
        Next::LetOthersRun => {
            block.let_others_run();
            follow(block, watcher, watcher.access_again(&block.context, touch), touch.at);
        }
        next => follow(block, watcher, next, touch.at),
    }
}

/// Notifies the watcher of an access to any number of bytes, divided into aligned pieces of at most 16 bytes. For each
/// piece, reports all `accesses` in order.
pub(crate) fn notify_pieces(
    block: &Block,
    space: Space,
    accesses: &[Access],
    (start, bytes): (usize, usize),
    at: Line,
) {
    block.preempt(at, false);
    let Some(watcher) = block.watcher() else { return };
    if accesses.first() == Some(&Access::Load) {
        block.note_load(start, at);
    }
    let (mut address, end) = (start, start + bytes);
    while address < end {
        let aligned = 1 << address.trailing_zeros().min(4);
        let bytes = if aligned <= end - address { aligned } else { 1 << (end - address).ilog2() };
        for &access in accesses {
            notify_watcher(block, watcher, &Touch { space, access, address, bytes, at });
        }
        address += bytes;
    }
}

/// Notifies the watcher of a branch that the current thread takes if `is_taken` is true. Returns `is_taken`.
#[inline(always)]
pub(crate) fn observe_branch(is_taken: bool, at: Line) -> bool {
    if is_watching_branches() {
        notify_branch(is_taken, at);
    }
    is_taken
}

#[cold]
#[inline(never)]
fn notify_branch(is_taken: bool, at: Line) {
    if let Some(block) = current()
        && let Some(watcher) = block.watcher()
    {
        follow(block, watcher, watcher.branch(&block.context, is_taken, at), at);
    }
}

/// Notifies the watcher that the current thread waits for the previous launches.
pub(crate) fn observe_dependencies(at: Line) {
    if let Some(block) = current()
        && let Some(watcher) = block.watcher()
    {
        follow(block, watcher, watcher.dependencies(&block.context), at);
    }
}

/// Follows the instruction `next`, which the watcher has returned for the current thread at the line `at`.
#[inline]
fn follow(block: &Block, watcher: &dyn Watcher, next: Next, at: Line) {
    match next {
        Next::Continue => {}
        Next::LetOthersRun => block.let_others_run(),
        Next::Pause => block.pause(watcher),
        Next::Fault(kind) => block.raise(*kind, at),
        Next::FaultAt(kind, at) => block.raise(*kind, at),
    }
}
