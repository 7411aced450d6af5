//! What a function's body does by its text, with the functions and macros that it calls.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::arrays;
use super::instances::angle_brackets;
use crate::ptx::Barriers;
use crate::source_text::SourceText;

/// The bodies of all functions and macros in some sources.
pub(super) struct Bodies<'a> {
    sources: &'a [SourceText<'a>],
    helpers: Vec<Helper>,
    known: RefCell<BTreeMap<usize, Total>>,
}

/// A function or a macro (`name!`) that is no kernel.
struct Helper {
    name: String,
    file: usize,
    whole: Range<usize>,
    body: Range<usize>,
}

/// What a body does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Total {
    pub barriers: Barriers,
    /// Shared arrays of what it calls.
    pub called_arrays: usize,
    /// What it calls that may be one of several.
    pub unclear: BTreeSet<String>,
    own_arrays: usize,
}

impl<'a> Bodies<'a> {
    /// `kernels` are the ranges of the kernels' heads in each source.
    pub fn new(sources: &'a [SourceText<'a>], kernels: &[Vec<Range<usize>>]) -> Bodies<'a> {
        let mut helpers = Vec::new();
        for (file, source) in sources.iter().enumerate() {
            let code = source.code();
            let macros = source.items_after("macro_rules!").into_iter();
            let macros = macros.map(|range| (range.start, range.start + "macro_rules!".len(), "!"));
            let functions = source.words("fn").map(|at| (at, at + "fn".len(), ""));
            for (start, after, mark) in macros.chain(functions) {
                let rest = code[after..].trim_start();
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let is_kernel = kernels[file].iter().any(|head| head.contains(&start));
                let open = source.head_end(after).filter(|&open| code.as_bytes()[open] == b'{');
                if let (Some(open), 1.., false) = (open, end, is_kernel) {
                    let body = source.enclosed(open);
                    let name = format!("{}{mark}", &rest[..end]);
                    helpers.push(Helper { name, file, whole: start..body.end, body });
                }
            }
        }
        Bodies { sources, helpers, known: RefCell::default() }
    }

    /// What the body at `range` of a source does, and its code without the functions that are declared in it.
    pub fn total(&self, file: usize, range: &Range<usize>) -> (Total, String) {
        let code = self.without_nested(file, range);
        let mut total = Total {
            barriers: Barriers { block: calls(&code, "sync_threads", true), warp: calls(&code, "sync_warp", true) },
            own_arrays: arrays::declared(&code).len(),
            ..Total::default()
        };
        let names: BTreeSet<&str> = self.helpers.iter().map(|helper| helper.name.as_str()).collect();
        for name in names {
            let times = calls(&code, name, false);
            if times == 0 {
                continue;
            }
            // One of the same file stands before those of others.
            let of_name: Vec<usize> = (0..self.helpers.len()).filter(|&i| self.helpers[i].name == name).collect();
            let near: Vec<usize> = of_name.iter().copied().filter(|&i| self.helpers[i].file == file).collect();
            let candidates = if near.is_empty() { of_name } else { near };
            let totals: Vec<Total> = candidates.into_iter().map(|i| self.of_helper(i)).collect();
            let Some(called) = totals.first() else { continue };
            if totals.iter().any(|other| other != called) {
                total.unclear.insert(name.to_owned());
            }
            total.barriers.block += times * called.barriers.block;
            total.barriers.warp += times * called.barriers.warp;
            total.called_arrays += times * (called.own_arrays + called.called_arrays);
            total.unclear.extend(called.unclear.iter().cloned());
        }
        (total, code)
    }

    fn of_helper(&self, index: usize) -> Total {
        if let Some(total) = self.known.borrow().get(&index) {
            return total.clone();
        }
        // A function that calls itself, or another one of its name, adds nothing by that.
        self.known.borrow_mut().insert(index, Total::default());
        let helper = &self.helpers[index];
        let (total, _) = self.total(helper.file, &helper.body);
        self.known.borrow_mut().insert(index, total.clone());
        total
    }

    fn without_nested(&self, file: usize, range: &Range<usize>) -> String {
        let mut code = self.sources[file].code()[range.clone()].to_owned();
        for nested in self.helpers.iter().filter(|helper| helper.file == file) {
            if nested.whole.start > range.start && nested.whole.end <= range.end {
                let inside = nested.whole.start - range.start..nested.whole.end - range.start;
                code.replace_range(inside.clone(), &" ".repeat(inside.len()));
            }
        }
        code
    }
}

/// The calls of `name`, with type arguments or without; or also of a function whose name continues it with `_`, such as
/// `sync_threads_count`.
fn calls(code: &str, name: &str, continued: bool) -> usize {
    let is_call = |&(at, _): &(usize, &str)| {
        let rest = &code[at + name.len()..];
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if code[..at].ends_with(is_name) || (end > 0 && !(continued && rest.starts_with('_'))) {
            return false;
        }
        let rest = rest[end..].trim_start();
        if name.ends_with('!') {
            return rest.starts_with(['(', '[', '{']);
        }
        let arguments = rest.strip_prefix("::").map(str::trim_start);
        match arguments.and_then(|list| list.get(angle_brackets(list)?.len() + "<>".len()..)) {
            Some(after) => after.trim_start().starts_with('('),
            None => rest.starts_with('('),
        }
    };
    code.match_indices(name).filter(is_call).count()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
