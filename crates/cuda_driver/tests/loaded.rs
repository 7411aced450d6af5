//! Tests `load` with a library that this test builds in place of NVIDIA's. Each case runs in a separate process.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use cuda_driver::{LoadError, REQUIRED};

#[cfg(feature = "symbols")]
unsafe extern "C" {
    fn cuInit(flags: u32) -> i32;
    fn cuDeviceGetCount(count: *mut i32) -> i32;
    fn cuCtxSetLimit(limit: i32, value: usize) -> i32;
    fn cuLaunchKernel(
        a: usize,
        b: u32,
        c: u32,
        d: u32,
        e: u32,
        f: u32,
        g: u32,
        h: u32,
        i: usize,
        j: usize,
        k: usize,
    ) -> i32;
}

/// Returns the source of a driver with all required functions except `without`. Most of these functions return 0.
fn driver_source(without: &str) -> String {
    let mut source = String::from(
        r#"
        #[unsafe(no_mangle)] pub extern "C" fn cuInit(flags: u32) -> i32 { 40 + flags as i32 }
        #[unsafe(no_mangle)] pub unsafe extern "C" fn cuDeviceGetCount(count: *mut i32) -> i32 { unsafe { *count = 5 }; 0 }
        #[unsafe(no_mangle)] pub extern "C" fn cuLaunchKernel(
            a: usize, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32, i: usize, j: usize, k: usize,
        ) -> i32 {
            let all = [a, b as usize, c as usize, d as usize, e as usize, f as usize, g as usize, h as usize, i, j, k];
            all.iter().enumerate().map(|(place, value)| (place + 1) * value).sum::<usize>() as i32
        }
        "#,
    );
    for name in REQUIRED {
        if *name != without && !source.contains(&format!("fn {name}(")) {
            source += &format!("#[unsafe(no_mangle)] pub extern \"C\" fn {name}() -> i32 {{ 0 }}\n");
        }
    }
    source
}

/// Runs `check` in a child process. In this process, `libcuda.so.1` is the file that `library` writes. The child runs
/// this test program again with only the test `case`, which must be the calling test.
fn with_library(case: &str, library: impl FnOnce(PathBuf), check: impl FnOnce()) {
    const VARIABLE: &str = "CUDA_DRIVER_TEST_CASE";
    if env::var_os(VARIABLE).is_some() {
        return check();
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(case);
    fs::create_dir_all(&folder).expect("a folder for the library");
    library(folder.join("libcuda.so.1"));
    let output = Command::new(env::current_exe().expect("this program has a path"))
        .args(["--exact", case])
        .env("LD_LIBRARY_PATH", &folder)
        .env(VARIABLE, case)
        .output()
        .expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

fn compile(source: &str, library: PathBuf) {
    let file = library.with_file_name("driver.rs");
    fs::write(&file, source).expect("the source can be written");
    let status = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "driver", "-A", "non_snake_case", "-o"])
        .args([&library, &file])
        .status()
        .expect("rustc runs");
    assert!(status.success());
}

/// Checks the functions that other crates link with, after no driver was loaded.
fn no_function_is_initialized() {
    #[cfg(feature = "symbols")]
    // SAFETY: no driver is loaded.
    assert_eq!(unsafe { cuInit(0) }, 3);
}

#[test]
fn functions_are_found_by_name() {
    let library = |library| compile(&driver_source(""), library);
    with_library("functions_are_found_by_name", library, || {
        let driver = cuda_driver::load().expect("the library has all required functions");
        assert_eq!(driver.file(), cuda_driver::LIBRARY);
        assert!(std::ptr::eq(driver, cuda_driver::load().expect("the same driver")), "loaded twice");
        assert_eq!(driver.function("cuCtxSetLimit"), None);
        let init = driver.function("cuInit").expect("a function of the library");
        // SAFETY: the function of `driver_source` has this type.
        let init: extern "C" fn(u32) -> i32 = unsafe { std::mem::transmute(init) };
        assert_eq!(init(2), 42);
    });
}

#[cfg(feature = "symbols")]
#[test]
fn calls_reach_the_driver() {
    let library = |library| compile(&driver_source(""), library);
    with_library("calls_reach_the_driver", library, || {
        // SAFETY: no driver is loaded yet.
        assert_eq!(unsafe { cuInit(2) }, 3);
        let driver = cuda_driver::load().expect("the library has all required functions");
        assert_eq!(driver.file(), "libcuda.so.1");
        assert!(std::ptr::eq(driver, cuda_driver::load().expect("the same driver")), "loaded twice");
        let mut count = 0;
        // SAFETY: `driver_source` defines these functions with these arguments.
        unsafe {
            assert_eq!(cuInit(2), 42);
            assert_eq!(cuDeviceGetCount(&mut count), 0);
            // On x86-64, six arguments are passed in registers and the others on the stack.
            let sum = (1..=11).map(|place| place * place).sum::<i32>();
            assert_eq!(cuLaunchKernel(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), sum);
            assert_eq!(cuCtxSetLimit(0, 0), 801, "cuCtxSetLimit of a driver without it");
        }
        assert_eq!(count, 5);
        assert!(driver.missing().contains(&"cuCtxSetLimit"));
        assert_eq!(driver.missing().len() + REQUIRED.len(), cuda_driver::SYMBOLS.len());
    });
}

#[test]
fn an_old_driver_is_refused() {
    let library = |library| compile(&driver_source("cuDevicePrimaryCtxRelease_v2"), library);
    with_library("an_old_driver_is_refused", library, || {
        let error = cuda_driver::load().expect_err("a function is missing");
        assert_eq!(error, LoadError::TooOld { missing: "cuDevicePrimaryCtxRelease_v2" });
        assert!(error.to_string().contains("too old: cuDevicePrimaryCtxRelease_v2 missing"), "{error}");
        no_function_is_initialized();
    });
}

#[test]
fn a_broken_library_differs_from_a_missing_one() {
    let library = |library: PathBuf| fs::write(library, "no library").expect("it can be written");
    with_library("a_broken_library_differs_from_a_missing_one", library, || {
        match cuda_driver::load() {
            Err(LoadError::Unloadable { reason }) => assert!(reason.contains("libcuda.so.1"), "{reason}"),
            other => panic!("{other:?}"),
        }
        no_function_is_initialized();
    });
}
