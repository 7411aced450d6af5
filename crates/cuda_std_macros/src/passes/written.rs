//! Writes the body after each pass to a file.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use quote::quote;
use syn::{Block, Signature};

use super::EXPAND;

/// Writes the function to `CRATE.FUNCTION.NUMBER-PASS.rs` in the folder that [`EXPAND`] names. Does nothing if the
/// variable is not set.
///
/// An error is printed to stderr and does not stop the build.
pub fn write(number: usize, pass: &str, signature: &Signature, body: &Block) {
    let Some(folder) = env::var_os(EXPAND).filter(|folder| !folder.is_empty()).map(PathBuf::from) else { return };
    let name = env::var("CARGO_CRATE_NAME").unwrap_or_else(|_| "crate".to_owned());
    let path = folder.join(format!("{name}.{}.{number}-{pass}.rs", signature.ident));
    if let Err(error) = write_to(&folder, &path, quote!(#signature #body).to_string()) {
        eprintln!("{EXPAND}: cannot write {}: {error}", path.display());
    }
}

fn write_to(folder: &Path, path: &Path, text: String) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(path, text + "\n")
}
