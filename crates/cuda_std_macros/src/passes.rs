//! The passes that rewrite the body of a kernel or a device function, in their order.
//!
//! The macro first elides the named lifetimes of a kernel. It then applies [`SHARED`] to the body. For the GPU it
//! continues with [`GPU_KERNEL`] and [`GPU`], and for the simulator with [`SIMULATED_KERNEL`] and [`SIMULATOR`]. If the
//! environment variable [`EXPAND`] names a folder, the macro writes the body after each pass to a file there.

mod written;

use syn::visit_mut::VisitMut;
use syn::{Block, Signature};

use crate::kernel::{assembly, asserts, floats, shared};
use crate::{accesses, body, call_path, indexing, loops, unused};
use written::write;

/// The environment variable that names the folder for the bodies after each pass.
const EXPAND: &str = "CUDA_STD_EXPAND";

/// A pass over the body of a function. The name of the pass is part of the file name of its result.
struct Pass {
    name: &'static str,
    rewrite: fn(&Signature, &mut Block) -> syn::Result<()>,
}

/// Makes a [`Pass`] from an expression that cannot fail.
macro_rules! pass {
    ($name:literal, |$signature:tt, $body:ident| $rewrite:expr) => {
        Pass {
            name: $name,
            rewrite: |$signature, $body| {
                $rewrite;
                Ok(())
            },
        }
    };
}

/// Passes for the GPU and the simulator.
const SHARED: &[Pass] = &[
    // `print!` and `println!` become the macros of `cuda_std`.
    pass!("prints", |_, body| asserts::rewrite_prints(body)),
    // `x.exp()` becomes a call of `GpuFloat`, so that a GPU and the simulator compute the same bits.
    pass!("floats", |_, body| floats::rewrite(body)),
    // `x[i]` of a view becomes a load or a store.
    Pass { name: "indices", rewrite: indexing::rewrite },
    // Statics in shared memory become arrays of the block, accessed like views.
    Pass { name: "shared", rewrite: |_, body| shared::rewrite(body) },
];

/// Passes for the GPU only, after [`SHARED`], in a kernel.
const GPU_KERNEL: &[Pass] = &[
    // Items declare the shared arrays of a kernel, which is not generic in the PTX.
    pass!("gpu-arrays", |_, body| shared::mark_arrays(body)),
];

/// Passes for the GPU only, after [`GPU_KERNEL`].
const GPU: &[Pass] = &[
    // Assertions print and trap; the simulator keeps core's, whose panics it reports.
    pass!("gpu-assertions", |_, body| {
        asserts::rewrite(body);
        assembly::replace_fences(body)
    }),
];

/// Passes for the simulator only, after [`SHARED`], in a kernel.
const SIMULATED_KERNEL: &[Pass] = &[
    // Parts of dynamic shared memory get the names of their variables.
    pass!("host-parts", |_, body| shared::DynamicParts::default().visit_block_mut(body)),
];

/// Passes for the simulator only, after [`SIMULATED_KERNEL`]. The pass for accesses follows the pass for call paths and
/// leaves the wrapped calls unchanged. It precedes the pass for branches, because it does not recognise the conditions
/// that the pass for branches has changed.
const SIMULATOR: &[Pass] = &[
    // Exchanges whose results the source does not use are marked.
    pass!("host-unused", |_, body| unused::tell(body)),
    // Steps are recorded for calls and loops that may contain a barrier.
    pass!("host-paths", |_, body| call_path::tell(body)),
    // Accesses through pointers and slices are reported.
    pass!("host-accesses", |signature, body| accesses::observe(signature, body)),
    // Shared arrays get their names, conditions report their values, and loops count their iterations.
    pass!("host-branches", |signature, body| {
        body::annotate(body);
        loops::count(signature, body);
        assembly::refuse_ptx(body)
    }),
];

/// Applies `passes` to `body`. `first` is the number of the first pass in the file names of the results.
fn run(passes: &[Pass], first: usize, signature: &Signature, body: &mut Block) -> syn::Result<()> {
    for (number, pass) in (first..).zip(passes) {
        (pass.rewrite)(signature, body)?;
        write(number, pass.name, signature, body);
    }
    Ok(())
}

/// Rewrites the `body` of a function with this signature for the GPU and the simulator.
pub fn for_both(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    write(0, "source", signature, body);
    run(SHARED, 1, signature, body)
}

/// Rewrites a kernel's body for the GPU, after [`for_both`].
pub fn for_kernel_on_gpu(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(GPU_KERNEL, SHARED.len() + 1, signature, body)?;
    for_gpu(signature, body)
}

/// Rewrites a device function's body for the GPU, after [`for_both`].
pub fn for_gpu(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(GPU, SHARED.len() + GPU_KERNEL.len() + 1, signature, body)
}

/// Rewrites a kernel's body for the simulator, after [`for_both`].
pub fn for_simulated_kernel(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(SIMULATED_KERNEL, SHARED.len() + 1, signature, body)?;
    for_simulator(signature, body)
}

/// Rewrites a device function's body for the simulator, after [`for_both`].
pub fn for_simulator(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(SIMULATOR, SHARED.len() + SIMULATED_KERNEL.len() + 1, signature, body)
}

#[cfg(test)]
mod tests;
