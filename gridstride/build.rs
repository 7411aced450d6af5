//! Compresses the PTX of the kernels, which the library embeds.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/ptx");
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    println!("cargo::rerun-if-changed={}", folder.display());
    for file in fs::read_dir(&folder)? {
        let path = file?.path();
        if let (Some(name), Some("ptx")) = (path.file_name(), path.extension().and_then(|extension| extension.to_str()))
        {
            let mut encoder = DeflateEncoder::new(fs::File::create(Path::new(&out).join(name))?, Compression::best());
            std::io::copy(&mut fs::File::open(&path)?, &mut encoder)?;
            encoder.finish()?;
        }
    }
    Ok(())
}
