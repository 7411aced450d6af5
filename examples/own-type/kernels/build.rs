//! Makes `cargo` compile this crate again if another project of the same name shares the target folder.

fn main() -> Result<(), std::env::VarError> {
    let folder = std::env::var("CARGO_MANIFEST_DIR")?;
    println!("cargo::rerun-if-changed={folder}/src");
    Ok(())
}
