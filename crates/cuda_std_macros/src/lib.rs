//! The attribute `#[kernel]` and the macros of `cuda_std`, which re-exports them.

extern crate proc_macro;

use proc_macro::TokenStream;

mod accesses;
mod address_space;
mod assertion;
mod body;
mod call_path;
mod constants;
mod device;
mod device_copy;
mod entry_step;
mod indexing;
mod kernel;
mod ladder;
mod loops;
mod names;
mod passes;
mod println;
mod shared_array;
mod statics;
mod unused;

/// Derives `DeviceCopy` for a struct whose fields are `DeviceCopy`, or for an enum without fields that has a
/// representation such as `#[repr(u8)]`. Buffers can hold values of the type, and kernels can take them as parameters.
///
/// Derive `Clone` and `Copy` as well. The generic parameters of the type get the bound `DeviceCopy`.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    device_copy::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Puts a static into one of a GPU's memory spaces.
///
/// - `#[address_space(shared)] static mut X: [T; N]` in a kernel is an array in the block's shared memory, which the
///   kernel accesses like any `static mut`. Outside of a kernel it is a
///   [`SharedStatic`](../cuda_std/struct.SharedStatic.html). The initial value is ignored: the contents are unspecified
///   until they are written.
/// - `#[address_space(constant)] static X: [T; N]` is a [`Constant`](../cuda_std/struct.Constant.html), which the host
///   may set.
/// - `#[address_space(global)] static mut X: [T; N]` is a [`GlobalStatic`](../cuda_std/struct.GlobalStatic.html), which
///   kernels and the host read and write.
///
/// The names of constants and global statics must be unique in a kernel crate.
#[proc_macro_attribute]
pub fn address_space(attribute: TokenStream, item: TokenStream) -> TokenStream {
    statics::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Turns a function without a result into a kernel.
///
/// The function may take numbers, views (`Global<T>`, `GlobalMut<T>`) and, as in Rust-CUDA, slices and raw pointers.
/// `#[kernel(max_threads = 256, min_blocks = 4)]` bounds its launch: at most 256 threads per block, and at least 4
/// blocks on a multiprocessor at once (`.maxntid`, `.minnctapersm`). In `instances(…)`, these bounds are for the
/// instances of that list. `cluster = 4` or `cluster = (2, 2)` fixes the
/// number of blocks per cluster (`.reqnctapercluster`): every launch then has such clusters, and the compiler may rely
/// on the size.
///
/// In the body, and under [`macro@device`], `x[i]` loads or stores element `i` of a view or a shared array, and
/// `x[i][j]` element `j` of row `i`. An index of a view may be any integer.
///
/// For the GPU the function becomes an entry of its name in the PTX module. For the host it becomes two items of its
/// name: a function with the same parameters that returns a typed `Call`, and a type that implements `Kernel`. The GPU
/// and the simulator run the same body.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attributes.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a function as device code, which kernels call. On an `impl` block, a trait, or a module with its content, it
/// marks all functions in it.
///
/// The simulator then checks the function's accesses through raw pointers and slices, like those of a kernel's body. It
/// checks bounds and, on a checked device, data races and uninitialised reads. On a GPU nothing is checked. The
/// accesses of a `const fn` are not checked on any device.
#[proc_macro_attribute]
pub fn device(attributes: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(attributes.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares an array of `N` elements of type `T` in the block's shared memory. The expression `shared_array![T; N]` is
/// a `Shared<T>`.
///
/// Each occurrence in the source is one array, which all threads of a block share. Its contents are unspecified until
/// they are written.
///
/// `T` and `N` may use the constants and generic parameters of the function around the array. In a generic function,
/// each instance has an array of its own: calls with the same generic arguments use the same array.
/// `shared_array! { mod T; N }` is one array for all instances, whose `T` and `N` do not depend on generic parameters.
///
/// ```text
/// fn reversed<T: DeviceCopy, const N: usize>(value: T, thread: usize) -> T {
///     let tile = shared_array![T; N];
/// ```
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    shared_array::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares the rungs of an algorithm in the module that holds their kernels.
///
/// ```text
/// cuda_std::ladder! {
///     /// What the algorithm computes, in a sentence.
///     pub enum ReduceRung: reduce {
///         /// Makes a call of any of these rungs, which may be chosen at run time.
///         pub fn step<T: Element, O: Operator<T>>(part: u32, x: Global<T>, y: GlobalMut<T>) {
///             neighboured,
///             /// What the rung does, if its kernel's documentation should not be shown.
///             unrolled_4 = unrolled::reduce_unrolled<4>,
///         }
///         grid_stride = reduce_grid_stride + one_tile::reduce_one_tile,
///     } also { convert::pack }
/// }
/// ```
///
/// The rung `neighboured` launches the kernel `reduce_neighboured` in the module `neighboured`. If a rung has other
/// kernels, they follow after `=`: each is in the rung's own module, or has a path to another one. `also` lists kernels
/// that belong to no rung.
///
/// The macro declares the modules and re-exports the kernels. For the host it also lists the kernels like
/// [`kernels!`](../cuda_std/macro.kernels.html) and declares the enum of the rungs, which implements `Ladder`.
#[proc_macro]
pub fn ladder(input: TokenStream) -> TokenStream {
    ladder::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prints a line from a kernel.
///
/// Placeholders such as `{}`, `{name}`, `{:?}`, `{:8}`, `{:08x}` and `{:.3}` work for numbers, `bool`s and strings. One
/// call prints at most eight values. A GPU prints the line when the host synchronises with the device. It prints the
/// first 127 bytes of a string, and six significant digits of a float whose placeholder has no precision.
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    println::expand(input.into(), "\n").unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prints from a kernel like [`println!`], without a line break.
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    println::expand(input.into(), "").unwrap_or_else(syn::Error::into_compile_error).into()
}

macro_rules! assertions {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        ///
        /// On a GPU the thread prints the message with its block, its index, the file and the line, and ends the kernel
        /// with an error. In a kernel's body, core's macro of this name does the same. A value that a GPU cannot print,
        /// such as a structure, is left out. With the feature `silent-asserts` of `cuda_std` there is no message.
        #[proc_macro]
        pub fn $name(input: TokenStream) -> TokenStream {
            assertion::expand(stringify!($name), input.into()).into()
        }
    )*};
}

assertions! {
    /// Ends the kernel if a condition is false, like core's `assert!`.
    assert
    /// Ends the kernel if two values differ, like core's `assert_eq!`.
    assert_eq
    /// Ends the kernel if two values are equal, like core's `assert_ne!`.
    assert_ne
    /// An [`assert!`] that is checked only with debug assertions.
    debug_assert
    /// An [`assert_eq!`] that is checked only with debug assertions.
    debug_assert_eq
    /// An [`assert_ne!`] that is checked only with debug assertions.
    debug_assert_ne
    /// Ends the kernel, like core's `panic!`.
    panic
    /// Ends the kernel at a place that must not be reached, like core's `unreachable!`.
    unreachable
}
