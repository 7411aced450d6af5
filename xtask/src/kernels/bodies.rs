//! Counts the barriers and shared arrays in the sources of kernels and of the functions that the kernels call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;

use super::functions::{Body, Function, Functions};
use super::{Kernel, kernels};
use crate::ptx::Barriers;

/// A kernel with the barriers and shared arrays of its source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Source {
    pub kernel: Kernel,
    /// The number of calls of barriers, in the kernel and in the functions that it calls.
    pub barriers: Barriers,
    /// The ambiguous names of called functions: several functions have the name, and their barriers or shared arrays
    /// differ.
    pub unclear: BTreeSet<String>,
    /// The sizes in bytes of the shared arrays in the kernel's body. `None` for a size that the source does not state.
    pub arrays: Vec<Option<u64>>,
    /// The number of shared arrays in the functions that the kernel calls.
    pub called_arrays: usize,
}

/// Returns the kernels in source texts, in the order in which [`kernels`] returns them.
pub(super) fn sources(files: &[(PathBuf, String)]) -> Result<Vec<Source>> {
    let declared = Functions::read(files)?;
    let mut bodies = Bodies::new(&declared.functions);
    let mut kernels = kernels(files)?.into_iter();
    let mut found = Vec::new();
    for function in &declared.functions {
        let instances = function.kernel.iter().flat_map(|attribute| &attribute.instances);
        for (instance, kernel) in instances.zip(&mut kernels) {
            let Total { barriers, called_arrays, unclear, .. } = bodies.total(function);
            let size = |array: &_| declared.constants.bytes(function.file, array, &instance.arguments);
            let arrays = function.body.arrays.iter().map(size).collect();
            found.push(Source { kernel, barriers, unclear, arrays, called_arrays });
        }
    }
    Ok(found)
}

/// Returns the number of calls of each function in a body, by name.
fn called(body: &Body) -> BTreeMap<&str, usize> {
    let mut called = BTreeMap::new();
    for (name, _) in &body.calls {
        *called.entry(name.as_str()).or_default() += 1;
    }
    called
}

/// The functions and macros that are not kernels, by name.
struct Bodies<'a> {
    called: BTreeMap<&'a str, Vec<&'a Function>>,
    /// The totals computed so far, by the address of the function.
    known: BTreeMap<*const Function, Total>,
}

/// The barriers and shared arrays of a function and of the functions that it calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Total {
    barriers: Barriers,
    /// The number of shared arrays in the called functions.
    called_arrays: usize,
    /// The ambiguous names of called functions.
    unclear: BTreeSet<String>,
    own_arrays: usize,
}

impl<'a> Bodies<'a> {
    fn new(functions: &'a [Function]) -> Bodies<'a> {
        let mut called: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
        for function in functions.iter().filter(|function| function.kernel.is_none()) {
            called.entry(&function.name).or_default().push(function);
        }
        Bodies { called, known: BTreeMap::new() }
    }

    /// Returns the total of a function and of the functions that it calls.
    fn total(&mut self, function: &Function) -> Total {
        if let Some(total) = self.known.get(&std::ptr::from_ref(function)) {
            return total.clone();
        }
        // A recursive call adds nothing.
        self.known.insert(function, Total::default());
        let mut total = Total { own_arrays: function.body.arrays.len(), ..Total::default() };
        for (name, times) in called(&function.body) {
            match name {
                _ if is_one_of("sync_threads", name) => total.barriers.block += times,
                _ if is_one_of("sync_warp", name) => total.barriers.warp += times,
                _ => {}
            }
            // A function of the same file takes precedence.
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

/// Returns true if `name` is `barrier` or extends it, as `sync_threads_count` extends `sync_threads`.
fn is_one_of(barrier: &str, name: &str) -> bool {
    name.strip_prefix(barrier).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}
