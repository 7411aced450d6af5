//! `features`: checks that each crate compiles with each of its features alone, and without features.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::workspace::{self, Metadata, Workspace};

/// The features that this task leaves out. `mpi` needs an MPI installation, and CI has separate steps for it.
const ELSEWHERE: [&str; 1] = ["mpi"];

/// Runs `cargo check` for each crate without features and with each feature alone.
///
/// # Errors
/// If cargo cannot be run, or a combination does not compile.
pub fn run(workspace: &Workspace) -> Result<()> {
    let mut failed = Vec::new();
    let combinations = combinations(workspace.metadata());
    for (package, feature) in &combinations {
        let mut command = workspace::cargo();
        command.current_dir(workspace.root());
        command.args(["check", "--quiet", "--locked", "--package", package, "--no-default-features"]);
        let name =
            feature.map_or_else(|| format!("{package} without features"), |feature| format!("{package}/{feature}"));
        if let Some(feature) = feature {
            command.args(["--features", feature]);
        }
        println!("{name}");
        if !command.status().context("cannot run cargo")?.success() {
            failed.push(name);
        }
    }
    match &failed[..] {
        [] => {
            println!("features: {} combinations compile", combinations.len());
            Ok(())
        }
        failed => bail!("features: {} do not compile", failed.join(", ")),
    }
}

/// Returns the combinations to check for the packages that have features: each package without features (`None`), and
/// each package with each feature alone.
fn combinations(metadata: &Metadata) -> Vec<(&str, Option<&str>)> {
    let mut all = Vec::new();
    let packages: BTreeMap<&str, _> = metadata.packages.iter().map(|one| (one.name.as_str(), &one.features)).collect();
    for (package, features) in packages {
        let is_own = |feature: &&str| *feature != "default" && !ELSEWHERE.contains(feature);
        let own: Vec<&str> = features.keys().map(String::as_str).filter(is_own).collect();
        if !own.is_empty() {
            all.push((package, None));
            all.extend(own.into_iter().map(|feature| (package, Some(feature))));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    #[test]
    fn each_feature_is_alone_once() {
        let package = |name: &str, features: &[&str]| Package {
            name: name.to_owned(),
            features: features.iter().map(|feature| ((*feature).to_owned(), Vec::new())).collect(),
            ..Package::default()
        };
        let packages =
            vec![package("simt", &["sarif", "serde"]), package("gpu", &["default", "life"]), package("host", &["mpi"])];
        let metadata = Metadata { packages, ..Metadata::default() };
        let expected =
            [("gpu", None), ("gpu", Some("life")), ("simt", None), ("simt", Some("sarif")), ("simt", Some("serde"))];
        assert_eq!(combinations(&metadata), expected);
    }
}
