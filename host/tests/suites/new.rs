//! Tests the files that `host new` writes, and its errors. `.ci/run` builds and tests the project.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use crate::common::{Host, text};

const HOST: Host = Host(&["new"]);

/// Returns the names of the files and folders in a folder, sorted.
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
    for part in
        [&format!("cd {}", folder.display()), "cargo test", "cargo run", "cargo run -- explain", "kernels/src/lib.rs"]
    {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(names(&folder), TOP);
    assert_eq!(names(folder.parent().unwrap()), ["mine"], "nothing is left over");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"mine\""), "{manifest}");
    // The project depends on the crates of this checkout.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().canonicalize().unwrap();
    let source = format!("launch = {{ package = \"gridstride-launch\", path = \"{}/crates/launch\" }}", root.display());
    assert!(manifest.contains(&source), "{manifest}");
    // The folder does not have the private mode of a temporary one.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), mode(&folder.join("src")));
        assert_eq!(mode(&folder), mode(folder.parent().unwrap()));
    }
}

#[test]
fn what_a_killed_run_left_behind_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".gridstride-aB3dEf.draft"), "").unwrap();
    fs::create_dir_all(folder.path().join(".gridstride-aB3dEf.folder/project/src")).unwrap();
    let output = HOST.run(&[folder.path().to_str().unwrap(), "--name", "mine"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(names(folder.path()), TOP);
}

/// Tests two projects of the same name in one target folder. `cargo` must not run the binary of the older project for
/// the newer one. Plain functions stand in for kernels.
#[test]
fn projects_of_one_name_run_their_own_kernels() {
    let scratch = tempfile::tempdir().unwrap();
    let projects = ["x/mine", "y/mine"].map(|path| scratch.path().join(path));
    for (folder, number) in projects.iter().zip(1..) {
        let output = HOST.run(&[folder.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let without_dependencies = |file: &str, but: &str| {
            let manifest = fs::read_to_string(folder.join(file)).unwrap();
            let lines = manifest.lines().filter(|line| !line.contains(" = {") || line.contains(but));
            fs::write(folder.join(file), lines.collect::<Vec<_>>().join("\n")).unwrap();
        };
        without_dependencies("Cargo.toml", "mine-kernels");
        without_dependencies("kernels/Cargo.toml", "nothing");
        fs::remove_file(folder.join("build.rs")).unwrap();
        let kernel = folder.join("kernels/src/lib.rs");
        fs::write(&kernel, format!("pub fn number() -> u32 {{ {number} }}")).unwrap();
        fs::File::options().append(true).open(&kernel).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        fs::write(folder.join("src/main.rs"), "fn main() { println!(\"{}\", mine_kernels::number()) }").unwrap();
    }
    for (folder, number) in [(&projects[0], "1\n"), (&projects[1], "2\n"), (&projects[0], "1\n")] {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--offline"]).current_dir(folder);
        let output = cargo.env("CARGO_TARGET_DIR", scratch.path().join("target")).output().unwrap();
        assert_eq!(text(&output.stdout), number, "{}", text(&output.stderr));
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
    assert!(manifest.contains("package = \"gridstride-cuda-std\", git = \"https://host/gridstride\""), "{manifest}");
}

#[test]
fn nothing_is_overwritten() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "mine").unwrap();
    HOST.assert_fails(&[scratch.path().to_str().unwrap()], 2, &["is not empty", "does not exist yet"]);
    HOST.assert_fails(&[file.to_str().unwrap()], 2, &["is a file", "does not exist yet"]);
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink("none", &link).unwrap();
    HOST.assert_fails(
        &[link.to_str().unwrap()],
        2,
        &["is a link to a folder that does not exist", "does not exist yet"],
    );
    assert_eq!(names(scratch.path()), ["file", "link"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn what_cannot_be_is_refused_with_the_remedy() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("launch");
    let folder = folder.to_str().unwrap();
    HOST.assert_fails(&[], 2, &["DIR"]);
    HOST.assert_fails(&[folder], 2, &["'launch'", "--name NAME"]);
    let no_checkout = scratch.path().to_str().unwrap();
    HOST.assert_fails(&[folder, "--name", "mine", "--path", no_checkout], 2, &["no checkout", "--git URL"]);
    HOST.assert_fails(&[folder, "--git", "u", "--path", "p"], 2, &["cannot be used with"]);
    for url in ["https://host/g\n", "https://host/\u{7f}g", "a\tb"] {
        HOST.assert_fails(&[folder, "--name", "mine", "--git", url], 2, &["--git", "control character", "line ends"]);
    }
    assert!(names(scratch.path()).is_empty());
}
