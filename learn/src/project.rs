//! The files of a learner's project, and the paths of its exercises.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::source::{SOURCES, Source};

/// The file in which a project keeps the learner's progress, and by which a project is recognised.
pub(crate) const PROGRESS: &str = "progress.json";

/// Returns the paths and texts of a project. `place` returns the source of the crate in a folder of Gridstride's
/// repository, in the form that a manifest needs, such as `version = "0.2.0"`.
pub fn files(place: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let mut files = vec![
        ("Cargo.toml".to_owned(), manifest(place)),
        (".cargo/config.toml".to_owned(), include_str!("../project/config.toml").to_owned()),
        (".gitignore".to_owned(), "/target\n/pictures\n".to_owned()),
        ("README.md".to_owned(), include_str!("../project/README.md").to_owned()),
        ("src/main.rs".to_owned(), include_str!("../project/main.rs").to_owned()),
        (PROGRESS.to_owned(), "{}\n".to_owned()),
    ];
    for source in SOURCES {
        files.push((source.kernel_path(), source.kernel.to_owned()));
        files.push((source.check_path(), source.check.to_owned()));
    }
    files
}

/// Returns true if `folder` is a learner's project.
pub fn is_project(folder: &Path) -> bool {
    folder.join(PROGRESS).is_file() && folder.join("exercises").is_dir()
}

impl Source {
    /// Returns the path of the kernel file in a project, with slashes.
    pub fn kernel_path(&self) -> String {
        format!("exercises/{:02}_{name}/{name}.rs", self.number, name = self.name)
    }

    /// Returns the path of the file in a project that checks the exercise, with slashes.
    pub fn check_path(&self) -> String {
        format!("exercises/{:02}_{}/check.rs", self.number, self.name)
    }

    /// Returns the path of the kernel file in the project `folder`.
    pub(crate) fn kernel_in(&self, folder: &Path) -> PathBuf {
        folder.join(self.kernel_path())
    }
}

fn manifest(place: impl Fn(&str) -> String) -> String {
    let mut manifest = format!(
        "# A course on GPU kernels. `cargo run` checks the exercises: see README.md.\n\
         [package]\nname = \"course\"\nedition = \"2024\"\nautoexamples = false\n\n[workspace]\n\n[dependencies]\n\
         cuda_std = {{ package = \"gridstride-cuda-std\", {} }}\nlearn = {{ package = \"gridstride-learn\", {} }}\n",
        place("crates/cuda_std"),
        place("learn")
    );
    for source in SOURCES {
        let _ = write!(manifest, "\n[[example]]\nname = \"{}\"\npath = \"{}\"\n", source.name, source.check_path());
    }
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_every_exercise() {
        let files = files(|folder| format!("path = \"/gridstride/{folder}\""));
        let text = |path: &str| &files.iter().find(|(file, _)| file == path).unwrap().1;
        let manifest = text("Cargo.toml");
        assert!(manifest.contains("{ package = \"gridstride-learn\", path = \"/gridstride/learn\" }"), "{manifest}");
        assert!(manifest.contains("name = \"index\"\npath = \"exercises/01_index/check.rs\"\n"), "{manifest}");
        assert!(text("exercises/01_index/index.rs").contains("Your code begins here"));
        assert!(text("exercises/01_index/check.rs").contains("mod index;"));
        assert_eq!(files.len(), 6 + 2 * SOURCES.len());
        assert!(files.iter().all(|(_, text)| !text.contains("## Wrong")), "the answers stay here");
    }
}
