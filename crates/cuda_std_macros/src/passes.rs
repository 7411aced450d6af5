//! The passes that rewrite the body of a kernel or a device function, in their order.
//!
//! A kernel's named lifetimes are elided before. The GPU's entry and the simulator's function both begin with
//! [`SHARED`]. The entry goes on with [`GPU`], the function with [`SIMULATED_KERNEL`] and [`SIMULATOR`]. If the
//! environment variable [`EXPAND`] names a folder, the body after each pass is written there.

mod written;

use syn::visit_mut::VisitMut;
use syn::{Block, Signature};

use crate::kernel::{asserts, floats, shared};
use crate::{accesses, body, call_path, unused};
use written::write;

/// The environment variable that names the folder of the files.
const EXPAND: &str = "CUDA_STD_EXPAND";

/// A pass: its name in a file's name, and what it does to a body.
struct Pass {
    name: &'static str,
    rewrite: fn(&Signature, &mut Block) -> syn::Result<()>,
}

/// A pass of an expression that returns nothing.
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

/// For the GPU and the simulator.
const SHARED: &[Pass] = &[
    // `print!` and `println!` become this crate's.
    pass!("prints", |_, body| asserts::rewrite_prints(body)),
    // `x.exp()` becomes a call of `GpuFloat`, so that both compute the same bits.
    pass!("floats", |_, body| floats::rewrite(body)),
    // Statics in shared memory become arrays of the block, and accesses to them those of views.
    Pass { name: "shared", rewrite: |_, body| shared::rewrite(body) },
];

/// For the GPU alone, after [`SHARED`].
const GPU: &[Pass] = &[
    // Assertions print and trap; the simulator keeps core's, whose panics it reports.
    pass!("gpu-assertions", |_, body| asserts::rewrite(body)),
];

/// For the simulator alone, after [`SHARED`], in a kernel.
const SIMULATED_KERNEL: &[Pass] = &[
    // Parts of dynamic shared memory get the names of their variables.
    pass!("host-parts", |_, body| shared::DynamicParts::default().visit_block_mut(body)),
];

/// For the simulator alone, after these. The accesses come after the call paths, whose calls they leave as they are,
/// and before the branches, whose conditions they still recognise by their form.
const SIMULATOR: &[Pass] = &[
    // Results that the source does not use are marked as unused.
    pass!("host-unused", |_, body| unused::tell(body)),
    // Calls and loops that may have a barrier in them are noted.
    pass!("host-paths", |_, body| call_path::tell(body)),
    // Accesses by pointers and slices are reported.
    pass!("host-accesses", |signature, body| accesses::observe(signature, body)),
    // Shared arrays get their names, and conditions report which way they go.
    pass!("host-branches", |_, body| body::annotate(body)),
];

/// Runs `passes`, of which the first has the number `first`.
fn run(passes: &[Pass], first: usize, signature: &Signature, body: &mut Block) -> syn::Result<()> {
    for (number, pass) in (first..).zip(passes) {
        (pass.rewrite)(signature, body)?;
        write(number, pass.name, signature, body);
    }
    Ok(())
}

/// Rewrites `body`, of a function of that signature, for the GPU and the simulator.
pub fn for_both(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    write(0, "source", signature, body);
    run(SHARED, 1, signature, body)
}

/// Rewrites a body that [`for_both`] has rewritten for the GPU.
pub fn for_gpu(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(GPU, SHARED.len() + 1, signature, body)
}

/// Rewrites a kernel's body that [`for_both`] has rewritten, for the simulator.
pub fn for_simulated_kernel(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(SIMULATED_KERNEL, SHARED.len() + 1, signature, body)?;
    for_simulator(signature, body)
}

/// Rewrites a device function's body that [`for_both`] has rewritten, for the simulator.
pub fn for_simulator(signature: &Signature, body: &mut Block) -> syn::Result<()> {
    run(SIMULATOR, SHARED.len() + SIMULATED_KERNEL.len() + 1, signature, body)
}

#[cfg(test)]
mod tests;
