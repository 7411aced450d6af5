//! Compares the list of driver functions with the declarations of the `cust_raw` version that the workspace locks.

use std::{env, fs, process::Command};

#[test]
fn every_function_that_cust_raw_declares_is_defined() {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--format-version",
            "1",
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = String::from_utf8(output.stdout).expect("cargo's metadata is UTF-8");
    let manifest = metadata
        .split('"')
        .find(|text| text.contains("/cust_raw-0.11.") && text.ends_with("/Cargo.toml"))
        .expect("cust_raw 0.11 is in the workspace's dependencies");
    let bindings = fs::read_to_string(manifest.replace("Cargo.toml", "src/cuda.rs")).expect("cust_raw's source");

    let declared: Vec<&str> = bindings
        .split("pub fn ")
        .skip(1)
        .filter_map(|text| text.split('(').next())
        .filter(|name| name.starts_with("cu"))
        .collect();
    assert_eq!(declared, cuda_driver::SYMBOLS);
    for name in cuda_driver::REQUIRED {
        assert!(declared.contains(name), "{name} is required but not defined");
    }
}
