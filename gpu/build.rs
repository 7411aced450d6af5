//! Tells the build scripts of the crates that embed the kernels' PTX and sources where these are, in the variable
//! `DEP_GRIDSTRIDE_GPU_FOLDER`.

fn main() -> Result<(), std::env::VarError> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=folder={}", std::env::var("CARGO_MANIFEST_DIR")?);
    Ok(())
}
