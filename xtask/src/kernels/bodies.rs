//! What a function's body does, with the functions and macros that it calls.

use std::collections::{BTreeMap, BTreeSet};

use super::functions::Function;
use crate::ptx::Barriers;

/// The functions and macros that are no kernels, by their names.
pub(super) struct Bodies<'a> {
    called: BTreeMap<&'a str, Vec<&'a Function>>,
    /// What is known of a function, by its address.
    known: BTreeMap<*const Function, Total>,
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
    pub fn new(functions: &'a [Function]) -> Bodies<'a> {
        let mut called: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in functions.iter().filter(|function| function.kernel.is_none()) {
            called.entry(&function.name).or_default().push(function);
        }
        Bodies { called, known: BTreeMap::new() }
    }

    /// What a function does.
    pub fn total(&mut self, function: &Function) -> Total {
        if let Some(total) = self.known.get(&std::ptr::from_ref(function)) {
            return total.clone();
        }
        // A function that calls itself, or another one of its name, adds nothing by that.
        self.known.insert(function, Total::default());
        let mut total = Total { own_arrays: function.body.arrays.len(), ..Total::default() };
        for (name, times) in function.body.called() {
            match name {
                _ if is_one_of("sync_threads", name) => total.barriers.block += times,
                _ if is_one_of("sync_warp", name) => total.barriers.warp += times,
                _ => {}
            }
            // One of the same file stands before those of others.
            let of_name = self.called.get(name).cloned().unwrap_or_default();
            let near: Vec<_> = of_name.iter().copied().filter(|other| other.file == function.file).collect();
            let candidates = if near.is_empty() { of_name } else { near };
            let totals: Vec<Total> = candidates.into_iter().map(|candidate| self.total(candidate)).collect();
            let Some(called) = totals.first() else { continue };
            if totals.iter().any(|other| other != called) {
                total.unclear.insert(name.to_owned());
            }
            total.barriers.block += times * called.barriers.block;
            total.barriers.warp += times * called.barriers.warp;
            total.called_arrays += times * (called.own_arrays + called.called_arrays);
            total.unclear.extend(called.unclear.iter().cloned());
        }
        self.known.insert(function, total.clone());
        total
    }
}

/// Whether `name` is that of a barrier, or continues it, as `sync_threads_count` does.
fn is_one_of(barrier: &str, name: &str) -> bool {
    name.strip_prefix(barrier).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}
