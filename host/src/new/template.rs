//! Makes the files of a new project from those of `examples/own-kernel`, with another name and other paths to the
//! crates.
//!
//! # Design
//!
//! The template is the folder `examples/own-kernel` itself, which the program embeds. The tests of this workspace
//! therefore build and test the project that users get.

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
        [$(($path, include_str!(concat!("../../../examples/own-kernel/", $path)))),*]
    };
}

/// The paths and texts of the example.
const FILES: [(&str, &str); 10] = files![
    ".cargo/config.toml" ".cargo/cuda/lib64/libcuda.a" ".gitignore" "Cargo.toml" "build.rs" "ci.sh"
    "kernels/Cargo.toml" "kernels/build.rs" "kernels/src/lib.rs" "src/main.rs"
];

/// The source from which a project takes the crates of [`CRATES`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Crates {
    /// In the checkout at this path.
    Path(String),
    /// In the git repository at this URL.
    Git(String),
}

impl Crates {
    /// Returns the source of the crate in the folder `place` of a checkout, in the form that a manifest needs.
    fn of(&self, place: &str) -> String {
        match self {
            Crates::Path(folder) => format!("path = {}", literal(&format!("{folder}/{place}"))),
            Crates::Git(url) => format!("git = {}", literal(url)),
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
        // In Rust sources the name is part of a crate's name.
        let name = if path.ends_with(".rs") { name.replace('-', "_") } else { name.to_owned() };
        let depth = path.matches('/').count() + 2;
        CRATES.iter().fold(text.replace(NAME, &name), |text, (_, folder)| {
            let place = format!("path = \"{}{folder}\"", "../".repeat(depth));
            text.replace(&place, &crates.of(folder))
        })
    };
    FILES.iter().map(|(path, original)| (*path, text(path, original))).collect()
}

/// Returns why a package cannot have this name, or `None` if it can.
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
        let listed = |path: &str| path == "Cargo.lock" || FILES.iter().any(|(file, _)| *file == path);
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
        let owned = |text: &str| text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
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
            (Crates::Path("/checkout".to_owned()), "{ path = \"/checkout/crates/cuda_std\" }"),
            (path, "{ path = \"C:\\\\our \\\"own\\\"/crates/cuda_std\" }"),
            (Crates::Git("https://host/g".to_owned()), "{ git = \"https://host/g\" }"),
        ] {
            let files = files("mine", &crates);
            let text = |path: &str| &files.iter().find(|(file, _)| *file == path).unwrap().1;
            assert!(
                text("kernels/Cargo.toml").contains(&format!("cuda_std = {place}")),
                "{}",
                text("kernels/Cargo.toml")
            );
            let launch = place.replace("cuda_std", "launch");
            assert!(text("Cargo.toml").contains(&format!("launch = {launch}")), "{}", text("Cargo.toml"));
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
