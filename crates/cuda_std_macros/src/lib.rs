//! The attribute `#[kernel]` and the macros of `cuda_std`, which re-exports them.

use proc_macro::TokenStream;

mod assertion;
mod device_copy;
mod kernel;
mod ladder;
mod println;
mod shared_array;

/// Makes a struct whose fields are `DeviceCopy`, or an enum without fields that says its representation, `DeviceCopy` itself:
/// what buffers hold and kernels take.
///
/// `Clone` and `Copy` are derived beside it. A generic parameter has to be `DeviceCopy`.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    device_copy::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a kernel of a function without a result.
///
/// The function may take numbers, views (`Global<T>`, `GlobalMut<T>`) and, as in Rust-CUDA, slices and raw pointers.
/// `#[kernel(max_threads = 256, min_blocks = 4)]` bounds its launch: at most so many threads a block, at least so many
/// blocks on an SM at once (`.maxntid`, `.minnctapersm`).
///
/// For the GPU it becomes an entry of the PTX module, under its own name. For the host it becomes a function of the
/// same name and parameters that returns a typed `Call`, and a type of that name that implements `Kernel`. The body is
/// the same for both.
#[proc_macro_attribute]
pub fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attributes.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// `shared_array![T; N]`: an array of `N` elements in the block's shared memory, as a `Shared<T>`.
///
/// Each place in the source where it stands is one array, which all threads of a block share. Its contents are
/// unspecified until they are written. `T` and `N` must be known at the module's level, not be parameters of the
/// function.
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
/// A rung `neighboured` stands for the module of that name and the kernel `reduce_neighboured` in it; after `=` stand the
/// kernels by their names, each in the rung's module or in another. `also` lists kernels that are no rungs.
///
/// It declares the modules and makes the kernels public; for the host it lists them as
/// [`kernels!`](../cuda_std/macro.kernels.html) does, and declares an enum of the rungs, which implements `Ladder`.
#[proc_macro]
pub fn ladder(input: TokenStream) -> TokenStream {
    ladder::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Prints a line from a kernel.
///
/// The placeholders `{}`, `{name}`, `{:?}`, `{:8}`, `{:08x}`, `{:.3}` and the like are known, for numbers, `bool`s and strings. On a
/// GPU up to eight values can be printed, and the line appears when the host synchronises with the device; a float without
/// a precision is printed with six significant digits, and of a string the first 127 bytes.
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
        /// On a GPU the thread prints the message with its block, its index, the file and the line, and ends the kernel with an
        /// error. In a kernel's body core's macro of this name does the same. What cannot be printed there, such as a structure,
        /// is left out of the message. With the feature `silent-asserts` of `cuda_std` there is no message.
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
