//! Processes the compiler's PTX: sets launch bounds, and removes all text that differs between machines.
//!
//! - `#[kernel(max_threads = M, min_blocks = B)]` has no counterpart in `rustc`. The attribute leaves the comment `//
//!   cuda_std launch_bounds <kernel> <M> <B>` (`B` = 0: none), which this module turns into `.maxntid` and
//!   `.minnctapersm`.
//! - `#[kernel(cluster = …)]` leaves the comment `// cuda_std cluster <kernel> <x> <y> <z>`. It becomes
//!   `.explicitcluster` and `.reqnctapercluster` from sm_90 on, and nothing for older architectures, which have no
//!   clusters.
//! - A function cannot declare a shared array whose size is only known inside the function. It leaves the comment `//
//!   cuda_std shared_array <symbol> <bytes>` before it uses the symbol, and this module declares the array.
//! - A tensor map is a parameter that is aligned to 64 bytes. The compiler aligns it to 16 and leaves the comment `//
//!   cuda_std tensor_map <parameter>`.
//! - The operands of `asm!` are registers and numbers. A name of types, such as that of a product of tensor cores, is
//!   written as `cuda_std_ascii(<number>)`, and this module writes the characters in the number's bytes.
//! - Dynamic shared memory is aligned to 1024 bytes in a module with tensor maps or products of warpgroups, whose tiles
//!   need this alignment.
//! - `rustc` puts no static into constant memory. This module moves a static there for `// cuda_std constant <symbol>`.
//! - Atomic operations on 128 bits and products of 8-bit floats need PTX 8.4, and conversions of 8-bit floats 8.1.
//!   Relaxed arrivals at a cluster's barrier, bulk copies, transaction counts of barriers, proxy fences, products of
//!   warpgroups and changes of the number of registers need 8.0.
//!   LLVM writes an older version for sm_89 and sm_90. This module raises the version of a module that has such an
//!   instruction.
//! - If an architecture lacks the instructions of a part of `cuda_std`, the PTX contains a fallback, marked by the
//!   comment `// cuda_std fallback <part> <architecture>`. This module removes the comment, and
//!   [`BuildOutput`](crate::BuildOutput) lists the parts.
//! - `core` compares slices of integers by `memcmp`, which no library defines for GPUs. This module adds the body of
//!   `memcmp`.
//! - Symbol names contain hashes of compiler flags and folders. This module replaces the hashes by numbers in order of
//!   appearance.
//! - Trailing blanks, repeated empty lines and LLVM's comments around inline assembly are removed, and a header that
//!   describes the text's origin is added.

mod ascii;
mod externs;
mod fallbacks;
mod flush;
mod header;
mod parameters;
mod spaces;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

pub use fallbacks::{Fallback, take as take_fallbacks};
pub use flush::flush_subnormals;
pub use header::Header;

/// The comments that LLVM writes before and after inline assembly.
const INLINE: [&str; 2] = ["// begin inline asm", "// end inline asm"];

/// The start of the comment with a kernel's launch bounds.
const LAUNCH_BOUNDS: &str = "// cuda_std launch_bounds ";

/// The start of the comment with the size of a kernel's clusters.
const CLUSTER: &str = "// cuda_std cluster ";

/// An error in a PTX text.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PtxError {
    /// A launch bounds comment does not have the form that the message shows.
    #[error("cannot read the launch bounds in `{0}`: expected `{LAUNCH_BOUNDS}<kernel> <threads> <blocks>`")]
    Malformed(String),
    /// A cluster comment does not have the form that the message shows.
    #[error("cannot read the size of clusters in `{0}`: expected `{CLUSTER}<kernel> <x> <y> <z>`")]
    MalformedCluster(String),
    /// The launch bounds of a kernel allow more threads than a block can have, or none.
    #[error("kernel `{kernel}` has launch bounds of {threads} threads per block: use 1 to 1024")]
    Threads {
        /// The name of the kernel in the PTX.
        kernel: String,
        /// The maximum number of threads in the kernel's launch bounds.
        threads: u32,
    },
    /// A launch bounds comment names no kernel of the PTX.
    #[error("launch bounds are set for `{0}`, but this module has no such kernel: use a kernel's name")]
    UnknownKernel(String),
    /// A text in a number has other characters than ASCII's visible ones.
    #[error("cannot read the text in `{0}`: expected `cuda_std_ascii(<number>)` with characters in the number's bytes")]
    Ascii(String),
    /// A comment about a symbol's state space is malformed or names no static.
    #[error("the comment `{0}` is malformed or names a static that the PTX does not declare")]
    Space(String),
    /// The kernels call a function that neither the crate nor the driver defines.
    #[error(
        "the kernels call `{0}`, which is declared `extern` but not defined: define it, or \
        call only functions of the driver: {known}",
        known = externs::PROVIDED.join(", ")
    )]
    Undefined(String),
    /// A kernel has two different launch bounds.
    #[error("kernel `{0}` has two different launch bounds: keep one of them")]
    Contradiction(String),
}

impl std::fmt::Debug for PtxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Bounds {
    /// The maximum number of threads per block, or 0 if there is no bound.
    threads: u32,
    blocks: u32,
    /// The size of the clusters, or zeros if it is not fixed.
    cluster: [u32; 3],
}

/// Returns the final text of a module: `header`, and below it the compiler's `ptx` in processed form.
///
/// # Errors
/// If a launch bounds comment is malformed or names no kernel of the module, or if a called function is not defined.
pub fn finish(ptx: &str, header: &Header) -> Result<String, PtxError> {
    Ok(format!("{header}{}", process(ptx)?))
}

/// Returns the text that [`finish`] returns, without the header.
///
/// # Errors
/// The errors of [`finish`].
pub fn process(ptx: &str) -> Result<String, PtxError> {
    let ptx = ascii::spell(ptx)?;
    let ptx = externs::define_comparisons(&ptx);
    match externs::undefined(&ptx) {
        Some(function) => Err(PtxError::Undefined(function.to_owned())),
        None => {
            let ptx = spaces::place(&apply_launch_bounds(&ptx)?)?;
            let ptx = spaces::align_dynamic(ptx);
            Ok(trim(&rename_hashes(&parameters::align_tensor_maps(raise_version(ptx)))))
        }
    }
}

/// Returns `ptx` with at least the version that its instructions need.
fn raise_version(ptx: String) -> String {
    // The highest versions come first.
    const NEEDED: [(&str, (u32, u32)); 17] = [
        (".b128 ", (8, 4)),
        (".col.f32.e4m3.", (8, 4)),
        (".col.f32.e5m2.", (8, 4)),
        // Products of warpgroups.
        (".s32.s8.u8 ", (8, 4)),
        (".s32.u8.s8 ", (8, 4)),
        (".e4m3x2", (8, 1)),
        (".e5m2x2", (8, 1)),
        ("barrier.cluster.arrive.relaxed", (8, 0)),
        (".async.bulk", (8, 0)),
        (".expect_tx", (8, 0)),
        ("mbarrier.arrive.shared::cluster", (8, 0)),
        ("fence.proxy.async", (8, 0)),
        ("fence.mbarrier_init", (8, 0)),
        ("elect.sync", (8, 0)),
        ("prefetch.tensormap", (8, 0)),
        ("wgmma.", (8, 0)),
        ("setmaxnreg.", (8, 0)),
    ];
    let Some((_, needed)) = NEEDED.into_iter().find(|(instruction, _)| ptx.contains(instruction)) else { return ptx };
    let version = |line: &str| -> Option<(u32, u32)> {
        let (major, minor) = line.strip_prefix(".version ")?.trim().split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let line = ptx.lines().find(|line| version(line).is_some_and(|found| found < needed));
    match line {
        Some(line) => ptx.replacen(line, &format!(".version {}.{}", needed.0, needed.1), 1),
        None => ptx,
    }
}

fn parse_bounds(line: &str, rest: &str) -> Result<(String, Bounds), PtxError> {
    let malformed = || PtxError::Malformed(line.to_owned());
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [kernel, threads, blocks] = words[..] else { return Err(malformed()) };
    let threads = threads.parse().map_err(|_| malformed())?;
    let blocks = blocks.parse().map_err(|_| malformed())?;
    if !(1..=1024).contains(&threads) {
        return Err(PtxError::Threads { kernel: kernel.to_owned(), threads });
    }
    Ok((kernel.to_owned(), Bounds { threads, blocks, ..Bounds::default() }))
}

fn parse_cluster(line: &str, rest: &str) -> Result<(String, [u32; 3]), PtxError> {
    let malformed = || PtxError::MalformedCluster(line.to_owned());
    let mut words = rest.split_whitespace();
    let kernel = words.next().ok_or_else(malformed)?;
    let sizes = words.map(str::parse).collect::<Result<Vec<u32>, _>>().map_err(|_| malformed())?;
    Ok((kernel.to_owned(), sizes.try_into().map_err(|_| malformed())?))
}

/// Returns true if the architecture of `ptx` has clusters.
fn has_clusters(ptx: &str) -> bool {
    let target = ptx.lines().find_map(|line| line.strip_prefix(".target sm_"));
    let digits = target.map(|target| target.trim_end_matches(|c: char| !c.is_ascii_digit()));
    digits.and_then(|digits| digits.parse::<u32>().ok()).is_some_and(|arch| arch >= 90)
}

/// Returns the name of the kernel whose entry starts in this line.
pub(crate) fn entry_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once(".entry ")?;
    let is_directive = before.split_whitespace().all(|word| word.starts_with('.'));
    let end = after.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(after.len());
    (is_directive && end > 0).then(|| &after[..end])
}

/// Replaces the launch bounds comments by directives between an entry's parameters and its body.
fn apply_launch_bounds(ptx: &str) -> Result<String, PtxError> {
    let mut bounds: BTreeMap<String, Bounds> = BTreeMap::new();
    let mut lines = Vec::new();
    let has_clusters = has_clusters(ptx);
    for line in ptx.lines() {
        if let Some(rest) = line.trim().strip_prefix(CLUSTER.trim_end()) {
            let (kernel, cluster) = parse_cluster(line.trim(), rest)?;
            let bounds = bounds.entry(kernel.clone()).or_default();
            let is_new = bounds.cluster == [0; 3] || bounds.cluster == cluster;
            bounds.cluster = cluster;
            if is_new { continue } else { return Err(PtxError::Contradiction(kernel)) }
        }
        let Some(rest) = line.trim().strip_prefix(LAUNCH_BOUNDS.trim_end()) else {
            lines.push(line);
            continue;
        };
        let (kernel, found) = parse_bounds(line.trim(), rest)?;
        let bounds = bounds.entry(kernel.clone()).or_default();
        if bounds.threads > 0 && (bounds.threads, bounds.blocks) != (found.threads, found.blocks) {
            return Err(PtxError::Contradiction(kernel));
        }
        (bounds.threads, bounds.blocks) = (found.threads, found.blocks);
    }

    let mut text = String::with_capacity(ptx.len() + 64);
    let mut pending: Option<Bounds> = None;
    for line in lines {
        if let Some(kernel) = entry_name(line) {
            pending = bounds.remove(kernel);
        }
        // The brace of the body is alone in its line; a parameter list contains none.
        if line.trim() == "{"
            && let Some(Bounds { threads, blocks, cluster: [x, y, z] }) = pending.take()
        {
            if threads > 0 {
                let _ = writeln!(text, ".maxntid {threads}, 1, 1");
            }
            if x > 0 && has_clusters {
                let _ = writeln!(text, ".explicitcluster\n.reqnctapercluster {x}, {y}, {z}");
            }
            if blocks > 0 {
                let _ = writeln!(text, ".minnctapersm {blocks}");
            }
        }
        text.push_str(line);
        text.push('\n');
    }
    match bounds.into_keys().next() {
        Some(kernel) => Err(PtxError::UnknownKernel(kernel)),
        None => Ok(text),
    }
}

/// Replaces the hashes in symbol names by numbers, in order of appearance.
fn rename_hashes(ptx: &str) -> String {
    let mut names = Names::default();
    let mut text = String::with_capacity(ptx.len());
    let mut rest = ptx;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    while let Some(start) = rest.find(is_part) {
        let (before, symbol) = rest.split_at(start);
        text.push_str(before);
        let end = symbol.find(|c| !is_part(c)).unwrap_or(symbol.len());
        names.rename(&symbol[..end], &mut text);
        rest = &symbol[end..];
    }
    text.push_str(rest);
    text
}

/// The hashes found so far, with their numbers, for each kind of symbol.
#[derive(Default)]
struct Names {
    crates: HashMap<String, usize>,
    items: HashMap<String, usize>,
    constants: HashMap<String, usize>,
}

impl Names {
    fn rename(&mut self, symbol: &str, out: &mut String) {
        let index = |names: &mut HashMap<String, usize>, hash: &str| {
            let next = names.len();
            *names.entry(hash.to_owned()).or_insert(next)
        };
        let is_constant = |hash: &str, _: &str| hash.len() == 32;
        if symbol.starts_with("_R") {
            // `Cs<hash>_` precedes a crate's name. The replacements `Cs_`, `Cs0_`, `Cs1_`, … are the mangling scheme's
            // first, second and third number.
            let is_crate = |hash: &str, after: &str| hash.len() >= 6 && after.starts_with('_');
            let number = |hash: &str| match index(&mut self.crates, hash) {
                0 => String::new(),
                other => (other - 1).to_string(),
            };
            rewrite(symbol, "Cs", |c| c.is_ascii_alphanumeric(), is_crate, out, number);
        } else if symbol.starts_with("_ZN") {
            let is_item = |hash: &str, after: &str| hash.len() == 16 && after.starts_with('E');
            rewrite(symbol, "17h", is_hex, is_item, out, |hash| format!("{:016x}", index(&mut self.items, hash)));
        } else if let Some(mark) = ["anon_$_", "alloc_"].into_iter().find(|mark| symbol.starts_with(mark)) {
            let number = |hash: &str| index(&mut self.constants, hash).to_string();
            rewrite(symbol, mark, is_hex, is_constant, out, number);
        } else {
            out.push_str(symbol);
        }
    }
}

fn is_hex(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f')
}

/// Copies `symbol` to the output, and replaces each hash in it: a run of `digits` that follows `mark` and passes
/// `is_hash`.
fn rewrite(
    symbol: &str,
    mark: &str,
    digits: fn(char) -> bool,
    is_hash: impl Fn(&str, &str) -> bool,
    out: &mut String,
    mut replacement: impl FnMut(&str) -> String,
) {
    let mut rest = symbol;
    while let Some(start) = rest.find(mark) {
        let (before, after) = rest.split_at(start + mark.len());
        out.push_str(before);
        let end = after.find(|c| !digits(c)).unwrap_or(after.len());
        let (run, after_run) = after.split_at(end);
        if is_hash(run, after_run) {
            out.push_str(&replacement(run));
            rest = after_run;
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
}

/// Removes trailing blanks, repeated empty lines, empty lines at the end, and the comments around inline assembly.
fn trim(ptx: &str) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut empty = false;
    for line in ptx.lines().map(str::trim_end).filter(|line| !INLINE.contains(&line.trim_start())) {
        if line.is_empty() {
            empty = true;
            continue;
        }
        if std::mem::take(&mut empty) && !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
