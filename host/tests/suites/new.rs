//! `host new`: what it writes, and what it refuses. That the project builds and passes is what `.ci/run` finds out.

use std::fs;
use std::path::Path;

use crate::common::{Host, text};

const HOST: Host = Host(&["new"]);

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const TOP: [&str; 7] = [".cargo", ".gitignore", "Cargo.toml", "build.rs", "ci.sh", "kernels", "src"];

#[test]
fn a_project_is_made_and_the_next_steps_are_said() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("deep/mine");
    let output = HOST.run(&[folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for part in [&format!("cd {}", folder.display()), "cargo test", "cargo run", "kernels/src/lib.rs"] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(names(&folder), TOP);
    assert_eq!(names(folder.parent().unwrap()), ["mine"], "nothing is left over");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"mine\""), "{manifest}");
    // The crates are those of this checkout.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().canonicalize().unwrap();
    assert!(manifest.contains(&format!("launch = {{ path = \"{}/crates/launch\" }}", root.display())), "{manifest}");
    // Not the private folder of a temporary one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), mode(&folder.join("src")));
        assert_eq!(mode(&folder), mode(folder.parent().unwrap()));
    }
}

#[test]
fn an_empty_folder_is_filled() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("two words");
    fs::create_dir(&folder).unwrap();
    let output = HOST.run(&[folder.to_str().unwrap(), "--name", "mine", "--git", "https://host/gridstride"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(names(&folder), TOP);
    let manifest = fs::read_to_string(folder.join("kernels/Cargo.toml")).unwrap();
    assert!(manifest.contains("cuda_std = { git = \"https://host/gridstride\" }"), "{manifest}");
}

#[test]
fn nothing_is_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "mine").unwrap();
    HOST.assert_fails(&[scratch.path().to_str().unwrap()], 2, &["is not empty", "not there yet"]);
    HOST.assert_fails(&[file.to_str().unwrap()], 2, &["is a file", "not there yet"]);
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink("none", &link).unwrap();
    HOST.assert_fails(&[link.to_str().unwrap()], 2, &["is a link to a folder that is not there", "not there yet"]);
    assert_eq!(names(scratch.path()), ["file", "link"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn what_cannot_be_is_refused_with_the_remedy() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("kernels");
    let folder = folder.to_str().unwrap();
    HOST.assert_fails(&[], 2, &["DIR"]);
    HOST.assert_fails(&[folder], 2, &["'kernels'", "--name NAME"]);
    let no_checkout = scratch.path().to_str().unwrap();
    HOST.assert_fails(&[folder, "--name", "mine", "--path", no_checkout], 2, &["no checkout", "--git URL"]);
    HOST.assert_fails(&[folder, "--git", "u", "--path", "p"], 2, &["cannot be used with"]);
    assert!(names(scratch.path()).is_empty());
}
