//! Tells the linker where to find an empty `libcuda.a`, because crates that link with the driver pass `-lcuda`.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "symbols")]
    cuda_stub::announce_archive()?;
    Ok(())
}
