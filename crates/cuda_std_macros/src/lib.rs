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
mod kernel;
mod ladder;
mod names;
mod passes;
mod println;
mod shared_array;
mod statics;
mod unused;

/// Makes a struct whose fields are `DeviceCopy`, or an enum without fields that says its representation, `DeviceCopy`
/// itself: what buffers hold and kernels take.
///
/// `Clone` and `Copy` are derived beside it. A generic parameter has to be `DeviceCopy`.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    device_copy::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Puts a static into one of a GPU's memories.
///
/// - `#[address_space(shared)] static mut X: [T; N]` in a kernel is an array in the block's shared memory, which the
///   kernel accesses as any `static mut`; outside of one, it is a
///   [`SharedStatic`](../cuda_std/struct.SharedStatic.html). What it is initialised with is not read: its contents are
///   unspecified until they are written.
/// - `#[address_space(constant)] static X: [T; N]` is a [`Constant`](../cuda_std/struct.Constant.html), which the host
///   may set.
/// - `#[address_space(global)] static mut X: [T; N]` is a [`GlobalStatic`](../cuda_std/struct.GlobalStatic.html), which
///   kernels and the host read and write.
///
/// The names of the latter two are unique in a kernel crate.
#[proc_macro_attribute]
pub fn address_space(attribute: TokenStream, item: TokenStream) -> TokenStream {
    statics::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a kernel of a function without a result.
///
/// The function may take numbers, views (`Global<T>`, `GlobalMut<T>`) and, as in Rust-CUDA, slices and raw pointers.
/// `#[kernel(max_threads = 256, min_blocks = 4)]` bounds its launch: at most so many threads per block, at least so
/// many blocks on an SM at once (`.maxntid`, `.minnctapersm`).
///
/// For the GPU it becomes an entry of the PTX module, under its own name. For the host it becomes a function of the
/// same name and parameters that returns a typed `Call`, and a type of that name that implements `Kernel`. The body is
/// the same for both.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attributes.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Marks a function as device code: one that kernels call. Also an `impl` block, a trait, or a module with its content,
/// for all functions in it.
///
/// In the simulator its accesses by raw pointers and slices are then observed, as those of a kernel's own body are:
/// their bounds, and, on a device that checks, data races and reads of what nobody has written. For the GPU nothing
/// changes. Nothing is observed in a `const fn`.
#[proc_macro_attribute]
pub fn device(attributes: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(attributes.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// `shared_array![T; N]`: an array of `N` elements in the block's shared memory, as a `Shared<T>`.
///
/// Each place in the source where it stands is one array, which all threads of a block share. Its contents are
/// unspecified until they are written.
///
/// In a kernel `T` and `N` may be whatever the kernel knows: its own constants and generic parameters too. Another
/// function says so by `fn`, where they are constants or generic parameters of its own; then arrays of the same size
/// from one place in the source are one array, for whichever arguments the function is called.
///
/// ```text
/// fn reversed<T: DeviceCopy, const N: usize>(value: T, thread: usize) -> T {
///     let tile = shared_array![fn T; N];
/// ```
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    shared_array::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares the rungs of an algorithm, once, in the module that holds their kernels.
///
/// ```text
/// cuda_std::ladder! {
///     /// What the algorithm computes, in a sentence.
///     pub enum ReduceRung: reduce {
///         /// A call of any of these rungs, for generic arguments that are known when it is made.
///         pub fn step<T: Element, O: Operator<T>>(part: u32, x: Global<T>, y: GlobalMut<T>) {
///             neighboured,
///             /// What the rung does, where its kernel's documentation is not to be shown.
///             unrolled_4 = unrolled::reduce_unrolled<4>,
///         }
///         grid_stride = reduce_grid_stride + one_tile::reduce_one_tile,
///     } also { convert::pack }
/// }
/// ```
///
/// A rung `neighboured` stands for the module of that name and the kernel `reduce_neighboured` in it; after `=` stand
/// the kernels by their names, each in the rung's module or in another. `also` lists kernels that are no rungs.
///
/// It declares the modules and makes the kernels public; for the host it lists them as
/// [`kernels!`](../cuda_std/macro.kernels.html) does, and declares an enum of the rungs, which implements `Ladder`.
#[proc_macro]
pub fn ladder(input: TokenStream) -> TokenStream {
    ladder::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prints a line from a kernel.
///
/// The placeholders `{}`, `{name}`, `{:?}`, `{:8}`, `{:08x}`, `{:.3}` and the like are known, for numbers, `bool`s and
/// strings. On a GPU up to eight values can be printed, and the line appears when the host synchronises with the
/// device; a float without a precision is printed with six significant digits, and of a string the first 127 bytes.
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    println::expand(input.into(), "\n").unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prints from a kernel as [`println!`] does, without the end of the line.
#[proc_macro]
pub fn print(input: TokenStream) -> TokenStream {
    println::expand(input.into(), "").unwrap_or_else(syn::Error::into_compile_error).into()
}

macro_rules! assertions {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        ///
        /// On a GPU the thread prints the message with its block, its index, the file and the line, and ends the kernel
        /// with an error. In a kernel's body core's macro of this name does the same. What cannot be printed there,
        /// such as a structure, is left out of the message. With the feature `silent-asserts` of `cuda_std` there is no
        /// message.
        #[proc_macro]
        pub fn $name(input: TokenStream) -> TokenStream {
            assertion::expand(stringify!($name), input.into()).into()
        }
    )*};
}

assertions! {
    /// Ends the kernel if a condition does not hold, as core's `assert!`.
    assert
    /// Ends the kernel if two values differ, as core's `assert_eq!`.
    assert_eq
    /// Ends the kernel if two values are equal, as core's `assert_ne!`.
    assert_ne
    /// As [`assert!`], where debug assertions are on.
    debug_assert
    /// As [`assert_eq!`], where debug assertions are on.
    debug_assert_eq
    /// As [`assert_ne!`], where debug assertions are on.
    debug_assert_ne
    /// Ends the kernel, as core's `panic!`.
    panic
    /// Ends the kernel at a place that is not reached, as core's `unreachable!`.
    unreachable
}
