//! The attribute `#[kernel]` and the macros of `cuda_std`, which re-exports them.

use proc_macro::TokenStream;

mod kernel;
mod println;
mod shared_array;

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

/// Prints a line from a kernel.
///
/// The placeholders `{}`, `{name}`, `{:8}`, `{:08x}`, `{:.3}` and the like are known. On a GPU up to eight numbers can
/// be printed, and the line appears when the host synchronises with the device; a float without a precision is printed
/// with six significant digits.
#[proc_macro]
pub fn println(input: TokenStream) -> TokenStream {
    println::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
