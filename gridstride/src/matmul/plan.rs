//! The plan of a product: its rung, and the operands that are packed first.
//!
//! # Design
//!
//! The kernels for tensor cores copy 16 bytes at once, and some of them take operands only with adjacent elements along
//! *k*. Other operands are first copied to a workspace with such rows. A copy costs *O*(*m k* + *k n*), the product
//! *O*(*m k n*). 8-bit floats are converted to `f16` by that copy, without rounding, if the rung multiplies `f16`
//! alone.

use cuda_std::{ArgumentId, Ladder};
use gpu::matmul::tuning::{ASYNC_STEPS, BlockSteps, ClusterSplit, ClusteredTile, MMA_STEPS};
use gpu::matmul::{MatmulRung, Strides, matmul_vector, tuning};
use gpu::matmul_warpgroup::matmul_mma_double;
use launch::Device;

use super::element::Packing;
use super::launches::tile;
use super::matrix::sizes;
use super::warpgroups::{STEP_BYTES, cluster_split, step, tile_of_clusters};
use super::{Layout, MatmulElement, MatrixError};
use crate::capabilities;
use crate::error::AlgorithmError;

/// What a product is planned for: the layouts of its operands, and the choice of the kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatmulOptions {
    /// The layout of *A*.
    pub a: Layout,
    /// The layout of *B*.
    pub b: Layout,
    /// Lets tensor cores multiply `f32` rounded to `tf32`, with 11 significant bits; the sums remain `f32`. Without
    /// this option, products of `f32` have the full precision. Other types ignore it.
    pub tf32: bool,
    /// Lets the operands begin at any element of a buffer. Without this option, they must begin at a multiple of 16
    /// bytes, as a buffer does.
    pub unaligned: bool,
    /// The rung that runs. With `None`, the types and the device select it.
    pub rung: Option<MatmulRung>,
    /// The layouts of the *A* and *B* of which this product has some rows of *A* and some columns of *B*, or `None` if
    /// it has all. The elements of *C* then have the bits that they have in the whole product on the same device.
    pub part_of: Option<[Layout; 2]>,
}

impl MatmulOptions {
    /// Returns the options for operands of these layouts that begin at a multiple of 16 bytes.
    pub const fn new(a: Layout, b: Layout) -> Self {
        Self { a, b, tf32: false, unaligned: false, rung: None, part_of: None }
    }

    /// Returns the options for an *A* of `m` × `k` and a *B* of `k` × `n` elements in row-major order.
    pub const fn row_major([m, n, k]: [usize; 3]) -> Self {
        Self::new(Layout::row_major(m, k), Layout::row_major(k, n))
    }
}

/// The plan of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    pub(super) rung: MatmulRung,
    /// *m*, *n*, *k* and the number of products.
    pub(super) sizes: [usize; 4],
    /// True if the rung multiplies elements of the type [`MatmulElement::Other`].
    pub(super) is_other: bool,
    /// The copies of *A* and *B* that precede the product.
    pub(super) packings: [Option<Packing>; 2],
    /// The number of parts into which the sums are split.
    pub(super) splits: u32,
    /// The tile of the rungs `Clustered` and `SplitK`.
    pub(super) clustered: ClusteredTile,
    /// The tile of the rung `ClusterSplit`.
    pub(super) cluster_split: ClusterSplit,
    /// True if the rung runs its kernel for `f64` by compute capability 9.0.
    pub(super) has_wide_doubles: bool,
    /// True if `matmul_vector` runs, in place of the rung and the copies.
    pub(super) is_vector: bool,
}

impl Plan {
    /// Returns the plan for products of elements of type `T` with results of type `C`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::Matrix`] if the matrices cannot be multiplied, and [`AlgorithmError::NotBuilt`] if no
    /// kernel, or not that of the chosen rung, is built for the types.
    pub fn new<T: MatmulElement, C: 'static>(device: &Device, options: &MatmulOptions) -> Result<Self, AlgorithmError> {
        let MatmulOptions { a, b, tf32, unaligned, rung, part_of } = *options;
        let [whole_a, whole_b] = part_of.unwrap_or([a, b]);
        for layout in [a, b, whole_a, whole_b] {
            layout.check_input(usize::MAX)?;
        }
        // The order of the additions depends on `whole` alone.
        let (sizes, whole) = (sizes(&a, &b)?, sizes(&whole_a, &whole_b)?);
        if sizes[0] > whole[0] || sizes[1] > whole[1] || sizes[2..] != whole[2..] {
            let text = format!("the product of {a} and {b} is no part of the product of {whole_a} and {whole_b}");
            return Err(MatrixError(text).into());
        }
        let (rung, is_other) = match rung {
            Some(rung) => (rung, kind::<T, C>(rung, tf32).ok_or_else(|| not_built::<T, C>(rung))?),
            None => default_kernel::<T, C>(device, tf32, whole, whole_a.is_transposed())?,
        };
        let must_convert = is_other && T::IS_EXACT;
        let size = if must_convert { size_of::<T::Other>() } else { size_of::<T>() };
        // The operands as rows along k.
        let packings = [(a, false), (b.t(), true)].map(|(layout, is_b)| {
            let is_aligned = !unaligned && layout.has_aligned_lines(size);
            let takes_across = size == 2 && (is_b || rung != MatmulRung::ClusterSplit);
            let is_packed = must_convert || must_pack(rung, is_aligned, !layout.is_transposed(), takes_across);
            is_packed.then(|| packing(&layout, 16 / size))
        });
        let splits = match rung {
            MatmulRung::SplitK => Some(splits::<T>(device, whole).0).filter(|&splits| splits > 1),
            MatmulRung::AsyncCopies => Some(block_splits(device, rung, ASYNC_STEPS, size, whole)),
            MatmulRung::MmaSync => Some(block_splits(device, rung, MMA_STEPS[usize::from(size == 8)], size, whole)),
            _ => Some(1),
        };
        let splits = splits.unwrap_or_else(|| least_splits::<T>(whole));
        let steps = sizes[2].div_ceil(STEP_BYTES / size) / splits as usize;
        let of_clusters = [sizes[0], sizes[1], steps, sizes[3].saturating_mul(splits as usize)];
        let operand = if is_other { ArgumentId::of::<T::Other>() } else { ArgumentId::of::<T>() };
        let result = if splits > 1 { ArgumentId::of::<T::Sum>() } else { ArgumentId::of::<C>() };
        let clustered = tile_of_clusters(device, [operand, result], of_clusters);
        let (cluster_split, _) = cluster_split(device, [operand, result], with_steps(whole, STEP_BYTES / size));
        let has_vector = is_vector::<T, C>(&a, &b) && is_vector::<T, C>(&whole_a, &whole_b);
        let is_vector = options.rung.is_none() && !unaligned && has_vector;
        Ok(Self {
            rung,
            sizes,
            is_other,
            packings,
            splits,
            clustered,
            cluster_split,
            is_vector,
            has_wide_doubles: rung == MatmulRung::MmaSync && has_wide_doubles::<T, C>(device)?,
        })
    }

    /// Returns the rung that runs, or that would run in place of the kernel for vectors: see
    /// [`is_vector`](Self::is_vector).
    pub fn rung(&self) -> MatmulRung {
        self.rung
    }

    /// Returns true if the kernel `matmul_vector` computes the product. This kernel is no rung: it multiplies a vector
    /// and a matrix at the speed of memory.
    ///
    /// By default it runs if *A* has one row or *B* has one column. The rows of *A* and the columns of *B* must have
    /// adjacent elements and begin at multiples of 16 bytes. With an epilogue for which it is not built, the rung runs.
    pub fn is_vector(&self) -> bool {
        self.is_vector
    }

    /// Returns the number of partial sums.
    pub(super) fn partials(&self) -> usize {
        let [m, n, ..] = self.sizes;
        if self.splits > 1 { m.saturating_mul(n).saturating_mul(self.splits as usize) } else { 0 }
    }

    /// Returns the numbers of elements of the workspace for *A* and *B*.
    pub(super) fn workspace(&self) -> [usize; 2] {
        self.packings.map(|packing| packing.map_or(0, |packing| packing.len()))
    }
}

impl Packing {
    /// Returns the number of elements of the copy.
    fn len(&self) -> usize {
        let rows = self.rows as usize * self.count as usize;
        rows.saturating_mul(self.to.row as usize)
    }
}

/// Returns the copy of the matrices of `layout` to rows whose length is a multiple of `multiple` elements.
fn packing(layout: &Layout, multiple: usize) -> Packing {
    let from = layout.strides();
    let row = layout.columns().next_multiple_of(multiple) as u64;
    let is_repeated = from.batch == 0;
    let count = if is_repeated { layout.count().min(1) } else { layout.count() };
    let batch = if is_repeated { 0 } else { layout.rows() as u64 * row };
    // The casts are lossless, because `check_input` has refused larger matrices.
    let [rows, k] = [layout.rows(), layout.columns()].map(|len| len as u32);
    Packing { rows, k, count: u32::try_from(count).unwrap_or(u32::MAX), from, to: Strides { row, column: 1, batch } }
}

/// Returns true if the rung does not take an operand whose rows or columns begin at multiples of 16 bytes if
/// `is_aligned` is true, and whose elements are adjacent along *k* if `is_along_k` is true. `takes_across` is true if
/// warpgroups read the operand in either order, as 16-bit floats in general.
fn must_pack(rung: MatmulRung, is_aligned: bool, is_along_k: bool, takes_across: bool) -> bool {
    match rung {
        MatmulRung::MmaSync | MatmulRung::Wgmma => !is_aligned || !is_along_k,
        MatmulRung::Pipelined | MatmulRung::Clustered | MatmulRung::SplitK | MatmulRung::ClusterSplit => {
            !is_aligned || !is_along_k && !takes_across
        }
        // The kernel copies an operand with adjacent elements along k in single elements.
        MatmulRung::AsyncCopies => !is_aligned && !is_along_k,
        _ => false,
    }
}

/// Returns true if `matmul_mma_double` multiplies `T` on `device`.
fn has_wide_doubles<T: MatmulElement, C: 'static>(device: &Device) -> Result<bool, AlgorithmError> {
    let types = [ArgumentId::of::<T>(), ArgumentId::of::<C>()];
    let is_built = matmul_mma_double::INSTANCES.iter().any(|kernel| kernel.arguments_begin_with(&types));
    // The simulator has every instruction.
    let has_products = |capability: Option<(u32, u32)>| capability.is_none_or(|capability| capability == (9, 0));
    Ok(is_built && has_products(device.properties()?.compute_capability))
}

/// Returns true if `matmul_vector` takes products of `T` with operands of these layouts.
fn is_vector<T: MatmulElement, C: 'static>(a: &Layout, b: &Layout) -> bool {
    let types = [ArgumentId::of::<T>(), ArgumentId::of::<C>()];
    let is_aligned = |elements: u64| elements.wrapping_mul(size_of::<T>() as u64).is_multiple_of(16);
    // The operands as rows along k.
    let takes = |layout: &Layout| {
        let strides = layout.strides();
        let has_aligned_rows = layout.rows() == 1 || is_aligned(strides.row);
        let has_aligned_matrices = layout.count() <= 1 || is_aligned(strides.batch);
        layout.columns() > 0 && strides.column == 1 && has_aligned_rows && has_aligned_matrices
    };
    (a.rows() == 1 || b.columns() == 1)
        && takes(a)
        && takes(&b.t())
        && matmul_vector::INSTANCES.iter().any(|kernel| kernel.arguments_begin_with(&types))
}

/// Returns the number of steps of `step` elements along *k* of a product whose sums can be split, and otherwise 1.
fn divisible_steps([.., k, batch]: [usize; 4], step: usize) -> u32 {
    let steps = u32::try_from(k / step).unwrap_or(u32::MAX);
    if batch == 1 && k.is_multiple_of(step) { steps.max(1) } else { 1 }
}

/// Returns the number of parts with which a product with split sums is fastest, 1 if it is not faster than others, and
/// its time.
fn splits<T>(device: &Device, sizes: [usize; 4]) -> (u32, u64) {
    let step = step::<T>() as usize;
    tuning::splits(with_steps(sizes, step), divisible_steps(sizes, step), device.multiprocessors())
}

/// Returns m, n, the number of steps of `step` elements along *k*, and the number of products.
fn with_steps([m, n, k, batch]: [usize; 4], step: usize) -> [u32; 4] {
    [m, n, k.div_ceil(step), batch].map(|size| u32::try_from(size).unwrap_or(u32::MAX))
}

/// Returns the number of parts of the sums with which a rung is fastest whose blocks compute one tile each. Elements
/// have `element_bytes` bytes.
fn block_splits(device: &Device, rung: MatmulRung, steps: BlockSteps, element_bytes: usize, sizes: [usize; 4]) -> u32 {
    let [m, n] = [sizes[0], sizes[1]].map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let count = divisible_steps(sizes, steps.bytes / element_bytes);
    let tile = tile(rung, 0, element_bytes);
    tuning::block_splits([m, n, count], tile, steps.time, device.multiprocessors())
}

/// Returns the smallest number of equal parts above 1, or 1 if there is none.
fn least_splits<T>(sizes: [usize; 4]) -> u32 {
    let steps = divisible_steps(sizes, step::<T>() as usize);
    (2..=steps.min(64)).find(|splits| steps.is_multiple_of(*splits)).unwrap_or(1)
}

/// Returns the kernel for products of `T` that runs by default on `device`: its rung, and true if it multiplies
/// elements of the type [`MatmulElement::Other`].
fn default_kernel<T: MatmulElement, C: 'static>(
    device: &Device,
    tf32: bool,
    sizes: [usize; 4],
    is_a_transposed: bool,
) -> Result<(MatmulRung, bool), AlgorithmError> {
    // The simulator runs every kernel, those for warpgroups more slowly than the others.
    let capability = device.properties()?.compute_capability;
    let is_recent = capability.is_none_or(|capability| capability >= (8, 0));
    let rungs = match capability {
        Some((9, 0)) => rungs_of_warpgroups::<T, C>(device, sizes, is_a_transposed),
        _ => Vec::new(),
    };
    let others: &[MatmulRung] = if is_recent { &[MatmulRung::MmaSync, MatmulRung::AsyncCopies] } else { &[] };
    let all = rungs.iter().chain(others).chain(&[MatmulRung::RegisterBlocks]);
    // The sums of 8-bit floats in tensor cores are less precise than those of the same numbers as `f16`.
    let has_precise = |rung: MatmulRung| {
        let is_narrow = T::IS_EXACT && ArgumentId::of::<T>() != ArgumentId::of::<T::Other>();
        is_narrow && rung.rung().entry(&[ArgumentId::of::<T::Other>(), ArgumentId::of::<C>()]).is_some()
    };
    let mut kernels = all.filter_map(|&rung| Some((rung, kind::<T, C>(rung, tf32)? || has_precise(rung))));
    kernels.next().ok_or_else(|| not_built::<T, C>(MatmulRung::RegisterBlocks))
}

/// Returns the rungs for warpgroups that may run by default, the fastest one first.
fn rungs_of_warpgroups<T: 'static, C: 'static>(
    device: &Device,
    sizes: [usize; 4],
    is_a_transposed: bool,
) -> Vec<MatmulRung> {
    let (splits, time) = splits::<T>(device, sizes);
    let undivided = if splits > 1 { MatmulRung::SplitK } else { MatmulRung::Clustered };
    let types = [ArgumentId::of::<T>(), ArgumentId::of::<C>()];
    let (_, of_clusters) = cluster_split(device, types, with_steps(sizes, step::<T>() as usize));
    // The rung takes an A that is transposed only after a copy.
    match !is_a_transposed && of_clusters < time {
        true => vec![MatmulRung::ClusterSplit, undivided],
        false => vec![undivided],
    }
}

/// Returns true if the rung multiplies elements of type [`MatmulElement::Other`] in a product of `T`, false if it
/// multiplies elements of type `T`, and `None` if it is built for neither.
fn kind<T: MatmulElement, C: 'static>(rung: MatmulRung, tf32: bool) -> Option<bool> {
    let result = ArgumentId::of::<C>();
    let is_built = |operand: ArgumentId| rung.rung().entry(&[operand, result]).is_some();
    let (own, other) = (is_built(ArgumentId::of::<T>()), is_built(ArgumentId::of::<T::Other>()));
    match (own, other) {
        (_, true) if tf32 && !T::IS_EXACT => Some(true),
        (true, _) => Some(false),
        (false, true) if T::IS_EXACT => Some(true),
        _ => None,
    }
}

/// Returns the error for a rung that has no kernel for products of `T` with results of type `C`.
pub(super) fn not_built<T, C>(rung: MatmulRung) -> AlgorithmError {
    let name = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
    let [operand, result] = [name(std::any::type_name::<T>()), name(std::any::type_name::<C>())];
    let mut offered: Vec<String> = Vec::new();
    for entry in rung.rung().entries() {
        if let [operand, result, ..] = entry.arguments {
            let text = format!("{} to {}", operand.name, result.name);
            if !offered.contains(&text) {
                offered.push(text);
            }
        }
    }
    capabilities::refused(rung.rung(), format!("a product of {operand} to {result}"), offered.join(", "))
}
