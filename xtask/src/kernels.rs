//! The kernels as their sources declare them, for comparison with the PTX.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::ptx::Barriers;
use crate::source_text::SourceText;
use crate::sources;
use crate::workspace::{Algorithms, Workspace};

mod arrays;
mod bodies;
mod instances;

use arrays::Constants;
use bodies::Bodies;
use instances::Instance;

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
    /// How many barriers its body calls by the text, those of the functions that it calls included.
    pub barriers: Barriers,
    /// Functions with barriers that it calls, where the text does not say which of several of that name is meant.
    pub unclear: BTreeSet<String>,
    /// The sizes in bytes of the shared arrays of its body; `None` where the text does not say.
    pub arrays: Vec<Option<u64>>,
    /// How many shared arrays the functions have that it calls.
    pub called_arrays: usize,
    /// Whether its body prints, by the text.
    pub prints: bool,
}

/// The kernels of source texts, each with the path that it was read from. A function that a kernel calls is looked for in
/// all of them.
pub fn kernels(files: &[(PathBuf, String)]) -> Vec<Kernel> {
    let sources: Vec<SourceText<'_>> = files.iter().map(|(_, text)| SourceText::new(text)).collect();
    let items: Vec<Vec<Item<'_>>> = sources.iter().map(items).collect();
    let own: Vec<Vec<Range<usize>>> =
        items.iter().map(|items| items.iter().map(|item| item.head.clone()).collect()).collect();
    let bodies = Bodies::new(&sources, &own);
    let constants = Constants::new(&sources);
    let mut found = Vec::new();
    for (file, items) in items.iter().enumerate() {
        for item in items {
            let kernel = item.common(&sources[file], &files[file].0);
            let (total, code) = bodies.total(file, &item.body);
            for Instance { name, arguments } in instances::instances(item.name, item.generics, item.attribute) {
                let size = |(element, len): (String, String)| constants.bytes(file, &element, &len, &arguments);
                found.push(Kernel {
                    name,
                    barriers: total.barriers,
                    unclear: total.unclear.clone(),
                    arrays: arrays::declared(&code).into_iter().map(size).collect(),
                    called_arrays: total.called_arrays,
                    prints: code.contains("println!"),
                    ..kernel.clone()
                });
            }
        }
    }
    found
}

/// The kernels of an algorithm's modules.
///
/// # Errors
/// If a source cannot be read.
pub fn of_module(workspace: &Workspace, algorithms: &Algorithms, algorithm: &str) -> Result<Vec<Kernel>> {
    let mut files = Vec::new();
    for file in sources::files(workspace, algorithms, algorithm)? {
        if file.starts_with(sources::GPU_SOURCES) {
            let path = workspace.root().join(&file);
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.push((PathBuf::from(file), text));
        }
    }
    Ok(kernels(&files))
}

/// A `#[kernel]` function's parts in the code.
struct Item<'s> {
    /// From the attribute to the body's brace.
    head: Range<usize>,
    body: Range<usize>,
    attribute: &'s str,
    name: &'s str,
    /// What stands between `<` and `>`.
    generics: &'s str,
}

fn items<'s>(source: &'s SourceText<'_>) -> Vec<Item<'s>> {
    let item = |range: Range<usize>| {
        let code = source.code();
        let attribute = source.enclosed(range.start + 1);
        // `#[kernels…` is another attribute.
        if !matches!(code.as_bytes().get(range.start + "#[kernel".len()), Some(b'(' | b']')) {
            return None;
        }
        let open = source.head_end(attribute.end).filter(|&end| code.as_bytes()[end] == b'{')?;
        let signature = code[attribute.end..open].split_once("fn ")?.1;
        let end = signature.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let (name, rest) = signature.split_at(end);
        let generics = instances::angle_brackets(rest.trim_start()).unwrap_or_default();
        Some(Item { head: range.start..open, body: source.enclosed(open), attribute: &code[attribute], name, generics })
    };
    source.items_after("#[kernel").into_iter().filter_map(item).collect()
}

impl Item<'_> {
    /// What all instances have in common.
    fn common(&self, source: &SourceText<'_>, file: &std::path::Path) -> Kernel {
        let bound = |name: &str| {
            let (_, value) = self.attribute.split_once(name)?;
            let value = value.trim_start().strip_prefix('=')?.trim_start();
            value.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        Kernel {
            family: self.name.to_owned(),
            file: file.to_owned(),
            line: source.line_of(self.head.start),
            max_threads: bound("max_threads"),
            min_blocks: bound("min_blocks"),
            ..Kernel::default()
        }
    }
}

#[cfg(test)]
mod tests;
