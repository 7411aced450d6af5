//! The `cu…` functions that `cust` calls. Each function is one jump through its slot of a table.
//!
//! # Design
//!
//! An empty `libcuda.a` satisfies the linker, and the functions here take the place of the driver's. One binary
//! therefore runs with and without a driver. A missing driver is an error value ([`LoadError`](crate::LoadError)) and
//! does not prevent the program from starting.

use std::arch::global_asm;
use std::ffi::c_void;
use std::sync::atomic::AtomicPtr;

use crate::SYMBOLS;

const CUDA_ERROR_NOT_INITIALIZED: i32 = 3;
const CUDA_ERROR_NOT_SUPPORTED: i32 = 801;

/// The target of every slot until the driver is loaded. The function can ignore its arguments, because the caller
/// removes them in the C calling conventions of x86-64 and AArch64.
extern "C" fn not_initialized() -> i32 {
    CUDA_ERROR_NOT_INITIALIZED
}

/// Takes the place of each function that the driver lacks, and returns the error for it.
pub(crate) extern "C" fn not_supported() -> i32 {
    CUDA_ERROR_NOT_SUPPORTED
}

/// Returns the slots of the table, one for each of [`SYMBOLS`], in the same order. A slot contains the address to which
/// its function jumps.
pub(crate) fn table() -> &'static [AtomicPtr<c_void>] {
    unsafe extern "C" {
        #[link_name = "gridstride_cuda_driver_table"]
        static TABLE: [AtomicPtr<c_void>; SYMBOLS.len()];
    }
    // SAFETY: the assembly below defines one aligned and initialised pointer for each name of `SYMBOLS`. The section
    // lives as long as the program, and only atomic stores write to it. This reference also makes the linker include
    // the assembly's object file in every program that can load the driver.
    unsafe { &TABLE }
}

// A trampoline changes no register except x16 on AArch64, which the calling convention reserves for such jumps.
#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($name:ident) => {
        concat!("jmp qword ptr [rip + .Lgridstride_slot_", stringify!($name), "]")
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($name:ident) => {
        concat!(
            "adrp x16, .Lgridstride_slot_",
            stringify!($name),
            "\nldr x16, [x16, :lo12:.Lgridstride_slot_",
            stringify!($name),
            "]\nbr x16"
        )
    };
}

macro_rules! trampolines {
    ($($name:ident)*) => {
        global_asm!(
            ".pushsection .data.gridstride_cuda_driver,\"aw\",%progbits",
            ".p2align 3",
            ".globl gridstride_cuda_driver_table",
            ".hidden gridstride_cuda_driver_table",
            ".type gridstride_cuda_driver_table, %object",
            "gridstride_cuda_driver_table:",
            $(concat!(".Lgridstride_slot_", stringify!($name), ": .quad {not_initialized}"),)*
            ".size gridstride_cuda_driver_table, . - gridstride_cuda_driver_table",
            ".popsection",
            ".pushsection .text.gridstride_cuda_driver,\"ax\",%progbits",
            $(
                ".p2align 4",
                concat!(".globl ", stringify!($name)),
                concat!(".hidden ", stringify!($name)),
                concat!(".type ", stringify!($name), ", %function"),
                concat!(stringify!($name), ":"),
                jump!($name),
                concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            )*
            ".popsection",
            not_initialized = sym not_initialized,
        );
    };
}
crate::with_symbols!(trampolines);
