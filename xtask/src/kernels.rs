//! The kernels as their sources declare them, for comparison with the PTX.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::source_text::SourceText;

/// A `#[kernel]` function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name, which is the entry's symbol too.
    pub name: String,
    /// The line of its attribute, from 1.
    pub line: usize,
    /// `max_threads`, if the attribute has it.
    pub max_threads: Option<u32>,
    /// `min_blocks`, if the attribute has it.
    pub min_blocks: Option<u32>,
    /// How many block barriers its body calls, by the text.
    pub barriers: usize,
    /// Whether its body prints, by the text.
    pub prints: bool,
}

/// The kernels of a source text.
pub fn kernels(text: &str) -> Vec<Kernel> {
    let source = SourceText::new(text);
    source
        .items_after("#[kernel")
        .into_iter()
        .filter_map(|range| {
            let item = &source.code()[range.clone()];
            let (attribute, rest) = item.split_once(']')?;
            // `#[kernels…` is another attribute.
            if !matches!(attribute.as_bytes().get("#[kernel".len()), None | Some(b'(')) {
                return None;
            }
            let (_, after_fn) = rest.split_once("fn ")?;
            let end = after_fn.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            let body = after_fn.split_once('{')?.1;
            let bound = |name: &str| {
                let (_, value) = attribute.split_once(name)?;
                let value = value.trim_start().strip_prefix('=')?.trim_start();
                value.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
            };
            Some(Kernel {
                name: after_fn[..end].to_owned(),
                line: source.line_of(range.start),
                max_threads: bound("max_threads"),
                min_blocks: bound("min_blocks"),
                barriers: count_calls(body, "sync_threads"),
                prints: body.contains("println!"),
            })
        })
        .collect()
}

/// The calls of `name` or of a function whose name continues it with `_`, such as `sync_threads_count`.
fn count_calls(code: &str, name: &str) -> usize {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name)
        .filter(|(at, _)| {
            let rest = &code[at + name.len()..];
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            let continued = end == 0 || rest.starts_with('_');
            continued && rest[end..].trim_start().starts_with('(') && !code[..*at].ends_with(is_name)
        })
        .count()
}

/// The kernels in the files at or under `path`, each with its file.
///
/// # Errors
/// If a file cannot be read.
pub fn under(path: &Path) -> Result<Vec<(PathBuf, Kernel)>> {
    let context = || format!("cannot read {}", path.display());
    let mut found = Vec::new();
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(context)? {
            found.extend(under(&entry.with_context(context)?.path())?);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(path).with_context(context)?;
        found.extend(kernels(&text).into_iter().map(|kernel| (path.to_owned(), kernel)));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
//! #[kernel] in a comment is none.
/// Two barriers; `sync_threads()` here is none.
#[kernel(max_threads = 256, min_blocks = 4)]
pub fn step(a: f32, cells: [u32; 4]) {
    // thread::sync_threads();
    for _ in 0..4 { thread::sync_threads(); }
    if thread::sync_threads_count(a > 0.0) > 0 { resync_threads(); sync_threads_total }
}

#[kernel]
#[allow(clippy::too_many_arguments)]
pub unsafe fn print() { println!("sync_threads()"); }
#[kernels]
fn other() { sync_threads(); }
"#;

    #[test]
    fn reads_kernels_with_their_bounds_and_barriers() {
        let step = Kernel {
            name: "step".to_owned(),
            line: 4,
            max_threads: Some(256),
            min_blocks: Some(4),
            barriers: 2,
            prints: false,
        };
        let print = Kernel {
            name: "print".to_owned(),
            line: 11,
            max_threads: None,
            min_blocks: None,
            barriers: 0,
            prints: true,
        };
        assert_eq!(kernels(TEXT), [step, print]);
    }
}
