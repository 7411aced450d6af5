//! Checks the licences and the sources of the packages from which the workspace is built.

use std::path::Path;

use anyhow::Result;

use super::{Finding, finding};
use crate::workspace::{Metadata, Package};

/// The allowed licences, as in deny.toml.
const ALLOWED: &[&str] =
    &["Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-3-Clause", "ISC", "MIT", "Unicode-3.0", "Unlicense", "Zlib"];

/// The only allowed registry.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns a finding for each package with a licence or a source that is not allowed.
///
/// # Errors
/// If `cargo metadata` fails.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let metadata = Metadata::read(root, &["--locked"])?;
    Ok(metadata.packages.iter().filter_map(problem).map(|message| finding("Cargo.lock", 1, message)).collect())
}

/// Returns a message if a package has a licence or a source that is not allowed.
fn problem(package: &Package) -> Option<String> {
    let Package { name, version, license, source, .. } = package;
    if let Some(source) = source.as_deref().filter(|source| *source != REGISTRY) {
        return Some(format!("{name} {version} comes from {source}: use crates.io"));
    }
    match license {
        None => Some(format!("{name} {version} names no licence: use another crate")),
        Some(licence) if !is_allowed(licence) => Some(format!(
            "{name} {version} has the licence `{licence}`: use another crate, or allow the licence here and in \
             deny.toml"
        )),
        Some(_) => None,
    }
}

/// Returns true if the allowed licences satisfy an SPDX expression.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any(&mut rest) && rest.is_empty()
}

fn any(rest: &mut &[&str]) -> bool {
    let mut allowed = all(rest);
    while let ["OR", after @ ..] = *rest {
        *rest = after;
        allowed |= all(rest);
    }
    allowed
}

fn all(rest: &mut &[&str]) -> bool {
    let mut allowed = one(rest);
    while let ["AND", after @ ..] = *rest {
        *rest = after;
        allowed &= one(rest);
    }
    allowed
}

fn one(rest: &mut &[&str]) -> bool {
    match *rest {
        ["(", after @ ..] => {
            *rest = after;
            let allowed = any(rest);
            *rest = rest.strip_prefix(&[")"]).unwrap_or(rest);
            allowed
        }
        [licence, "WITH", exception, after @ ..] => {
            *rest = after;
            ALLOWED.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, after @ ..] => {
            *rest = after;
            ALLOWED.contains(licence)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_understood() {
        for expression in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(is_allowed(expression), "{expression}");
        }
        for expression in
            ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", "MIT WITH GCC-exception", "MIT )"]
        {
            assert!(!is_allowed(expression), "{expression}");
        }
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let package = |license: Option<&str>, source: &str| Package {
            name: "a".into(),
            version: "1.0.0".into(),
            license: license.map(str::to_owned),
            source: Some(source.into()),
            ..Package::default()
        };
        assert_eq!(problem(&package(Some("MIT"), REGISTRY)), None);
        assert!(problem(&package(None, REGISTRY)).unwrap().contains("a 1.0.0 names no licence"));
        assert!(problem(&package(Some("GPL-3.0"), REGISTRY)).unwrap().contains("`GPL-3.0`"));
        let found = problem(&package(Some("MIT"), "git+https://example.org/a")).unwrap();
        assert!(found.contains("git+https://example.org/a"), "{found}");
    }
}
