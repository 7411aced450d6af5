//! The kernels as their sources declare them, for comparison with the PTX.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::ptx::Barriers;
use crate::sources;
use crate::workspace::{Algorithms, Workspace};

mod arrays;
mod attribute;
mod bodies;
mod expected;
mod functions;
mod places;

use attribute::{Attribute, Instance};
use bodies::Bodies;
pub use expected::{Expected, Rule, Wide};
use functions::Functions;
pub use places::{Place, places};

/// An entry: a `#[kernel]` function, or an instance of a generic one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// The function's name.
    pub family: String,
    /// The file that declares it.
    pub file: PathBuf,
    /// The line of its attribute, from 1.
    pub line: usize,
    /// `max_threads`, if the attribute has it.
    pub max_threads: Option<u32>,
    /// `min_blocks`, if the attribute has it.
    pub min_blocks: Option<u32>,
    /// How many barriers its body calls by the source, those of the functions that it calls included.
    pub barriers: Barriers,
    /// Functions with barriers that it calls, where the name does not say which of several is meant.
    pub unclear: BTreeSet<String>,
    /// The sizes in bytes of the shared arrays of its body; `None` where the source does not say.
    pub arrays: Vec<Option<u64>>,
    /// How many shared arrays the functions have that it calls.
    pub called_arrays: usize,
    /// Whether its body prints.
    pub prints: bool,
    /// What its attribute says of its code.
    pub expected: Expected,
}

/// The kernels of source texts, each with the path that it was read from. A function that a kernel calls is looked for
/// in all of them.
///
/// # Errors
/// If a text is no Rust, or a kernel's attribute is none that `#[kernel]` takes.
pub fn kernels(files: &[(PathBuf, String)]) -> Result<Vec<Kernel>> {
    let declared = Functions::read(files)?;
    let mut bodies = Bodies::new(&declared.functions);
    let mut found = Vec::new();
    for function in &declared.functions {
        let Some(Attribute { line, max_threads, min_blocks, instances }) = &function.kernel else { continue };
        let total = bodies.total(function);
        for Instance { name, arguments, expected } in instances {
            let size = |array: &_| declared.constants.bytes(function.file, array, arguments);
            found.push(Kernel {
                name: name.clone(),
                family: function.name.clone(),
                file: files[function.file].0.clone(),
                line: *line,
                max_threads: *max_threads,
                min_blocks: *min_blocks,
                barriers: total.barriers,
                unclear: total.unclear.clone(),
                arrays: function.body.arrays.iter().map(size).collect(),
                called_arrays: total.called_arrays,
                prints: function.body.prints,
                expected: expected.clone(),
            });
        }
    }
    Ok(found)
}

/// The kernels of an algorithm's modules.
///
/// # Errors
/// If a source cannot be read.
pub fn of_module(workspace: &Workspace, algorithms: &Algorithms, algorithm: &str) -> Result<Vec<Kernel>> {
    let files = sources::files(workspace, algorithms, algorithm)?;
    kernels(&read(workspace.root(), files.into_iter().filter(|file| file.starts_with(sources::GPU_SOURCES)))?)
}

/// The kernels of all modules.
///
/// # Errors
/// If a source cannot be read.
pub fn all(workspace: &Workspace, algorithms: &Algorithms) -> Result<Vec<Kernel>> {
    let of_algorithm = |algorithm: &str| of_module(workspace, algorithms, algorithm);
    Ok(algorithms.names().into_iter().map(of_algorithm).collect::<Result<Vec<_>>>()?.concat())
}

/// The texts of `files`, which are named from `root`.
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
