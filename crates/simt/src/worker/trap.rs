//! What would end the process from within a simulated thread: memory faults that the processor finds (unreported
//! accesses to where there is no memory, and stack overflows), and aborts, by which a panic ends that must not unwind,
//! as rustc's own checks of pointers do.
//!
//! The system reports them by a signal. If it comes from a simulated thread, the handler ends that thread's fibre at
//! once: what is on its stack is forgotten without being dropped, and the worker goes on as if the fibre had returned,
//! and finds a [`Trap`]. Any other signal goes to the handler that was there before.

use std::cell::{Cell, RefCell};
use std::ptr;

use corosensei::trap::CoroutineTrapHandler;

use crate::panic;

/// What a thread ended by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// An access at this address.
    Access(usize),
    /// The stack was too small.
    StackOverflow,
    /// A call of `abort`.
    Abort,
}

/// The fibres of an OS thread, which the handler ends.
#[derive(Default)]
pub(super) struct Trappable(RefCell<Vec<CoroutineTrapHandler<()>>>);

impl Trappable {
    /// Sets the fibre with this number, one of those there are or the next.
    pub(super) fn set(&self, number: usize, fibre: CoroutineTrapHandler<()>) {
        let mut fibres = self.0.borrow_mut();
        match fibres.get_mut(number) {
            Some(old) => *old = fibre,
            None => fibres.push(fibre),
        }
    }

    /// Forgets all but the first `kept`.
    pub(super) fn truncate(&self, kept: usize) {
        self.0.borrow_mut().truncate(kept);
    }
}

thread_local! {
    /// The fibres of the launch that the OS thread works for.
    static FIBRES: Cell<*const Trappable> = const { Cell::new(ptr::null()) };
    static TRAP: Cell<Option<Trap>> = const { Cell::new(None) };
}

/// What the fibre that ran last has ended by, if not by itself.
pub(super) fn take() -> Option<Trap> {
    let trap = TRAP.take();
    if trap == Some(Trap::Abort) {
        panic::end_unfinished();
    }
    trap
}

/// The OS thread runs `fibres`, as long as it lives.
pub(super) struct Trapping;

impl Trapping {
    /// `fibres` must be there until it is dropped.
    pub(super) fn begin(fibres: &Trappable) -> Self {
        FIBRES.set(fibres);
        Self
    }
}

impl Drop for Trapping {
    fn drop(&mut self) {
        FIBRES.set(ptr::null());
    }
}

/// Installs the handler, once for the process.
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

    /// What was there before, for each of the signals.
    static PREVIOUS: [OnceLock<sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

    pub(super) fn install() {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
                let mut old = MaybeUninit::<sigaction>::zeroed();
                // SAFETY: asks for what is there; of plain data, zeros are values.
                let old = unsafe {
                    sigaction(signal, ptr::null(), old.as_mut_ptr());
                    old.assume_init()
                };
                let _ = previous.set(old);
                let mut new = old;
                new.sa_sigaction = handle as *const () as usize;
                new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                // SAFETY: the handler is one that takes information.
                unsafe { sigaction(signal, &raw const new, ptr::null_mut()) };
            }
        });
    }

    extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system passes both, for the time of this call.
        if !unsafe { go_on(signal, info, context.cast()) || end_fibre(signal, info, context.cast()) } {
            // SAFETY: as above.
            unsafe { pass_on(signal, info, context) };
        }
    }

    /// Has an access of memory that the guard has closed go on, and close it again after one step. Gives false if the
    /// signal is of something else.
    ///
    /// # Safety
    /// The arguments must be a handler's.
    unsafe fn go_on(signal: c_int, info: *mut siginfo_t, context: *mut ucontext_t) -> bool {
        // SAFETY: the caller's word; of these signals, the first has an address.
        let steps_on = unsafe {
            match signal {
                SIGSEGV if is_own(signal, info) => guard::let_pass((*info).si_addr().addr(), is_write(context)),
                SIGTRAP if guard::step() => Some(false),
                _ => None,
            }
        };
        if let Some(steps_on) = steps_on {
            // SAFETY: the caller's word.
            unsafe { set_stepping(context, steps_on) };
        }
        steps_on.is_some()
    }

    /// Has the simulated thread that the signal comes from end. Gives false if it comes from none.
    ///
    /// # Safety
    /// The arguments must be a handler's.
    unsafe fn end_fibre(signal: c_int, info: *mut siginfo_t, context: *mut ucontext_t) -> bool {
        let fibres = FIBRES.get();
        // SAFETY: the caller's word.
        if signal == SIGTRAP || fibres.is_null() || !is_simulated() || !unsafe { is_own(signal, info) } {
            return false;
        }
        // SAFETY: the caller's word.
        let stack = unsafe { stack_pointer(context) };
        // SAFETY: `Trapping` keeps the pointer for as long as the fibres are there.
        let Ok(fibres) = unsafe { &*fibres }.0.try_borrow() else { return false };
        let Some(fibre) = fibres.iter().find(|fibre| fibre.stack_ptr_in_bounds(stack)) else { return false };
        TRAP.set(Some(if signal == SIGABRT {
            Trap::Abort
        } else {
            // SAFETY: the caller's word; both other signals have an address.
            let address = unsafe { (*info).si_addr().addr() };
            // A stack ends where it has no memory: there both are near to each other, and no thread has anything else.
            if address.abs_diff(stack) < STACK_BYTES { Trap::StackOverflow } else { Trap::Access(address) }
        }));
        // SAFETY: the fibre runs, as its stack is in use. What it leaves undone is a kernel's thread, whose block ends
        // with a fault: nothing of the simulator's is on its way there, as it accesses no memory that it has not got,
        // and does not abort. While `abort` raises its signal it holds nothing.
        let registers = unsafe { fibre.setup_trap_handler(|| ()) };
        guard::step();
        // SAFETY: the caller's word.
        unsafe {
            set_stepping(context, false);
            set_registers(context, &registers);
        }
        true
    }

    /// Whether the signal is the doing of the thread that it meets: what somebody sends it has no address.
    ///
    /// # Safety
    /// The arguments must be a handler's.
    unsafe fn is_own(signal: c_int, info: *const siginfo_t) -> bool {
        // SAFETY: the caller's word; the process that a signal comes from stands in each that is sent.
        unsafe {
            if signal == SIGABRT {
                (*info).si_code == libc::SI_TKILL && (*info).si_pid() == libc::getpid()
            } else {
                (*info).si_code > 0
            }
        }
    }

    /// # Safety
    /// The arguments must be a handler's.
    unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        let previous = SIGNALS.iter().position(|&known| known == signal).and_then(|index| PREVIOUS[index].get());
        let handler = previous.map_or(libc::SIG_DFL, |previous| previous.sa_sigaction);
        if signal == SIGABRT && handler == libc::SIG_IGN {
            // As before; `abort` itself goes on to end the process.
        } else if matches!(signal, SIGABRT | SIGTRAP) && handler == libc::SIG_DFL {
            // Somebody may have sent it, or it may be of an instruction that is done: it would not come again.
            // SAFETY: sets what the system has for a signal that nobody handles, and sends it to this thread.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        } else if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // What is at fault runs again, and ends the process as it would have without us.
            // SAFETY: sets what the system has for a signal that nobody handles.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        } else if previous.is_some_and(|previous| previous.sa_flags & libc::SA_SIGINFO != 0) {
            // SAFETY: who installed it said that it takes these.
            let handler =
                unsafe { std::mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler) };
            handler(signal, info, context);
        } else {
            // SAFETY: as above.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }

    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "x86_64")]
    unsafe fn stack_pointer(context: *const ucontext_t) -> usize {
        // SAFETY: the caller's word.
        unsafe { (*context).uc_mcontext.gregs[libc::REG_RSP as usize] as usize }
    }

    /// Whether the fault is one of an access that writes.
    ///
    /// # Safety
    /// The context must be that of a memory fault.
    #[cfg(target_arch = "x86_64")]
    unsafe fn is_write(context: *const ucontext_t) -> bool {
        const WRITES: i64 = 1 << 1;
        // SAFETY: the caller's word.
        unsafe { (*context).uc_mcontext.gregs[libc::REG_ERR as usize] & WRITES != 0 }
    }

    /// Has the processor send SIGTRAP after one step, or not.
    ///
    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "x86_64")]
    unsafe fn set_stepping(context: *mut ucontext_t, is_on: bool) {
        const TRAP_FLAG: i64 = 1 << 8;
        // SAFETY: the caller's word.
        let flags = unsafe { &mut (*context).uc_mcontext.gregs[libc::REG_EFL as usize] };
        *flags = if is_on { *flags | TRAP_FLAG } else { *flags & !TRAP_FLAG };
    }

    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "x86_64")]
    unsafe fn set_registers(context: *mut ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
        // SAFETY: the caller's word.
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

    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "aarch64")]
    unsafe fn is_write(_context: *const ucontext_t) -> bool {
        false
    }

    /// Nothing is guarded here.
    ///
    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "aarch64")]
    unsafe fn set_stepping(_context: *mut ucontext_t, _is_on: bool) {}

    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "aarch64")]
    unsafe fn stack_pointer(context: *const ucontext_t) -> usize {
        // SAFETY: the caller's word.
        unsafe { (*context).uc_mcontext.sp as usize }
    }

    /// # Safety
    /// The context must be that of a signal.
    #[cfg(target_arch = "aarch64")]
    unsafe fn set_registers(context: *mut ucontext_t, registers: &corosensei::trap::TrapHandlerRegs) {
        // SAFETY: the caller's word.
        let all = unsafe { &mut (*context).uc_mcontext };
        all.pc = registers.pc;
        all.sp = registers.sp;
        all.regs[0] = registers.x0;
        all.regs[1] = registers.x1;
        all.regs[29] = registers.x29;
        all.regs[30] = registers.lr;
    }
}

/// On other systems a memory fault ends the process.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod handler {
    pub(super) fn install() {}
}
