//! Compresses the checked-in PTX of kernel modules, for the build scripts of the crates that embed it.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Writes the PTX of `modules` for each architecture to `OUT_DIR`, compressed by DEFLATE.
///
/// # Errors
/// When a file cannot be read or written, or `OUT_DIR` is not set because no build script is running.
pub fn compress(modules: &[&str]) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gpu/ptx");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    for module in modules {
        for arch in ["sm_70", "sm_90"] {
            let name = format!("{module}.{arch}.ptx");
            let path = folder.join(&name);
            println!("cargo::rerun-if-changed={}", path.display());
            let mut encoder = DeflateEncoder::new(fs::File::create(out.join(&name))?, Compression::best());
            io::copy(&mut fs::File::open(&path)?, &mut encoder)?;
            encoder.finish()?;
        }
    }
    Ok(())
}
