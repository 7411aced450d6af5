//! Reads and writes the stamps of the modules: the hashes of their sources, in `gpu/ptx/sources.tsv`.
//!
//! The hashes are not in the PTX files. A change of the sources that does not change the PTX therefore leaves the PTX
//! files unchanged.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The name of the file of the stamps in `gpu/ptx`.
pub const FILE: &str = "sources.tsv";

/// The stamps: for each algorithm, the hash of the sources from which its modules were built.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stamps(pub BTreeMap<String, String>);

impl Stamps {
    /// Reads the stamps from a folder of modules. Returns no stamps if the file does not exist.
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

    /// Reads the stamps from the text of their file.
    pub fn parse(text: &str) -> Stamps {
        let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
        Stamps(rows.map(|(name, hash)| (name.to_owned(), hash.to_owned())).collect())
    }

    /// Writes the stamps to the file in `folder` if they differ from the stamps that the file has.
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

    /// Returns a finding if an algorithm's modules were not built from the `present` sources.
    pub fn finding(&self, algorithm: &str, present: &str) -> Option<String> {
        let remedy = format!("run `cargo xtask build-ptx {algorithm}`");
        match self.0.get(algorithm) {
            Some(recorded) if recorded == present => None,
            Some(_) => Some(format!("the sources of {algorithm} have changed since its PTX was built: {remedy}")),
            None => Some(format!("{FILE} has no hash of the sources of {algorithm}: {remedy}")),
        }
    }
}

impl fmt::Display for Stamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Hashes of the tokens of each module's sources. `cargo xtask build-ptx` writes this file.")?;
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
            changed.contains("the sources of life have changed") && changed.contains("build-ptx life"),
            "{changed}"
        );
        assert!(stamps().finding("sort", "sha256:1").unwrap().contains("has no hash"));
    }
}
