//! The expansions of the crate's macros in the simulator.

#[doc(hidden)]
#[macro_export]
macro_rules! __kernel {
    (device { $($device:tt)* } host { $($host:tt)* }) => { $($host)* };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __kernel_list {
    ([$($doc:literal)*] $($kernel:ident)*) => {
        /// A summary of the module's kernels; empty if `kernels!` has no documentation.
        pub const SUMMARY: &str = ::core::concat!($($doc),*).trim_ascii();

        /// The kernels of this module, with all instances.
        pub const KERNELS: &[&$crate::KernelInfo] = {
            const LISTS: &[&[&$crate::KernelInfo]] = &[$(<$kernel>::INSTANCES),*];
            const LEN: usize = $crate::__private::total_len(LISTS);
            const LIST: [&$crate::KernelInfo; LEN] = $crate::__private::concatenate(LISTS);
            &LIST
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __shared_array {
    ([] $($array:tt)*) => {
        $crate::__shared_array! {
            [::core::concat!("shared array at ", ::core::file!(), ":", ::core::line!())] $($array)*
        }
    };
    ([$label:expr] $place:ident $handle:ident $name:ident $symbol:literal $element:ty, $len:expr) => {{
        // The macro's arguments can see these items, so they have names that no kernel uses.
        static __CUDA_STD_SITE: $crate::__private::Site = $crate::__private::Site::named($label);
        let len: usize = const { $len };
        let instance = $crate::__shared_instance! { $place };
        let element = ::core::mem::size_of::<$element>();
        let address = $crate::__private::allocate_instance(&__CUDA_STD_SITE, instance, element, len);
        $crate::__shared_handle! { $handle $element, address, len as u32 }
    }};
}

/// Returns the name of the instance whose array a `shared_array!` is.
#[doc(hidden)]
#[macro_export]
macro_rules! __shared_instance {
    // The name of a closure's type contains the generic arguments of the function around it.
    (in_function) => {
        ::core::any::type_name_of_val(&|| ())
    };
    (in_module) => {
        ""
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __device_static {
    ($Handle:ident $is_writable:literal $name:literal $symbol:literal $element:ty, $len:expr, $type:ty, $value:expr) => {{
        static __VALUE: $type = $value;
        // SAFETY: the initial value is never modified; each device has a copy.
        let info = unsafe {
            $crate::__private::DeviceStatic::new(
                ($name, $symbol, ::core::module_path!()),
                (&raw const __VALUE).cast(),
                ::core::mem::size_of::<$type>(),
                ::core::mem::size_of::<$element>(),
                $is_writable,
            )
        };
        // SAFETY: the value has this number of elements.
        unsafe { $crate::$Handle::<$element>::new($crate::__private::StaticPlace::new(info), $len) }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __constant {
    ($($static:tt)*) => { $crate::__device_static! { Constant false $($static)* } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __global_static {
    ($($static:tt)*) => { $crate::__device_static! { GlobalStatic true $($static)* } };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __println {
    (host { $($host:tt)* } device $($device:tt)*) => {
        $crate::__private::print_formatted(::core::format_args!($($host)*))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __assertion {
    (host { $($host:tt)* } device { $($device:tt)* }) => { $($host)* };
}

/// `unroll!(I in N => body)` repeats the body for each `I` from 0 to `N` − 1; `N` is at most 24. On a GPU `I` is a
/// constant, so arrays indexed by it stay in registers even if the compiler would not unroll a loop. In the simulator
/// the macro expands to a loop, which compiles faster.
#[macro_export]
macro_rules! unroll {
    ($i:ident in $n:expr => $body:block) => {{
        const { assert!($n <= 24, "unroll! repeats its body at most 24 times") };
        $crate::unroll!(@ $i $n, $body);
    }};
    (@ $i:ident $n:expr, $body:block $($number:literal)*) => {{
        #[allow(non_snake_case, clippy::needless_range_loop, reason = "a constant on a GPU, and each body its own there")]
        for $i in 0..$n $body
    }};
}
