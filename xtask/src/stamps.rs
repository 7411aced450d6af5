//! The stamps of the modules: which sources each was built from, in `gpu/ptx/sources.tsv`.
//!
//! They stand beside the PTX and not in it: a change of the sources that changes no text leaves the PTX files as they
//! are.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The file with the stamps, in `gpu/ptx`.
pub const FILE: &str = "sources.tsv";

/// The hash of the sources that each algorithm's modules were built from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stamps(pub BTreeMap<String, String>);

impl Stamps {
    /// The stamps in a folder of modules; none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(folder: &Path) -> Result<Stamps> {
        let path = folder.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Stamps::parse(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Stamps::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    fn parse(text: &str) -> Stamps {
        let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
        Stamps(rows.map(|(name, hash)| (name.to_owned(), hash.to_owned())).collect())
    }

    /// Writes them to the folder, if they are others than the folder's.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        if Stamps::read(folder)? == *self {
            return Ok(());
        }
        let path = folder.join(FILE);
        fs::write(&path, self.to_string()).with_context(|| format!("cannot write {}", path.display()))
    }

    /// The finding for a module that was built from other sources than the `present` ones.
    pub fn finding(&self, algorithm: &str, present: &str) -> Option<String> {
        let remedy = format!("run `cargo xtask build-ptx {algorithm}`");
        match self.0.get(algorithm) {
            Some(recorded) if recorded == present => None,
            Some(_) => Some(format!("{algorithm} was built from other sources than the present ones: {remedy}")),
            None => Some(format!("{FILE} does not say from which sources {algorithm} was built: {remedy}")),
        }
    }
}

impl fmt::Display for Stamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# The sources that each module was built from, by `cargo xtask build-ptx`: a hash of their tokens."
        )?;
        self.0.iter().try_for_each(|(name, hash)| writeln!(f, "{name}\t{hash}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps() -> Stamps {
        Stamps([("life", "sha256:1"), ("scan", "sha256:2")].map(|(name, hash)| (name.into(), hash.into())).into())
    }

    #[test]
    fn stamps_are_read_as_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Stamps::read(folder.path()).unwrap(), Stamps::default());
        stamps().write(folder.path()).unwrap();
        assert_eq!(Stamps::read(folder.path()).unwrap(), stamps());
        assert_eq!(Stamps::parse(&stamps().to_string().replace('\n', "\r\n")), stamps());
    }

    #[test]
    fn changed_sources_are_found() {
        assert_eq!(stamps().finding("life", "sha256:1"), None);
        let changed = stamps().finding("life", "sha256:3").unwrap();
        assert!(
            changed.contains("life was built from other sources") && changed.contains("build-ptx life"),
            "{changed}"
        );
        assert!(stamps().finding("sort", "sha256:1").unwrap().contains("does not say"));
    }
}
