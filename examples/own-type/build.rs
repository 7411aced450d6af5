//! Compiles `kernels/` to PTX, which the program embeds by `launch::include_ptx!("own_type_kernels")`.

fn main() -> std::process::ExitCode {
    let sizes = std::env::var_os("CARGO_FEATURE_SIZES").map(|_| "sizes");
    cuda_builder::CudaBuilder::new("kernels").features(sizes).embed()
}
