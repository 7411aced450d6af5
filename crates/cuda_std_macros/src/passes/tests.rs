//! Tests of the files that contain the body after each pass.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use quote::quote;

/// The environment variable that makes the test program expand a kernel, in a child process.
const ROLE: &str = "GRIDSTRIDE_TEST_ROLE";

#[test]
fn a_kernel_is_expanded() {
    if std::env::var_os(ROLE).is_some() {
        let kernel = quote! {
            fn scale(a: f32, x: &[f32], y: GlobalMut<f32>) {
                assert!(y.len() > 0);
                if x[0] > 0.0 {
                    y.store(0, a.exp());
                }
            }
        };
        crate::kernel::expand(quote!(), kernel).unwrap();
        let function = quote!(
            fn twice(x: f32) -> f32 {
                x.exp2()
            }
        );
        crate::device::expand(quote!(), function).unwrap();
    }
}

#[test]
fn a_folder_has_a_file_for_each_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/expanded");
    let _ = std::fs::remove_dir_all(&folder);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "passes::tests::a_kernel_is_expanded"]).env(ROLE, "1").env(super::EXPAND, &folder);
    assert!(command.env("CARGO_CRATE_NAME", "own").output().unwrap().status.success());
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let texts: BTreeMap<String, String> = files.map(|path| (name(&path), text(&path))).collect();
    let of = |function: &str| -> Vec<&str> {
        let start = format!("own.{function}.");
        texts.keys().filter_map(|name| name.strip_prefix(&*start)).collect()
    };
    let passes = [
        "0-source.rs",
        "1-prints.rs",
        "2-floats.rs",
        "3-indices.rs",
        "4-shared.rs",
        "5-gpu-arrays.rs",
        "5-host-parts.rs",
        "6-gpu-assertions.rs",
        "6-host-unused.rs",
        "7-host-paths.rs",
        "8-host-accesses.rs",
        "9-host-branches.rs",
    ];
    assert_eq!(of("scale"), passes);
    assert_eq!(of("twice"), passes.into_iter().filter(|pass| !pass.starts_with('5')).collect::<Vec<_>>());
    let has = |pass: &str, part: &str| texts[&format!("own.scale.{pass}.rs")].contains(part);
    assert!(has("0-source", "a . exp ()") && !has("2-floats", "(a . exp ())") && has("2-floats", "FloatVariable"));
    assert!(has("6-gpu-assertions", "cuda_std :: assert") && !has("9-host-branches", "cuda_std :: assert"));
    assert!(!has("7-host-paths", "observed :: At") && has("8-host-accesses", "observed :: At"));
    assert!(!has("8-host-accesses", "branch (") && has("9-host-branches", "branch ("));
}
