//! The compiler's messages for kernels that do not compile: each is at the line with the mistake and says what to do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Returns the newest compiled `cuda_std` in the folder of the test program.
fn library(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libcuda_std-") && name.ends_with(".rlib")
    };
    let libraries = files.filter(is_library);
    let newest = libraries.max_by_key(|path| fs::metadata(path).and_then(|data| data.modified()).ok());
    newest.unwrap_or_else(|| panic!("no libcuda_std in {}", folder.display()))
}

/// Compiles `source`, a library crate in which the mistake's line ends with `//~`. Checks that the compiler's first
/// error is at that line and that its messages contain `expected`.
fn check(name: &str, source: &str, expected: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("messages");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}.rs"));
    fs::write(&file, source).unwrap();
    let program = env::current_exe().unwrap();
    let deps = program.parent().unwrap();
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"]);
    rustc.arg(&folder).arg(&file).arg("-L").arg(format!("dependency={}", deps.display()));
    rustc.arg("--extern").arg(format!("cuda_std={}", library(deps).display()));
    let output = rustc.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{name} compiles");
    let line = source.lines().position(|line| line.ends_with("//~")).unwrap() + 1;
    let at = format!("{name}.rs:{line}:");
    let first = text.lines().find(|line| line.trim_start().starts_with("-->")).unwrap_or_default();
    assert!(first.contains(&at), "{name}: not at line {line}:\n{text}");
    assert!(text.contains(expected), "{name}: `{expected}` is not in\n{text}");
}

/// Declares a test for each mistake.
macro_rules! mistakes {
    ($($name:ident $expected:literal $source:literal)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), concat!("use cuda_std::prelude::*;\n", $source), $expected);
        }
    )*};
}

mistakes! {
    the_type_of_an_assigned_value "expected `f32`, found `usize`" "
        #[kernel]
        pub unsafe fn k(y: *mut f32) {
            let i = thread::index_1d();
            *y.add(i) = i; //~
        }
    "
    the_type_of_an_added_value "cannot add-assign `usize` to `f32`" "
        #[kernel]
        pub unsafe fn k(y: *mut f32) {
            let i = thread::index_1d();
            *y.add(i + 1) += i; //~
        }
    "
    the_type_of_an_element_s_value "expected `f32`, found `usize`" "
        #[kernel]
        pub unsafe fn k(y: &mut [f32]) {
            let i = thread::index_1d();
            y[i * 2] = i + 1; //~
        }
    "
    the_type_of_a_copied_value "mismatched types" "
        #[kernel]
        pub unsafe fn k(y: *mut f32, x: *const u32) {
            let i = thread::index_1d();
            y.add(i).write(*x.add(i)); //~
        }
    "
    the_type_of_a_view_s_value "expected `f32`, found `u32`" "
        #[kernel]
        pub fn k(y: GlobalMut<f32>, n: u32) {
            y[n] = n; //~
        }
    "
    the_type_of_an_index "`f32` is no index of an element" "
        #[kernel]
        pub fn k(y: GlobalMut<f32>) {
            y[1.5_f32] = 1.0; //~
        }
    "
    the_type_of_a_slice_s_index "the type `[f32]` cannot be indexed by `u32`" "
        #[kernel]
        pub unsafe fn k(y: &mut [f32], n: u32) {
            y[n] = 1.0; //~
        }
    "
    the_type_of_a_condition "expected `bool`, found `u32`" "
        #[kernel]
        pub fn k(y: GlobalMut<f32>, n: u32) {
            if n { //~
                y.store(0, 1.0);
            }
        }
    "
    the_type_of_a_compared_value "expected `f32`, found `u32`" "
        #[kernel]
        pub unsafe fn k(y: *mut f32, n: u32) {
            if *y.add(1) == n { //~
                *y = 1.0;
            }
        }
    "
    the_type_of_an_argument "mismatched types" "
        fn twice(x: f32) -> f32 {
            x * 2.0
        }

        #[kernel]
        pub unsafe fn k(y: *mut f32, n: *const u32) {
            *y = twice(*n.add(1)); //~
        }
    "
    a_missing_method "no method named `frobnicate`" "
        #[kernel]
        pub unsafe fn k(y: *mut f32) {
            *y = y.read().frobnicate(); //~
        }
    "
    a_kernel_in_an_impl "a kernel cannot be in an `impl` or a trait" "
        struct Scene;

        impl Scene {
            #[kernel]
            pub fn k(y: GlobalMut<f32>) { //~
                y.store(0, 1.0);
            }
        }
    "
    a_string_as_a_parameter "take its bytes" "
        #[kernel]
        pub fn k(name: &str) {} //~
    "
    ptx_on_the_host "the simulator cannot run PTX" "
        #[kernel]
        pub fn k(y: GlobalMut<u32>) {
            let x: u32;
            unsafe { core::arch::asm!(\"mov.u32 {}, %laneid;\", out(reg32) x) }; //~
            y.store(0, x);
        }
    "
    more_parameters_than_a_launch_has "at most 4096 bytes" "
        #[kernel]
        pub fn k(x: [[f32; 32]; 32], n: u32) {} //~
    "
    more_parameters_than_an_instance_may_have "at most 4096 bytes" "
        #[kernel(instances(T = [f32, f64]))]
        pub fn k<T: DeviceCopy>(x: [[T; 32]; 16], n: u32) {} //~
    "
    a_name_that_ptx_does_not_have "ASCII" "
        #[kernel]
        pub fn größe(y: GlobalMut<f32>) {} //~
    "
    a_kernel_that_calls_a_kernel "a kernel cannot launch another kernel" "
        #[kernel]
        pub fn first(y: GlobalMut<f32>) {
            y.store(0, 1.0);
        }

        #[kernel]
        #[deny(unused_must_use)]
        pub fn second(y: GlobalMut<f32>) {
            first(y); //~
        }
    "
    a_reference_to_an_element "copy it" "
        #[kernel]
        pub fn k(y: GlobalMut<f32>) {
            let r = &mut y[0]; //~
            *r = 1.0;
        }
    "
}
