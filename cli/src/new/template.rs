//! Makes the files of a new project from those of `examples/own-kernel`, with another name and other paths to the
//! crates.
//!
//! # Design
//!
//! The program embeds the folder `template`. Its files are copies of those of `examples/own-kernel`, because a package
//! cannot have files from outside its folder. The tests of this workspace therefore build and test the project that
//! users get. `cargo xtask tidy` checks the copies, and `cargo xtask tidy --fix` writes them. The copies of manifests
//! are called `Cargo.toml.txt`, because a package leaves out the folders that have a `Cargo.toml`.

use std::path::Path;

/// The name of the example project.
const NAME: &str = "sample";
/// The crates of this workspace that the example depends on, each with its folder.
const CRATES: [(&str, &str); 4] = [
    ("cuda_builder", "crates/cuda_builder"),
    ("cuda_std", "crates/cuda_std"),
    ("explain", "explain"),
    ("launch", "crates/launch"),
];

macro_rules! files {
    ($($path:literal)*) => {
        [$(($path, include_str!(concat!("../../template/", $path)))),*]
    };
}

/// The paths and texts of the template.
const FILES: [(&str, &str); 9] = files![
    ".cargo/config.toml" ".gitignore" "Cargo.toml.txt" "build.rs" "ci.sh"
    "kernels/Cargo.toml.txt" "kernels/build.rs" "kernels/src/lib.rs" "src/main.rs"
];

/// The source from which a project takes the crates of [`CRATES`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Crates {
    /// The folder `crates/` of the checkout at this path.
    Path(String),
    /// The git repository at this URL.
    Git(String),
    /// The registry. The crates have the same version as this program.
    Registry,
}

impl Crates {
    /// Returns the source of the crate in the folder `place` of a checkout, in the form that a manifest needs.
    pub(crate) fn of(&self, place: &str) -> String {
        match self {
            Crates::Path(folder) => format!("path = {}", literal(&Path::new(folder).join(place).to_string_lossy())),
            Crates::Git(url) => format!("git = {}", literal(url)),
            Crates::Registry => format!("version = {}", literal(env!("CARGO_PKG_VERSION"))),
        }
    }
}

/// Returns a string as a TOML literal.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the paths and texts of a project called `name`.
pub(super) fn files(name: &str, crates: &Crates) -> Vec<(&'static str, String)> {
    let text = |path: &str, text: &str| {
        // Rust sources use the name of the crate, which has underscores in place of hyphens.
        let name = if path.ends_with(".rs") { name.replace('-', "_") } else { name.to_owned() };
        let depth = path.matches('/').count() + 2;
        CRATES.iter().fold(text.replace(NAME, &name), |text, (_, folder)| {
            let place = format!("path = \"{}{folder}\"", "../".repeat(depth));
            text.replace(&place, &crates.of(folder))
        })
    };
    let of_project = |path: &'static str| path.strip_suffix(".txt").unwrap_or(path);
    FILES.iter().map(|(path, original)| (of_project(path), text(of_project(path), original))).collect()
}

/// Returns the reason why a package cannot have this name, or `None` if the name is allowed.
pub(super) fn refusal(name: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_part) {
        Some("a name begins with a letter and has only letters, digits, - and _")
    } else if CRATES.iter().any(|(krate, _)| *krate == name)
        || ["core", "std", "alloc", "test", "proc_macro"].contains(&name)
    {
        Some("a crate that the project uses has that name")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_project_made_so() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/own-kernel");
        let files = files("mine", &Crates::Registry);
        let listed = |path: &str| path == "Cargo.lock" || files.iter().any(|(file, _)| *file == path);
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                if path.is_dir() {
                    folders.extend((name != "target").then_some(path));
                } else {
                    assert!(listed(&name), "`{name}` is not among the files of a new project");
                }
            }
        }
    }

    #[test]
    fn its_owner_has_few_lines_to_own() {
        // The optimisation settings at the end are the same in every project.
        let own = |text: &str| text.split("[profile.").next().unwrap_or_default().to_owned();
        let owned = |text: &str| own(text).lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        let files = files("mine", &Crates::Git("https://host/g".to_owned()));
        let manifests = files.iter().filter(|(path, _)| path.ends_with("Cargo.toml"));
        assert_eq!(manifests.map(|(_, text)| owned(text)).sum::<usize>(), 15);
        let build = &files.iter().find(|(path, _)| *path == "build.rs").unwrap().1;
        assert_eq!(build.lines().filter(|line| line.starts_with(' ')).count(), 1, "{build}");
    }

    #[test]
    fn names_and_places_are_replaced() {
        let path = Crates::Path("C:\\our \"own\"".to_owned());
        for (crates, place) in [
            (Crates::Path("/checkout".to_owned()), "path = \"/checkout/crates/cuda_std\""),
            (path, "path = \"C:\\\\our \\\"own\\\"/crates/cuda_std\""),
            (Crates::Git("https://host/g".to_owned()), "git = \"https://host/g\""),
            (Crates::Registry, concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"")),
        ] {
            let files = files("mine", &crates);
            let text = |path: &str| &files.iter().find(|(file, _)| *file == path).unwrap().1;
            for (path, krate, package) in [
                ("kernels/Cargo.toml", "cuda_std", "gridstride-cuda-std"),
                ("Cargo.toml", "launch", "gridstride-launch"),
            ] {
                let place = place.replace("cuda_std", krate);
                let line = format!("{krate} = {{ package = \"{package}\", {place} }}\n");
                assert!(text(path).contains(&line), "{}", text(path));
            }
            assert!(text("ci.sh").contains("-p mine -p mine-kernels"), "{}", text("ci.sh"));
            assert!(text("src/main.rs").contains("include_ptx!(\"mine_kernels\")"), "{}", text("src/main.rs"));
            for (path, text) in &files {
                assert!(!text.contains(NAME) && !text.contains("../"), "{path}: {text}");
            }
        }
    }

    #[test]
    fn a_name_is_one_that_cargo_takes() {
        for name in ["mine", "my-kernels2", "a_b"] {
            assert_eq!(refusal(name), None, "{name}");
        }
        for name in ["", "2d", "-a", "my kernels", "grüße", "a.b", "cuda_std", "launch", "std"] {
            assert!(refusal(name).is_some(), "{name}");
        }
    }
}
