//! The expansions of the crate's macros on a GPU.

/// Emits a comment for `cuda_builder`, which states that the architecture lacks the instructions of a part of this
/// crate and that other code replaces them. The comment has the part's name and the first architecture that has the
/// instructions. With `missing`, there is no such code: the kernel ends with an error.
macro_rules! fallback {
    ($part:literal $arch:literal $($missing:ident)?) => {
        // SAFETY: the text is only a comment.
        unsafe {
            ::core::arch::asm!(
                ::core::concat!("// cuda_std fallback ", $part, " ", $arch $(, " ", ::core::stringify!($missing))?),
                options(nomem, nostack, preserves_flags)
            );
        }
    };
}

/// Calls `$with!(prefix, register class, address, …)` with the prefix for the memory space of `$place` and the scope,
/// such as `"gpu.global."`.
macro_rules! in_place {
    ($place:expr, $scope:expr, $with:ident $(, $more:tt)*) => {
        match ($place, $scope) {
            (Place::Global(p), Scope::Block) => $with!("cta.global.", reg64, to_global(p) $(, $more)*),
            (Place::Global(p), Scope::Device) => $with!("gpu.global.", reg64, to_global(p) $(, $more)*),
            (Place::Global(p), Scope::System) => $with!("sys.global.", reg64, to_global(p) $(, $more)*),
            (Place::Shared(a), Scope::Block) => $with!("cta.shared.", reg32, a $(, $more)*),
            (Place::Shared(a), Scope::Device) => $with!("gpu.shared.", reg32, a $(, $more)*),
            (Place::Shared(a), Scope::System) => $with!("sys.shared.", reg32, a $(, $more)*),
            (Place::Generic(p), Scope::Block) => $with!("cta.", reg64, p $(, $more)*),
            (Place::Generic(p), Scope::Device) => $with!("gpu.", reg64, p $(, $more)*),
            (Place::Generic(p), Scope::System) => $with!("sys.", reg64, p $(, $more)*),
        }
    };
}

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
    // Only the function knows the type or the length: `cuda_builder` declares the array. Each instance of a generic
    // function has an array of its own.
    ([$($label:tt)*] in_function $handle:ident $name:ident $symbol:literal $element:ty, $len:expr) => {{
        let address: u32;
        // SAFETY: the instruction only reads the address of the array that `cuda_builder` declares for this comment.
        unsafe {
            ::core::arch::asm!(
                ::core::concat!(
                    "// cuda_std shared_array ", $symbol, "_{bytes}_{instance} {bytes}\n\tmov.u32 {address}, ",
                    $symbol, "_{bytes}_{instance};"
                ),
                address = out(reg32) address,
                bytes = const { $len * ::core::mem::size_of::<$element>() },
                instance = const { $crate::__private::instance(&|| ()) },
                options(pure, nomem, nostack, preserves_flags)
            )
        };
        $crate::__shared_handle! { $handle $element, address, const { $len } as u32 }
    }};
    ([$($label:tt)*] in_module $handle:ident $name:ident $symbol:literal $element:ty, $len:expr) => {{
        // `global_asm!` is an item and may not stand in a function; a module holds it.
        #[allow(unused_imports)]
        mod $name {
            use super::*;
            ::core::arch::global_asm!(
                ::core::concat!(".shared .align 16 .b8 ", $symbol, "[{bytes}];"),
                bytes = const { $len * ::core::mem::size_of::<$element>() }
            );
        }
        let address: u32;
        // SAFETY: the instruction only reads the address of the array declared above.
        unsafe {
            ::core::arch::asm!(
                ::core::concat!("mov.u32 {}, ", $symbol, ";"),
                out(reg32) address,
                options(pure, nomem, nostack, preserves_flags)
            )
        };
        $crate::__shared_handle! { $handle $element, address, $len as u32 }
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
            // SAFETY: the instruction only reads the address of the static in its state space.
            unsafe {
                ::core::arch::asm!(
                    ::core::concat!("mov.u64 {}, ", $symbol, ";"),
                    out(reg64) address,
                    options(pure, nomem, nostack, preserves_flags)
                )
            };
            address
        }
        // SAFETY: the static has this number of elements.
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
        // SAFETY: the static has this number of elements.
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

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "silent-asserts"))]
macro_rules! __assertion {
    (host { $($host:tt)* } device { $($device:tt)* }) => { $($device)* };
}

/// Expands to the assertion of `core`, which is a trap without a message on a GPU.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "silent-asserts")]
macro_rules! __assertion {
    (host { $($host:tt)* } device { $($device:tt)* }) => { $($host)* };
}

/// Returns the generic address of parameter `$index` of the entry `$entry`.
#[doc(hidden)]
#[macro_export]
macro_rules! __parameter_address {
    ($entry:literal, $index:expr) => {{
        #[cfg(target_feature = "sm_90")]
        {
            let address: u64;
            // SAFETY: the instructions only compute the address of the entry's parameter.
            unsafe {
                ::core::arch::asm!(
                    ::core::concat!("// cuda_std tensor_map ", $entry, "_param_{index}\n\tmov.b64 {address}, ", $entry, "_param_{index};"),
                    "cvta.param.u64 {address}, {address};",
                    index = const $index,
                    address = out(reg64) address,
                    options(pure, nomem, nostack, preserves_flags)
                )
            };
            address
        }
        // Every use of a tensor map ends the kernel with an error.
        #[cfg(not(target_feature = "sm_90"))]
        0
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __fail {
    ({ $($pieces:tt)* } { $($argument:expr),* $(,)? }) => {{
        struct __CudaStdMessage;
        impl $crate::__private::Pieces for __CudaStdMessage {
            const PIECES: &'static [$crate::__private::Piece] = {
                use $crate::__private::Piece::{Argument, Text};
                use ::core::option::Option::None;
                &[
                    Text("block ("),
                    Argument("", None),
                    Text(", "),
                    Argument("", None),
                    Text(", "),
                    Argument("", None),
                    Text("), thread ("),
                    Argument("", None),
                    Text(", "),
                    Argument("", None),
                    Text(", "),
                    Argument("", None),
                    Text(::core::concat!("), at ", ::core::file!(), ":", ::core::line!(), ":", ::core::column!())),
                    Text(": panicked: "),
                    $($pieces)*
                    Text("\n"),
                ]
            };
        }
        let (block, thread) = ($crate::thread::block_idx(), $crate::thread::thread_idx());
        $crate::__private::fail_with(
            __CudaStdMessage,
            (block.x, block.y, block.z, thread.x, thread.y, thread.z, $($argument,)*),
        )
    }};
}

/// `unroll!(I in N => body)` repeats the body for each `I` from 0 to `N` − 1; `N` is at most 24. On a GPU `I` is a
/// constant, so arrays indexed by it stay in registers even if the compiler would not unroll a loop. In the simulator
/// the macro expands to a loop, which compiles faster.
#[macro_export]
macro_rules! unroll {
    ($i:ident in $n:expr => $body:block) => {{
        const { assert!($n <= 24, "unroll! repeats its body at most 24 times") };
        $crate::unroll!(@ $i $n, $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23);
    }};
    (@ $i:ident $n:expr, $body:block $($number:literal)*) => {$(
        #[allow(
            unconditional_panic,
            clippy::out_of_bounds_indexing,
            reason = "a body beyond the last is not reached"
        )]
        {
            const $i: usize = $number;
            if $i < $n $body
        }
    )*};
}
