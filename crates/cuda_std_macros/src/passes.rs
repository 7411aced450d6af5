//! The passes that rewrite the body of a kernel or a device function, in their order.
//!
//! A kernel's named lifetimes are elided first. The GPU's entry and the simulator's function both begin with
//! [`SHARED`]. Then the entry continues with [`GPU`], and the function with [`SIMULATED_KERNEL`] and [`SIMULATOR`]. If
//! the environment variable [`EXPAND`] names a folder, the body after each pass is written there.

mod written;

use syn::visit_mut::VisitMut;
use syn::{Block, Signature};

use crate::kernel::{asserts, floats, shared};
use crate::{accesses, body, call_path, unused};
use written::write;

/// The environment variable with the folder for the files.
const EXPAND: &str = "CUDA_STD_EXPAND";

/// A pass, with the name for its file.
struct Pass {
    name: &'static str,
    rewrite: fn(&Signature, &mut Block) -> syn::Result<()>,
}

/// A pass that returns no error.
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
    // `print!` and `println!` become this crate's.
    pass!("prints", |_, body| asserts::rewrite_prints(body)),
    // `x.exp()` becomes a call of `GpuFloat`, so that both compute the same bits.
    pass!("floats", |_, body| floats::rewrite(body)),
    // Statics in shared memory become arrays of the block, accessed like views.
    Pass { name: "shared", rewrite: |_, body| shared::rewrite(body) },
];

/// Passes for the GPU only, after [`SHARED`].
const GPU: &[Pass] = &[
    // Assertions print and trap; the simulator keeps core's, whose panics it reports.
    pass!("gpu-assertions", |_, body| asserts::rewrite(body)),
];

/// Passes for the simulator only, after [`SHARED`], in a kernel.
const SIMULATED_KERNEL: &[Pass] = &[
    // Parts of dynamic shared memory get the names of their variables.
    pass!("host-parts", |_, body| shared::DynamicParts::default().visit_block_mut(body)),
];

/// Passes for the simulator only, after these. The accesses follow the call paths, whose calls they leave unchanged.
/// They precede the branches, because they recognise conditions by their form.
const SIMULATOR: &[Pass] = &[
    // Exchanges whose results the source does not use are marked.
    pass!("host-unused", |_, body| unused::tell(body)),
    // Steps are recorded for calls and loops that may contain a barrier.
    pass!("host-paths", |_, body| call_path::tell(body)),
    // Accesses through pointers and slices are reported.
    pass!("host-accesses", |signature, body| accesses::observe(signature, body)),
    // Shared arrays get their names, and conditions report their values.
    pass!("host-branches", |_, body| body::annotate(body)),
];

/// Runs `passes`; `first` is the number of the first one.
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

/// Rewrites a body for the GPU, after [`for_both`].
pub fn for_gpu(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(GPU, SHARED.len() + 1, signature, body)
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
