//! Compiles `kernels/` to PTX, for `launch::include_ptx!("sample_kernels")`, by a `rustc` with the sources of `core`.

fn main() -> std::process::ExitCode {
    cuda_builder::CudaBuilder::new("kernels").embed()
}
