//! Compiles `kernels/` to PTX, for `launch::include_ptx!("sample_kernels")`. A `rustc` that has the sources of `core`
//! does it.

fn main() -> std::process::ExitCode {
    cuda_builder::CudaBuilder::new("kernels").embed()
}
