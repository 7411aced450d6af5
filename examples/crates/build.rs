//! Compiles `kernels/` to PTX, which the program embeds by `launch::include_ptx!("crates_kernels")`.

fn main() -> std::process::ExitCode {
    cuda_builder::CudaBuilder::new("kernels").embed()
}
