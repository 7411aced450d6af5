//! The launches of the kernels for warpgroups, which only GPUs of compute capability 9.0 have.
//!
//! # Design
//!
//! These kernels read *A* and *B* by tensor maps, which need rows (or columns) that begin at multiples of 16 bytes. The
//! plan packs other operands. *C* may have any layout: one to which boxes cannot be stored is written element by
//! element.
//!
//! By default the plan takes the rung whose time [`gpu::matmul::tuning`] estimates as the shortest. For the rung
//! `ClusterSplit` it asks the device how many clusters run at once: a second round of clusters would double the time.

use cuda_std::__private::ExportedInstances;
use cuda_std::bulk::{TensorMap, TensorMapMut};
use cuda_std::tensor::tf32;
use cuda_std::{ArgumentId, Call, Element, Global, GlobalMut, bf16, e4m3, e5m2, f16};
use gpu::matmul::tuning::{COMBINE, ClusterSplit, ClusteredTile, clustered_tile};
use gpu::matmul::{Epilogue, Linear, MatmulRung, Operand, Output, Problem, Strides, Sum, matmul_combine};
use gpu::matmul_warpgroup::{
    A_ACROSS, B_ACROSS, CLUSTER_SPLIT_THREADS, SHARED_BYTES, STORES, THREADS, TILE_ROWS, WIDE, cluster_split_bytes,
    matmul_cluster_split, matmul_clustered, matmul_pipelined, matmul_wgmma, wgmma_bytes,
};
use launch::{Buffer, Device, LaunchConfig, Queue, Swizzle, TensorElement};

use super::launches::{Arguments, launch, not_built_with};
use super::plan::Plan;
use crate::error::AlgorithmError;

/// The number of bytes of a step along *k*.
pub(super) const STEP_BYTES: usize = 128;
/// The rows of a box of a tensor map.
const BOX_ROWS: usize = 64;
/// The index of the number of columns of a tile in the generic arguments of `matmul_clustered`.
const COLUMNS: usize = 3;
/// The tile of the rung `Wgmma`.
const WGMMA: [u32; 2] = [64, 128];
/// The number of columns of the tile of the rung `Pipelined`.
const PIPELINED_COLUMNS: u32 = 256;

/// The arguments of a kernel for warpgroups.
#[doc(hidden)]
pub struct WarpgroupArguments<'v, U: Element, C: Element, E> {
    pub problem: Problem,
    pub flags: u32,
    pub a: TensorMap<'v, U, 3>,
    pub b: TensorMap<'v, U, 3>,
    pub stores: TensorMapMut<'v, C, 3>,
    pub c: GlobalMut<'v, C>,
    pub bias: Global<'v, C>,
    pub epilogue: E,
    /// The kernels of another crate with this epilogue.
    pub exported: ExportedInstances,
}

/// A type of sums, which may also be the type of a result.
#[doc(hidden)]
pub trait Summed: Sum + Output<Self> + TensorElement + PartialEq {}

impl<S: Sum + Output<S> + TensorElement + PartialEq> Summed for S {}

/// A type of operands, which warpgroups may be able to multiply.
#[doc(hidden)]
pub trait WarpgroupOperand: Operand<Sum: Summed> + TensorElement {
    /// Returns the call of the rung's kernel for tiles of `columns` columns, or `None` if it is not built.
    /// Those of `ClusterSplit` have that many rows, and 128 columns.
    fn call<'v, C: Output<Self::Sum> + TensorElement, E: Epilogue<Self::Sum, C> + 'static>(
        rung: MatmulRung,
        columns: u32,
        arguments: WarpgroupArguments<'v, Self, C, E>,
    ) -> Option<Call<'v>>;
}

macro_rules! operands {
    ($($type:ident $k:literal)*) => {$(
        impl WarpgroupOperand for $type {
            fn call<'v, C: Output<Self::Sum> + TensorElement, E: Epilogue<Self::Sum, C> + 'static>(
                rung: MatmulRung,
                columns: u32,
                arguments: WarpgroupArguments<'v, Self, C, E>,
            ) -> Option<Call<'v>> {
                let WarpgroupArguments { problem, flags, a, b, stores, c, bias, epilogue, exported } = arguments;
                match (rung, columns) {
                    (MatmulRung::Wgmma, _) => {
                        matmul_wgmma::if_built::<Self, C, E, 128, $k>(problem, a, b, c, bias, epilogue)
                    }
                    (MatmulRung::Pipelined, _) => {
                        matmul_pipelined::if_built::<Self, C, E, 256, $k>(problem, flags, a, b, c, bias, epilogue)
                    }
                    (MatmulRung::ClusterSplit, 32) => matmul_cluster_split::if_built_in::<Self, C, E, 32, $k>(
                        exported, problem, flags, a, b, c, bias, epilogue,
                    ),
                    (MatmulRung::ClusterSplit, 64) => matmul_cluster_split::if_built_in::<Self, C, E, 64, $k>(
                        exported, problem, flags, a, b, c, bias, epilogue,
                    ),
                    (MatmulRung::ClusterSplit, _) => matmul_cluster_split::if_built_in::<Self, C, E, 128, $k>(
                        exported, problem, flags, a, b, c, bias, epilogue,
                    ),
                    (_, 256) => matmul_clustered::if_built_in::<Self, C, E, 256, $k>(
                        exported, problem, flags, a, b, stores, c, bias, epilogue,
                    ),
                    (_, 192) => matmul_clustered::if_built_in::<Self, C, E, 192, $k>(
                        exported, problem, flags, a, b, stores, c, bias, epilogue,
                    ),
                    _ => matmul_clustered::if_built_in::<Self, C, E, 128, $k>(
                        exported, problem, flags, a, b, stores, c, bias, epilogue,
                    ),
                }
            }
        }
    )*};
}

operands! { tf32 32 f16 64 bf16 64 e4m3 128 e5m2 128 i8 128 }

macro_rules! others {
    ($($type:ident)*) => {$(
        impl WarpgroupOperand for $type {
            fn call<'v, C: Output<Self::Sum> + TensorElement, E: Epilogue<Self::Sum, C> + 'static>(
                _: MatmulRung,
                _: u32,
                _: WarpgroupArguments<'v, Self, C, E>,
            ) -> Option<Call<'v>> {
                None
            }
        }
    )*};
}

others! { f32 f64 }

/// Returns the tile by which the rung `Clustered` multiplies fastest: of those that are built for operands and results
/// of `types`. `sizes` are m, n, the number of steps along k, and the number of products.
pub(super) fn tile_of_clusters(device: &Device, types: [ArgumentId; 2], sizes: [usize; 4]) -> ClusteredTile {
    let sizes = sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let is_built = |tile: &ClusteredTile| {
        let width = ArgumentId::value(tile.columns.into());
        matmul_clustered::INSTANCES.iter().any(|kernel| {
            kernel.arguments_begin_with(&types) && kernel.arguments.get(COLUMNS).is_some_and(|found| found.id == width)
        })
    };
    clustered_tile(sizes, device.multiprocessors(), is_built)
}

/// Returns the tile and the number of blocks with which the rung `ClusterSplit` is fastest, and its time in the unit of
/// [`ClusteredTile::cycles`]; the longest time if it is not built for operands and results of `types`. `sizes` are m,
/// n, the number of steps along k, and the number of products.
pub(super) fn cluster_split(device: &Device, types: [ArgumentId; 2], sizes: [u32; 4]) -> (ClusterSplit, u64) {
    let instances = matmul_cluster_split::INSTANCES;
    let Some(kernel) = instances.iter().find(|kernel| kernel.arguments_begin_with(&types)) else {
        return (ClusterSplit { rows: TILE_ROWS as u32, blocks: 1 }, u64::MAX);
    };
    let active = |blocks: u32| {
        let config = split_config([blocks, 1, 1], blocks, TILE_ROWS as u32);
        // The modules of a device need not have the kernel; that of another crate then runs.
        device.max_active_clusters(kernel, config).unwrap_or(u32::MAX)
    };
    ClusterSplit::fastest(sizes, device.multiprocessors(), active)
}

/// Returns the configuration of the rung `ClusterSplit` for clusters of `blocks` blocks and tiles of `rows` rows.
fn split_config([x, y, z]: [u32; 3], blocks: u32, rows: u32) -> LaunchConfig {
    let config = LaunchConfig::new((x, y, z), CLUSTER_SPLIT_THREADS).cluster(blocks);
    config.shared_bytes(cluster_split_bytes(rows as usize) as u32)
}

/// Returns the launch of the rung's kernel, or no call if it is not built for these types. `spare` is memory for a map
/// that no thread reads.
pub(super) fn kernel<'v, U: WarpgroupOperand, C: Output<U::Sum> + TensorElement, E: Epilogue<U::Sum, C> + 'static>(
    queue: Queue<'_>,
    plan: &Plan,
    rung: MatmulRung,
    arguments: Arguments<'v, U, C, E>,
    spare: GlobalMut<'v, C>,
) -> Result<(LaunchConfig, Option<Call<'v>>), AlgorithmError> {
    let device = queue.device();
    let Arguments { problem, a, b, c, bias, epilogue, exported } = arguments;
    let Problem { m, n, k, batch, .. } = problem;
    // The operands as matrices of rows by k.
    let of_b = Strides { row: problem.b.column, column: problem.b.row, ..problem.b };
    let columns = match rung {
        MatmulRung::Wgmma => WGMMA[1],
        MatmulRung::Pipelined => PIPELINED_COLUMNS,
        MatmulRung::ClusterSplit => plan.cluster_split.rows,
        _ => plan.clustered.columns,
    };
    let rows_of_a = if rung == MatmulRung::ClusterSplit { BOX_ROWS.min(columns as usize) } else { BOX_ROWS };
    let (map_a, is_a_across) = operand(device, a, [m, k, batch], problem.a, rows_of_a)?;
    let (map_b, is_b_across) = operand(device, b, [n, k, batch], of_b, BOX_ROWS)?;
    let stores = match rung {
        MatmulRung::Clustered | MatmulRung::SplitK => result(device, c, [m, n, batch], problem.c)?,
        _ => None,
    };
    let mut flags = if is_a_across { A_ACROSS } else { 0 } | if is_b_across { B_ACROSS } else { 0 };
    flags |= if stores.is_some() { STORES } else { 0 };
    flags |= if plan.clustered.is_wide { WIDE } else { 0 };
    let stores = match stores {
        Some(map) => map,
        // A map that no thread reads.
        None => {
            let map = device.tensor_map(spare, [1, 1, 1]).strides([1, 16, 16]).tile(tile::<C>(BOX_ROWS));
            map.swizzle(Swizzle::Bytes128).build()?
        }
    };
    let arguments = WarpgroupArguments { problem, flags, a: map_a, b: map_b, stores, c, bias, epilogue, exported };
    let rows = TILE_ROWS as u32;
    let config = match rung {
        MatmulRung::Wgmma => {
            let grid = (n.div_ceil(columns), m.div_ceil(WGMMA[0]), batch);
            LaunchConfig::new(grid, 128).shared_bytes(wgmma_bytes(columns as usize) as u32)
        }
        MatmulRung::Pipelined => {
            let grid = (n.div_ceil(columns), m.div_ceil(rows), batch);
            LaunchConfig::new(grid, THREADS).shared_bytes(SHARED_BYTES as u32)
        }
        MatmulRung::ClusterSplit => {
            let ClusterSplit { rows, blocks } = plan.cluster_split;
            split_config([blocks * n.div_ceil(TILE_ROWS as u32), m.div_ceil(rows), batch], blocks, rows)
        }
        _ => {
            let tiles = plan.clustered.count(m, n) * u64::from(batch);
            let clusters = tiles.min(u64::from(device.multiprocessors() / 2).max(1));
            LaunchConfig::new(2 * clusters as u32, THREADS).shared_bytes(SHARED_BYTES as u32)
        }
    };
    Ok((config, U::call(rung, columns, arguments)))
}

/// Returns the number of elements of a step along *k* for operands of type `U`.
pub(super) const fn step<U>() -> u32 {
    (STEP_BYTES / size_of::<U>()) as u32
}

/// Launches a product whose sums are split: the products of the parts as a batch, and the kernel that adds them.
/// `partials` has an element for each part of each sum.
pub(super) fn launch_split<U: WarpgroupOperand, C: Output<U::Sum> + TensorElement, E: Epilogue<U::Sum, C> + 'static>(
    queue: Queue<'_>,
    plan: &Plan,
    arguments: Arguments<'_, U, C, E>,
    partials: &mut Buffer<U::Sum>,
    spare: &mut Buffer<U::Sum>,
) -> Result<(), AlgorithmError> {
    let Arguments { problem, a, b, c, bias, epilogue, exported } = arguments;
    let (Problem { m, n, k, .. }, Plan { rung, splits, .. }) = (problem, *plan);
    let part = u64::from(k / splits);
    let of_parts = Problem {
        k: k / splits,
        batch: splits,
        a: Strides { batch: part * problem.a.column, ..problem.a },
        b: Strides { batch: part * problem.b.row, ..problem.b },
        c: Strides { row: n.into(), column: 1, batch: u64::from(m) * u64::from(n) },
        ..problem
    };
    let sums = Linear { alpha: U::Sum::ONE, beta: U::Sum::ZERO, steps: 0 };
    let none = spare.view();
    let no_bias = none.part(0, 0);
    let (c_of_parts, none_exported) = (partials.view_mut(), ExportedInstances::NONE);
    let of_parts =
        Arguments { problem: of_parts, a, b, c: c_of_parts, bias: no_bias, epilogue: sums, exported: none_exported };
    // SAFETY: no kernel reads or writes the memory of `spare`.
    let spare = unsafe { GlobalMut::from_raw_parts(none.as_ptr().cast_mut(), none.len(), none.device()) };
    let rung_of_parts = if rung == MatmulRung::SplitK { MatmulRung::Clustered } else { rung };
    launch(queue, plan, rung_of_parts, of_parts, spare)?;
    let grid = (n.div_ceil(COMBINE.columns), m.div_ceil(COMBINE.rows), 1);
    let call =
        matmul_combine::if_built_in::<U::Sum, C, E>(exported, splits, problem, partials.view(), c, bias, epilogue);
    let call = call.ok_or_else(|| not_built_with::<U, C, E>(rung))?;
    Ok(queue.launch(LaunchConfig::new(grid, COMBINE.threads), call)?)
}

/// Returns the map of an operand of `rows` × `k` elements per product with boxes of `box_rows` rows, and true if its
/// rows are contiguous. The boxes then have 64 rows.
fn operand<'v, U: TensorElement>(
    device: &Device,
    x: Global<'v, U>,
    [rows, k, batch]: [u32; 3],
    strides: Strides,
    box_rows: usize,
) -> Result<(TensorMap<'v, U, 3>, bool), AlgorithmError> {
    let is_across = strides.column != 1;
    let (sizes, line) = if is_across { ([rows, k], strides.column) } else { ([k, rows], strides.row) };
    let count = if strides.batch == 0 { 1 } else { batch };
    let sizes = [sizes[0] as usize, sizes[1] as usize, count as usize];
    let strides = strides_of(sizes, [line as usize, strides.batch as usize]);
    let tile = tile::<U>(if is_across { BOX_ROWS } else { box_rows });
    let map = device.tensor_map(x, sizes).strides(strides).tile(tile).swizzle(Swizzle::Bytes128).build()?;
    Ok((map, is_across))
}

/// Returns the map for the stores to *C*, or `None` if boxes cannot be stored to such a matrix.
fn result<'v, C: TensorElement>(
    device: &Device,
    c: GlobalMut<'v, C>,
    [m, n, batch]: [u32; 3],
    strides: Strides,
) -> Result<Option<TensorMapMut<'v, C, 3>>, AlgorithmError> {
    let is_aligned = |elements: u64| elements.wrapping_mul(size_of::<C>() as u64).is_multiple_of(16);
    let is_start = c.as_ptr().addr().is_multiple_of(16);
    // At the end of a row, a GPU stores whole 16 bytes, beyond the last element.
    let is_whole = is_aligned(n.into()) && is_aligned(strides.row) && is_aligned(strides.batch);
    if strides.column != 1 || !is_whole || !is_start {
        return Ok(None);
    }
    let sizes = [n as usize, m as usize, batch as usize];
    let strides = strides_of(sizes, [strides.row as usize, strides.batch as usize]);
    let map =
        device.tensor_map(c, sizes).strides(strides).tile(tile::<C>(BOX_ROWS)).swizzle(Swizzle::Bytes128).build()?;
    Ok(Some(map))
}

/// Returns the sides of a box of `rows` rows of elements of type `T`.
const fn tile<T>(rows: usize) -> [usize; 3] {
    [STEP_BYTES / size_of::<T>(), rows, 1]
}

/// Returns the strides of a tensor map. Those of dimensions with a single element have no effect, and need not be
/// valid.
fn strides_of([_, rows, count]: [usize; 3], [row, batch]: [usize; 2]) -> [usize; 3] {
    [1, if rows > 1 { row } else { 16 }, if count > 1 { batch } else { 16 }]
}
