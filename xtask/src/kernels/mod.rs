//! Reads the kernels that the sources declare, for comparison with the PTX.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::sources;
use crate::workspace::{Algorithms, Workspace};

#[cfg(test)]
mod arrays;
mod attribute;
#[cfg(test)]
mod bodies;
mod expected;
mod functions;
#[cfg(test)]
mod ptx_exceptions;
#[cfg(test)]
mod ptx_text;
mod sites;

use attribute::{Attribute, Instance};
pub use expected::{Expected, Rule, Wide};
use functions::Functions;
pub use sites::{SyncSite, sync_sites};

/// An entry of a module: a `#[kernel]` function, or an instance of a generic kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// The kernel's symbol in the PTX.
    pub name: String,
    /// The name of the function in the source.
    pub family: String,
    /// The file that declares the kernel.
    pub file: PathBuf,
    /// The line of the kernel's attribute, from 1.
    pub line: usize,
    /// The attribute's `max_threads`.
    pub max_threads: Option<u32>,
    /// The attribute's `min_blocks`.
    pub min_blocks: Option<u32>,
    /// The requirements on the code that the attribute declares.
    pub expected: Expected,
}

/// Returns the kernels in source texts. `files` has the path and the text of each source.
///
/// # Errors
/// If a text is not valid Rust, or a kernel's attribute is not valid.
pub fn kernels(files: &[(PathBuf, String)]) -> Result<Vec<Kernel>> {
    let declared = Functions::read(files)?;
    let mut found = Vec::new();
    for function in &declared.functions {
        let Some(Attribute { line, instances }) = &function.kernel else { continue };
        for Instance { name, expected, bounds, .. } in instances {
            found.push(Kernel {
                name: name.clone(),
                family: function.name.clone(),
                file: files[function.file].0.clone(),
                line: *line,
                max_threads: bounds.max_threads,
                min_blocks: bounds.min_blocks,
                expected: expected.clone(),
            });
        }
    }
    Ok(found)
}

/// Returns the paths and texts of the kernel sources of an algorithm's modules.
///
/// # Errors
/// If a source cannot be read.
fn source_texts(workspace: &Workspace, algorithms: &Algorithms, algorithm: &str) -> Result<Vec<(PathBuf, String)>> {
    let files = sources::files(workspace, algorithms, algorithm)?;
    read(workspace.root(), files.into_iter().filter(|file| file.starts_with(sources::GPU_SOURCES)))
}

/// Returns the kernels of all modules.
///
/// # Errors
/// If a source cannot be read.
pub fn all(workspace: &Workspace, algorithms: &Algorithms) -> Result<Vec<Kernel>> {
    let of_algorithm = |algorithm: &str| kernels(&source_texts(workspace, algorithms, algorithm)?);
    Ok(algorithms.names().into_iter().map(of_algorithm).collect::<Result<Vec<_>>>()?.concat())
}

/// Reads `files`, which are paths from `root`.
fn read(root: &Path, files: impl IntoIterator<Item = String>) -> Result<Vec<(PathBuf, String)>> {
    let text = |file: String| {
        let path = root.join(&file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok((PathBuf::from(file), text))
    };
    files.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests;
