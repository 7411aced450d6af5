//! Compresses the PTX that the crate embeds. Also embeds the kernels' sources, whose lines `host explain` shows.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    ptx_embed::compress(&["probe"])?;
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../gpu/src").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    files.sort();
    let mut list = String::from("[\n");
    for file in files {
        let parts = file.strip_prefix(&folder).map_err(io::Error::other)?.components();
        let name = parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        let _ = writeln!(list, "    ({:?}, include_str!({:?})),", format!("gpu/src/{name}"), file);
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("kernel_sources.rs"), list)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}

/// Adds the Rust files in `folder` and in all folders below it to `files`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
