//! Checks the dependencies between the workspace's crates.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::{Metadata, Package, crate_name};

/// The crates of the project, each with the crates that it may use. A crate may also use the crates that those crates
/// may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("simt", &[]),
    ("cuda_std_macros", &[]),
    ("reports", &["simt"]),
    ("cuda_math", &[]),
    ("cuda_std", &["simt", "cuda_math", "cuda_std_macros"]),
    ("gpu", &["cuda_std"]),
    ("cuda_stub", &[]),
    ("cuda_driver", &["cuda_stub"]),
    ("launch", &["cuda_std", "reports", "cuda_driver"]),
    ("life_cpu", &[]),
    ("ptx_embed", &[]),
    ("ptxas", &[]),
    ("units", &[]),
    ("gridstride", &["gpu", "launch", "ptx_embed", "units"]),
    ("multi", &["gridstride"]),
    ("life", &["multi", "life_cpu"]),
    ("life_formats", &["life"]),
    ("explain", &["launch", "reports", "ptxas", "units"]),
    ("learn", &["explain", "cuda_builder"]),
    ("workbench", &["life", "explain"]),
    ("program", &["workbench"]),
    ("life_app", &["program", "life_formats"]),
    ("cli", &["life_app", "learn"]),
    ("host", &["cli"]),
    ("tests", &["life_formats", "workbench"]),
    ("examples", &["life"]),
    ("cuda_builder", &["ptxas"]),
    // `xtask` builds the PTX that `gridstride` embeds, so it must not use `gridstride`.
    ("xtask", &["cuda_builder", "ptxas"]),
    ("records", &["program", "xtask"]),
    // The example of a separate project must not use this project's kernels.
    ("sample-kernels", &["cuda_std"]),
    ("sample", &["sample-kernels", "launch", "explain", "cuda_builder"]),
    ("own-type-kernels", &["cuda_std", "gpu"]),
    ("own-type", &["own-type-kernels", "gridstride", "launch", "cuda_builder"]),
];

/// External crates that only one crate of the workspace may use.
const EXCLUSIVE: &[(&str, &str)] = &[("cust", "launch")];

/// Returns a finding for each dependency that is not allowed. The paths of findings are relative to `root`. `read` must
/// return the text of a manifest.
pub(super) fn check(metadata: &Metadata, root: &Path, read: impl Fn(&str) -> Result<String>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for Package { name, manifest_path: manifest, dependencies, .. } in &metadata.packages {
        let text = read(manifest)?;
        let mut finding = |dependency: Option<&str>, message: String| {
            let path = Path::new(manifest).strip_prefix(root).map_or(manifest.into(), Path::to_string_lossy);
            let line = dependency.map_or(1, |dependency| line_of(&text, dependency));
            findings.push(Finding { path: path.replace('\\', "/"), line, message });
        };
        let name = crate_name(name);
        let Some(allowed) = reachable(&name) else {
            finding(None, format!("`{name}` is not on the map: add it to ARCHITECTURE.md and to tidy's list"));
            continue;
        };
        for dependency in dependencies {
            let used = crate_name(&dependency.name);
            let written = dependency.rename.as_deref().unwrap_or(&used);
            let ours = dependency.path.is_some();
            if ours && !allowed.contains(used.as_str()) {
                finding(Some(written), format!("`{name}` must not depend on `{used}`: see the map in ARCHITECTURE.md"));
            }
            if let Some((_, owner)) = EXCLUSIVE.iter().find(|(outside, owner)| *outside == used && *owner != name) {
                finding(Some(written), format!("only `{owner}` may use `{used}`: use `{owner}`"));
            }
        }
    }
    Ok(findings)
}

/// Returns the crates that `name` may use, or `None` if `name` is not in [`ALLOWED`].
fn reachable(name: &str) -> Option<BTreeSet<&'static str>> {
    let direct = |name: &str| ALLOWED.iter().find(|(krate, _)| *krate == name).map(|(_, uses)| *uses);
    let mut open = direct(name)?.to_vec();
    let mut reached = BTreeSet::new();
    while let Some(krate) = open.pop() {
        if reached.insert(krate) {
            open.extend(direct(krate).unwrap_or_default());
        }
    }
    Some(reached)
}

/// Returns the line of a dependency in a manifest.
fn line_of(manifest: &str, dependency: &str) -> usize {
    let declares = |line: &str| {
        let line = line.trim();
        let key = line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
        key || (line.starts_with('[') && line.ends_with(&format!(".{dependency}]")))
    };
    manifest.lines().position(declares).map_or(1, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    const MANIFEST: &str = "[package]\nname = \"a\"\n\n[dependencies]\nlaunch_tools = \"1\"\nlaunch.workspace = true\n\
        [dependencies.cust]\nversion = \"1\"\n";

    fn findings(name: &str, dependencies: &[(&str, bool)]) -> Vec<Finding> {
        let dependency = |&(name, ours): &(&str, bool)| Dependency {
            name: name.to_owned(),
            path: ours.then(|| "/w/x".into()),
            ..Dependency::default()
        };
        let package = Package {
            name: name.to_owned(),
            manifest_path: "/w/a/Cargo.toml".to_owned(),
            dependencies: dependencies.iter().map(dependency).collect(),
            ..Package::default()
        };
        let metadata = Metadata { packages: vec![package], ..Metadata::default() };
        check(&metadata, Path::new("/w"), |_| Ok(MANIFEST.to_owned())).unwrap()
    }

    #[test]
    fn the_allowed_way_has_no_findings() {
        assert_eq!(findings("host", &[("gpu", true), ("launch", true), ("anyhow", false)]), []);
        // A crate may use the crates that its allowed crates use.
        assert_eq!(findings("tests", &[("simt", true), ("launch", true)]), []);
        assert_eq!(findings("launch", &[("cust", false)]), []);
    }

    #[test]
    fn another_way_is_found_with_its_line() {
        for (from, to) in [
            ("sample", "host"),
            ("gpu", "launch"),
            ("simt", "cuda_std"),
            ("xtask", "host"),
            ("cuda_std", "launch"),
            ("host", "records"),
        ] {
            let found = findings(from, &[(to, true)]);
            assert_eq!(found.len(), 1, "{from} -> {to}");
            assert_eq!(found[0].path, "a/Cargo.toml");
            assert_eq!(found[0].line, if to == "launch" { 6 } else { 1 }, "{from} -> {to}");
        }
    }

    #[test]
    fn a_crate_with_an_owner_is_found_elsewhere() {
        let found = findings("host", &[("cust", false)]);
        assert_eq!((found.len(), found[0].line), (1, 7));
    }

    #[test]
    fn a_crate_that_is_not_on_the_map_is_found() {
        assert_eq!(findings("novel", &[]).len(), 1);
    }
}
