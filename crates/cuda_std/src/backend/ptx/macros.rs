//! What the crate's macros expand to on a GPU.

#[doc(hidden)]
#[macro_export]
macro_rules! __kernel {
    (device { $($device:tt)* } host { $($host:tt)* }) => { $($device)* };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kernel_list {
    ([$($doc:literal)*] $($kernel:ident)*) => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __shared_array {
    // Where the type or the length is known in a function alone: what builds the PTX declares the array.
    ([$($label:tt)*] in_function $name:ident $symbol:literal $element:ty, $len:expr) => {{
        let address: u32;
        // SAFETY: reads the address of the array, which is declared for this comment.
        unsafe {
            ::core::arch::asm!(
                ::core::concat!(
                    "// cuda_std shared_array ", $symbol, "_{bytes} {bytes}\n\tmov.u32 {address}, ", $symbol, "_{bytes};"
                ),
                address = out(reg32) address,
                bytes = const { $len * ::core::mem::size_of::<$element>() },
                options(pure, nomem, nostack, preserves_flags)
            )
        };
        // SAFETY: the array has the length, and is aligned to 16 bytes.
        unsafe { $crate::Shared::<$element>::from_raw_parts(address, const { $len } as u32) }
    }};
    ([$($label:tt)*] $name:ident $symbol:literal $element:ty, $len:expr) => {{
        // A module, because `global_asm!` is an item that may not stand in a function.
        #[allow(unused_imports)]
        mod $name {
            use super::*;
            ::core::arch::global_asm!(
                ::core::concat!(".shared .align 16 .b8 ", $symbol, "[{bytes}];"),
                bytes = const { $len * ::core::mem::size_of::<$element>() }
            );
        }
        let address: u32;
        // SAFETY: reads the address of the array declared above.
        unsafe {
            ::core::arch::asm!(
                ::core::concat!("mov.u32 {}, ", $symbol, ";"),
                out(reg32) address,
                options(pure, nomem, nostack, preserves_flags)
            )
        };
        // SAFETY: the array has the length, and is aligned to 16 bytes.
        unsafe { $crate::Shared::<$element>::from_raw_parts(address, $len as u32) }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __constant {
    ($name:literal $symbol:literal $element:ty, $len:expr, $type:ty, $value:expr) => {{
        #[used]
        #[unsafe(export_name = $symbol)]
        static __VALUE: $crate::__private::StaticValue<$type> = $crate::__private::StaticValue($value);
        mod __declaration {
            ::core::arch::global_asm!(::core::concat!("// cuda_std constant ", $symbol));
        }
        #[inline(always)]
        fn __address() -> *const u8 {
            let address: *const u8;
            // SAFETY: reads the address of the static, in the state space where it is.
            unsafe {
                ::core::arch::asm!(
                    ::core::concat!("mov.u64 {}, ", $symbol, ";"),
                    out(reg64) address,
                    options(pure, nomem, nostack, preserves_flags)
                )
            };
            address
        }
        // SAFETY: the value has as many elements.
        unsafe { $crate::Constant::<$element>::new($crate::__private::StaticPlace::new(__address), $len) }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __global_static {
    ($name:literal $symbol:literal $element:ty, $len:expr, $type:ty, $value:expr) => {{
        #[used]
        #[unsafe(export_name = $symbol)]
        static mut __VALUE: $type = $value;
        #[inline(always)]
        fn __address() -> *const u8 {
            (&raw const __VALUE).cast()
        }
        // SAFETY: the value has as many elements.
        unsafe { $crate::GlobalStatic::<$element>::new($crate::__private::StaticPlace::new(__address), $len) }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __println {
    (host { $($host:tt)* } device { $($pieces:tt)* } { $($argument:expr),* $(,)? }) => {{
        struct __CudaStdMessage;
        impl $crate::__private::Pieces for __CudaStdMessage {
            const PIECES: &'static [$crate::__private::Piece] = {
                use $crate::__private::Piece::{Argument, Text};
                &[$($pieces)*]
            };
        }
        $crate::__private::print(__CudaStdMessage, ($($argument,)*))
    }};
}
