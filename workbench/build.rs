//! Compresses the PTX that the crate embeds. Also embeds the kernels' sources, whose lines `host explain` shows.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    ptx_embed::compress(&["probe"])?;
    let gpu = ptx_embed::gpu()?;
    println!("cargo::rustc-env=GPU_RESOURCES={}", gpu.join("ptx/resources.tsv").display());
    let folder = gpu.join("src");
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
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("kernel_sources.rs"), list)
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
