//! Traps: events in a simulated thread that would otherwise end the process. A trap is an abort, a stack overflow, or
//! an unreported access to unmapped memory. A panic that must not unwind causes an abort, for example a panic of
//! rustc's own pointer checks.
//!
//! The system reports a trap by a signal. If the signal comes from a simulated thread, the signal handler ends that
//! thread's fibre at once. The values on the fibre's stack are not dropped. The worker continues as if the fibre had
//! returned, and finds a [`Trap`]. Any other signal is passed to the previous handler.

use std::cell::{Cell, RefCell};
use std::ptr;

use corosensei::trap::CoroutineTrapHandler;

use super::STACK_BYTES;
use crate::block::Block;
use crate::faults::FaultKind;
use crate::on_drop::OnDrop;
use crate::panic;
use crate::source::SourceLocation;

/// The event that ended a simulated thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))), allow(dead_code))]
pub(crate) enum Trap {
    /// An access to unmapped or read-only memory at this address.
    Access(usize),
    /// An overflow of the simulated thread's stack.
    StackOverflow,
    /// A call of `abort`, for example by a panic that must not unwind.
    Abort,
}

/// The fibres of an OS thread, in the form in which the signal handler can end them.
#[derive(Default)]
pub(super) struct Trappable(RefCell<Vec<CoroutineTrapHandler<()>>>);

impl Trappable {
    /// Sets the fibre with the number `number`. This must be the number of an existing fibre, or the next number.
    pub(super) fn set(&self, number: usize, fibre: CoroutineTrapHandler<()>) {
        let mut fibres = self.0.borrow_mut();
        match fibres.get_mut(number) {
            Some(old) => *old = fibre,
            None => fibres.push(fibre),
        }
    }

    /// Removes all but the first `kept` fibres.
    pub(super) fn truncate(&self, kept: usize) {
        self.0.borrow_mut().truncate(kept);
    }
}

thread_local! {
    /// The fibres on which the OS thread runs blocks of a launch.
    static FIBRES: Cell<*const Trappable> = const { Cell::new(ptr::null()) };
    static TRAP: Cell<Option<Trap>> = const { Cell::new(None) };
}

/// Removes and returns the trap that has ended the fibre that ran last, if any.
pub(super) fn take() -> Option<Trap> {
    let trap = TRAP.take();
    if trap == Some(Trap::Abort) {
        panic::end_unfinished();
    }
    trap
}

/// Ends the block with a fault if a trap has ended its current thread.
pub(super) fn record(block: &Block) {
    if let Some(trap) = take() {
        let thread = block.thread();
        let seen = || block.seen(thread).map(SourceLocation::from);
        let (location, kind) = match trap {
            Trap::Access(address) => (seen(), FaultKind::Unseen { address }),
            Trap::StackOverflow => (seen(), FaultKind::StackOverflow { bytes: STACK_BYTES }),
            Trap::Abort => match panic::take_unfinished() {
                Some((message, location)) => (Some(location), FaultKind::Panic(message)),
                None => (seen(), FaultKind::Panic("aborted".to_owned())),
            },
        };
        block.record(block.fault_of(thread, location, kind));
    }
}

/// Marks the OS thread as running `fibres` until the result is dropped. `fibres` must live until then.
pub(super) fn begin(fibres: &Trappable) -> impl Drop {
    FIBRES.set(fibres);
    OnDrop(|| FIBRES.set(ptr::null()))
}

/// Installs the signal handler on the first call in the process.
pub(crate) fn install() {
    handler::install();
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod handler {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::{Once, OnceLock};

    use libc::{SIGABRT, SIGBUS, SIGSEGV, SIGTRAP, c_int, c_void, sigaction, siginfo_t, ucontext_t};

    use super::{FIBRES, TRAP, Trap};
    use crate::current::is_simulated;
    use crate::raw::guard;
    use crate::worker::STACK_BYTES;

    const SIGNALS: [c_int; 4] = [SIGSEGV, SIGBUS, SIGABRT, SIGTRAP];

    /// The action that each of the signals had before the handler was installed.
    static PREVIOUS: [OnceLock<sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

    pub(super) fn install() {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
                let mut old = MaybeUninit::<sigaction>::zeroed();
                // SAFETY: the call only reads the current action, and zeros are a valid `sigaction`.
                let old = unsafe {
                    sigaction(signal, ptr::null(), old.as_mut_ptr());
                    old.assume_init()
                };
                let _ = previous.set(old);
                let mut new = old;
                new.sa_sigaction = handle as *const () as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                // SAFETY: `handle` has the signature that `SA_SIGINFO` requires.
                unsafe { sigaction(signal, &raw const new, ptr::null_mut()) };
            }
        });
    }

    extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system passes pointers that are valid during this call.
        if !unsafe { step_over(signal, info, context.cast()) || end_fibre(signal, info, context.cast()) } {
            // SAFETY: the system passes pointers that are valid during this call.
            unsafe { pass_on(signal, info, context) };
        }
    }

    /// Handles an access to memory that the guard has closed. Lets the access execute in a single step, after which the
    /// guard closes the memory again. Returns false if the signal has another cause.
    ///
    /// # Safety
    /// The arguments must be the ones that the system passes to a signal handler.
    unsafe fn step_over(signal: c_int, info: *mut siginfo_t, context: *mut ucontext_t) -> bool {
        // SAFETY: the caller guarantees a handler's arguments; SIGSEGV has an address.
        let steps_on = unsafe {
            match signal {
                SIGSEGV if is_own(signal, info) => guard::allow_access((*info).si_addr().addr(), is_write(context)),
                SIGTRAP if guard::step() => Some(false),
                _ => None,
            }
        };
        if let Some(steps_on) = steps_on {
            // SAFETY: the caller guarantees a handler's context.
            unsafe { set_stepping(context, steps_on) };
        }
        steps_on.is_some()
    }

    /// Ends the simulated thread from which the signal comes. Returns false if the signal does not come from a
    /// simulated thread.
    ///
    /// # Safety
    /// The arguments must be the ones that the system passes to a signal handler.
    unsafe fn end_fibre(signal: c_int, info: *mut siginfo_t, context: *mut ucontext_t) -> bool {
        let fibres = FIBRES.get();
        // SAFETY: the caller guarantees a handler's arguments.
        if signal == SIGTRAP || fibres.is_null() || !is_simulated() || !unsafe { is_own(signal, info) } {
            return false;
        }
        // SAFETY: the caller guarantees a handler's context.
        let stack = unsafe { stack_pointer(context) };
        // SAFETY: `begin` makes a value that resets the pointer before the fibres are dropped.
        let Ok(fibres) = unsafe { &*fibres }.0.try_borrow() else { return false };
        let Some(fibre) = fibres.iter().find(|fibre| fibre.stack_ptr_in_bounds(stack)) else { return false };
        TRAP.set(Some(if signal == SIGABRT {
            Trap::Abort
        } else {
            // SAFETY: the caller guarantees a handler's arguments; both other signals have an address.
            let address = unsafe { (*info).si_addr().addr() };
            // A stack overflow accesses the unmapped page below the stack, so its address is close to the stack
            // pointer. No other data is in this page.
            if address.abs_diff(stack) < STACK_BYTES { Trap::StackOverflow } else { Trap::Access(address) }
        }));
        // SAFETY: the fibre is running, because its stack is in use. Only code of the kernel is cut off, and its block
        // ends with a fault. The simulator's own code makes no invalid access and does not abort, so it is never cut
        // off. `abort` holds no lock while it raises its signal.
        let registers = unsafe { fibre.setup_trap_handler(|| ()) };
        guard::step();
        // SAFETY: the caller guarantees a handler's context.
        unsafe {
            set_stepping(context, false);
            set_registers(context, &registers);
        }
        true
    }

    /// Returns true if the thread that receives the signal has caused it, and false if another thread or process has
    /// sent it.
    ///
    /// # Safety
    /// The arguments must be the ones that the system passes to a signal handler.
    unsafe fn is_own(signal: c_int, info: *const siginfo_t) -> bool {
        // SAFETY: the caller guarantees a handler's arguments; a signal that was sent has the sender's process id.
        unsafe {
            if signal == SIGABRT {
                (*info).si_code == libc::SI_TKILL && (*info).si_pid() == libc::getpid()
            } else {
                (*info).si_code > 0
            }
        }
    }

    /// Passes a signal to the previous handler.
    ///
    /// # Safety
    /// The arguments must be the ones that the system passes to a signal handler.
    unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let previous = SIGNALS.iter().position(|&known| known == signal).and_then(|index| PREVIOUS[index].get());
        let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
        if signal == SIGABRT && handler == libc::SIG_IGN {
            // The signal is ignored, as it was before. `abort` itself then ends the process.
        } else if matches!(signal, SIGABRT | SIGTRAP) && handler == libc::SIG_DFL {
            // Returning would not raise the signal again: it may have been sent, or its instruction may have completed.
            // SAFETY: sets the default action, and sends the signal to this thread.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        } else if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // The faulting instruction runs again, and its signal then ends the process as without this handler.
            // SAFETY: sets the default action of the signal.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        } else if previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0) {
            // SAFETY: the handler was installed with `SA_SIGINFO`, so it has these parameters.
            let handler =
                unsafe { std::mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler) };
            handler(signal, info, context);
        } else {
            // SAFETY: the handler was installed without `SA_SIGINFO`, so it has this parameter.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }

    /// Returns the stack pointer of the interrupted code.
    ///
    /// # Safety
    /// `context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "x86_64")]
    unsafe fn stack_pointer(context: *const ucontext_t) -> usize {
        // SAFETY: the caller guarantees a signal's context.
        unsafe { (*context).uc_mcontext.gregs[libc::REG_RSP as usize] as usize }
    }

    /// Returns true if a write has caused the fault.
    ///
    /// # Safety
    /// `context` must be the context of a memory fault that the system passes to a signal handler.
    #[cfg(target_arch = "x86_64")]
    unsafe fn is_write(context: *const ucontext_t) -> bool {
        const WRITES: i64 = 1 << 1;
        // SAFETY: the caller guarantees a signal's context.
        unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] & WRITES != 0 }
    }

    /// Switches single-stepping on or off. If `is_on` is true, the processor raises SIGTRAP after each instruction.
    ///
    /// # Safety
    /// `context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "x86_64")]
    unsafe fn set_stepping(context: *mut ucontext_t, is_on: bool) {
        const TRAP_FLAG: i64 = 1 << 8;
        // SAFETY: the caller guarantees a signal's context.
        let flags = unsafe { &mut (*context).uc_mcontext.gregs[libc::REG_EFL as usize] };
        *flags = if is_on { *flags | TRAP_FLAG } else { *flags & !TRAP_FLAG };
    }

    /// Sets the registers with which the interrupted code continues.
    ///
    /// # Safety
    /// `context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "x86_64")]
    unsafe fn set_registers(context: *mut ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
        // SAFETY: the caller guarantees a signal's context.
        let all = unsafe { &mut (*context).uc_mcontext.gregs };
        for (register, value) in [
            (libc::REG_RIP, registers.rip),
            (libc::REG_RSP, registers.rsp),
            (libc::REG_RBP, registers.rbp),
            (libc::REG_RDI, registers.rdi),
            (libc::REG_RSI, registers.rsi),
        ] {
            all[register as usize] = value as i64;
        }
    }

    /// Returns false, because the simulator does not guard memory on this architecture.
    ///
    /// # Safety
    /// `_context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "aarch64")]
    unsafe fn is_write(_context: *const ucontext_t) -> bool {
        false
    }

    /// Does nothing, because the simulator does not guard memory on this architecture.
    ///
    /// # Safety
    /// `_context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "aarch64")]
    unsafe fn set_stepping(_context: *mut ucontext_t, _is_on: bool) {}

    /// Returns the stack pointer of the interrupted code.
    ///
    /// # Safety
    /// `context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "aarch64")]
    unsafe fn stack_pointer(context: *const ucontext_t) -> usize {
        // SAFETY: the caller guarantees a signal's context.
        unsafe { (*context).uc_mcontext.sp as usize }
    }

    /// Sets the registers with which the interrupted code continues.
    ///
    /// # Safety
    /// `context` must be the context that the system passes to a signal handler.
    #[cfg(target_arch = "aarch64")]
    unsafe fn set_registers(context: *mut ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
        // SAFETY: the caller guarantees a signal's context.
        let all = unsafe { &mut (*context).uc_mcontext };
        all.pc = registers.pc;
        all.sp = registers.sp;
        all.regs[0] = registers.x0;
        all.regs[1] = registers.x1;
        all.regs[29] = registers.x29;
        all.regs[30] = registers.lr;
    }
}

/// A handler that does nothing. On these systems a memory fault ends the process.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod handler {
    pub(super) fn install() {}
}
