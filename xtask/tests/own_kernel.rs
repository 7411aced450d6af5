//! Checks that the example projects use the workspace's versions of common dependencies, so that each is compiled only
//! once. Also checks that a new project is as short as the README says.

use std::collections::BTreeSet;
use std::fs;

use xtask::workspace::Workspace;

/// Returns the name and version of each package from a registry, read from the text of a `Cargo.lock`.
fn locked(text: &str) -> BTreeSet<(&str, &str)> {
    let packages = text.split("[[package]]").filter(|package| value(package, "source").is_some());
    packages.filter_map(|package| Some((value(package, "name")?, value(package, "version")?))).collect()
}

fn value<'a>(package: &'a str, key: &str) -> Option<&'a str> {
    let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
    Some(line.trim_matches('"'))
}

#[test]
fn all_projects_have_the_same_versions() {
    let root = Workspace::open().unwrap().root().to_owned();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap().replace("\r\n", "\n");
    let ours = read("Cargo.lock");
    let ours = locked(&ours);
    for project in ["own-kernel", "own-type"] {
        let other = read(&format!("examples/{project}/Cargo.lock"));
        let other = locked(&other);
        assert!(other.iter().all(|(name, _)| !name.starts_with("cust")), "it needs a CUDA toolkit to build: {other:?}");
        let strangers: Vec<_> = other.difference(&ours).collect();
        assert!(strangers.is_empty(), "copy Cargo.lock to examples/{project} and run cargo there: {strangers:?}");
    }
    let interop = read("examples/interop/Cargo.lock");
    let strangers: Vec<_> = locked(&interop).difference(&ours).map(|(name, _)| *name).collect();
    assert_eq!(strangers, ["cudarc"], "copy Cargo.lock to examples/interop and run cargo there");
}

#[test]
fn only_the_program_needs_cust() {
    let root = Workspace::open().unwrap().root().to_owned();
    let uses_cust = |package: &str, arguments: &[&str]| {
        let tree = xtask::workspace::cargo()
            .args(["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"])
            .args(["--package", package])
            .args(arguments)
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        String::from_utf8_lossy(&tree.stdout).lines().any(|line| line.starts_with("cust_raw "))
    };
    let users = ["host", "gridstride-launch", "gridstride", "gridstride-life", "gridstride-cuda-builder"]
        .map(|package| uses_cust(package, &[]));
    assert_eq!(users, [cfg!(target_os = "linux"), false, false, false, false]);
    assert!(!uses_cust("host", &["--no-default-features"]), "the program cannot be installed");
}

#[test]
fn it_has_as_many_lines_as_the_readme_says() {
    let root = Workspace::open().unwrap().root().to_owned();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let lines = |file: &str| read(&format!("examples/own-kernel/{file}")).lines().count();
    let (kernel, program) = (lines("kernels/src/lib.rs"), lines("src/main.rs"));
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let claim =
        format!("The kernel has {kernel} lines, the program with its test {program}, `build.rs` {}", lines("build.rs"));
    assert!(readme.contains(&claim), "{claim}");
}
