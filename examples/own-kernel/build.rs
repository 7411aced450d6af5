//! Compiles `kernels/` to PTX, which the program contains. A stock `rustc` does it if it has the sources of `core`.

use std::{env, error::Error, fs, path::PathBuf};

use cuda_builder::{BuildError, CudaBuilder};

fn main() -> Result<(), Box<dyn Error>> {
    let file = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("kernels.ptx");
    match CudaBuilder::new("kernels").copy_to(&file).build() {
        Ok(_) => Ok(()),
        Err(error @ BuildError::NoToolchain(_)) => {
            // Not a failure: the simulator needs no PTX. A file that is not there makes cargo look again next time.
            println!("cargo::rerun-if-changed=kernels.ptx");
            println!("cargo::warning=no PTX is built, so only the simulator will run the kernel:");
            error.to_string().lines().for_each(|line| println!("cargo::warning={line}"));
            Ok(fs::write(file, "")?)
        }
        Err(error) => Err(error.into()),
    }
}
