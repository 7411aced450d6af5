//! Compresses the checked-in PTX of kernel modules, for the build scripts of the crates that embed this PTX.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Returns the folder of the kernels' package, `gpu`, which has the PTX and the sources.
///
/// # Errors
/// If the caller is not the build script of a crate that depends on `gpu`.
pub fn gpu() -> io::Result<PathBuf> {
    let folder = env::var_os("DEP_GRIDSTRIDE_GPU_FOLDER").map(PathBuf::from);
    folder.ok_or_else(|| {
        io::Error::other("DEP_GRIDSTRIDE_GPU_FOLDER is not set: call this from a build script of a crate that uses gpu")
    })
}

/// Compresses the PTX of each module with DEFLATE into `OUT_DIR`, for every architecture that the module was built for.
/// Also writes `<module>.rs` to this folder: the list of the module's images, in the form that `launch::PtxModule`
/// takes.
///
/// # Errors
/// If a file cannot be read or written, a module has no PTX, or the caller is not the build script of a crate that
/// depends on `gpu`.
pub fn compress(modules: &[&str]) -> io::Result<()> {
    let gpu = gpu()?;
    let out = env::var_os("OUT_DIR")
        .map(PathBuf::from)
        .ok_or_else(|| io::Error::other("OUT_DIR is not set: call this from a build script"))?;
    // `gpu/Cargo.toml` lists the architectures of the PTX.
    println!("cargo::rerun-if-changed={}", gpu.join("Cargo.toml").display());
    for path in compress_into(&gpu.join("ptx"), modules, &out)? {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// Compresses the PTX of `modules` in `folder` into `out`, as [`compress`] does. Returns the files that it read.
fn compress_into(folder: &Path, modules: &[&str], out: &Path) -> io::Result<Vec<PathBuf>> {
    let mut read = Vec::new();
    for module in modules {
        let mut images = String::new();
        for ((arch, is_specific), path) in images_of(folder, module)? {
            let letter = if is_specific { "a" } else { "" };
            let name = format!("{module}.sm_{arch}{letter}.ptx");
            let mut encoder = DeflateEncoder::new(fs::File::create(out.join(&name))?, Compression::best());
            io::copy(&mut fs::File::open(&path)?, &mut encoder)?;
            encoder.finish()?;
            let specific = if is_specific { ".specific()" } else { "" };
            let _ = write!(images, "::launch::PtxImage::deflated({arch}, include_bytes!(\"{name}\")){specific}, ");
            read.push(path);
        }
        fs::write(out.join(format!("{module}.rs")), format!("&[{images}]"))?;
    }
    Ok(read)
}

/// Returns the architectures that a module was built for, sorted, each with its PTX file: the number, and true if the
/// PTX is specific to this architecture, as that for `sm_90a` is.
fn images_of(folder: &Path, module: &str) -> io::Result<Vec<((u32, bool), PathBuf)>> {
    let mut images = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let arch = name.strip_prefix(module).and_then(|rest| rest.strip_prefix(".sm_")?.strip_suffix(".ptx"));
        let number = arch.map(|arch| arch.strip_suffix('a').unwrap_or(arch));
        if let (Some(arch), Some(number)) = (arch, number.and_then(|number| number.parse().ok())) {
            images.push(((number, arch.ends_with('a')), path));
        }
    }
    images.sort();
    if images.is_empty() {
        let message = format!("{} has no PTX of `{module}`: run `cargo xtask build-ptx {module}`", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_the_images_that_were_built() {
        let folder = tempfile::tempdir().unwrap();
        let [ptx, out] = ["ptx", "out"].map(|name| folder.path().join(name));
        for folder in [&ptx, &out] {
            fs::create_dir(folder).unwrap();
        }
        for name in [
            "life.sm_90.ptx",
            "life.sm_90a.ptx",
            "life.sm_70.ptx",
            "life_cpu.sm_70.ptx",
            "scale.sm_70.ptx",
            "resources.tsv",
        ] {
            fs::write(ptx.join(name), name).unwrap();
        }
        let read = compress_into(&ptx, &["life", "scale"], &out).unwrap();
        let expected =
            ["life.sm_70.ptx", "life.sm_90.ptx", "life.sm_90a.ptx", "scale.sm_70.ptx"].map(|name| ptx.join(name));
        assert_eq!(read, expected);
        let of = |module: &str| fs::read_to_string(out.join(format!("{module}.rs"))).unwrap();
        let image =
            |arch: u32, file: &str| format!("::launch::PtxImage::deflated({arch}, include_bytes!(\"{file}\")), ");
        assert_eq!(of("scale"), format!("&[{}]", image(70, "scale.sm_70.ptx")));
        let specific = image(90, "life.sm_90a.ptx").replace(")), ", ")).specific(), ");
        let [oldest, newer] = [image(70, "life.sm_70.ptx"), image(90, "life.sm_90.ptx")];
        assert_eq!(of("life"), format!("&[{oldest}{newer}{specific}]"));
        let error = compress_into(&ptx, &["sort"], &out).unwrap_err();
        assert!(error.to_string().contains("`cargo xtask build-ptx sort`"), "{error}");
    }
}
