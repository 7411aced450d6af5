//! The launches of a product.

use cuda_std::__private::ExportedInstances;
use cuda_std::{ArgumentId, Call, Element, Global, GlobalMut, Ladder};
use gpu::matmul::tuning::{
    PACK, PACK_ROWS, SIDE, Tile, VECTOR_LINES, async_copies, mma_sync, register_blocks, vector_block,
};
use gpu::matmul::{Epilogue, Linear, MatmulRung, Output, Problem, Strides, matmul_register_blocks, matmul_vector};
use gpu::matmul_tensor::{matmul_async_copies, matmul_mma_sync};
use gpu::matmul_warpgroup::matmul_mma_double;
use launch::{Device, Dim3, LaunchConfig, Queue, TensorElement};
use std::any::TypeId;

use super::MatrixError;
use super::element::Packing;
use super::plan::{Plan, not_built};
use super::warpgroups::{self, WarpgroupOperand};
use crate::error::AlgorithmError;

/// The largest number of blocks along y, and along z, that every GPU allows.
const MAX_BLOCKS: u32 = 65535;

/// The arguments of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'v, U, C, E> {
    pub problem: Problem,
    pub a: Global<'v, U>,
    pub b: Global<'v, U>,
    pub c: GlobalMut<'v, C>,
    pub bias: Global<'v, C>,
    pub epilogue: E,
    /// The kernels of another crate with this epilogue.
    pub exported: ExportedInstances,
}

/// Launches the kernels of `rung` for a plan: one launch, unless the grid would be too large.
pub(super) fn launch<U: WarpgroupOperand, C: Output<U::Sum> + TensorElement, E: Epilogue<U::Sum, C> + 'static>(
    queue: Queue<'_>,
    plan: &Plan,
    rung: MatmulRung,
    arguments: Arguments<'_, U, C, E>,
    spare: GlobalMut<'_, C>,
) -> Result<(), AlgorithmError> {
    let Arguments { problem, a, b, c, .. } = arguments;
    // Without summands there is nothing to load by a tensor map.
    let has_blocks = MatmulRung::RegisterBlocks.rung().entry(&[ArgumentId::of::<U>(), ArgumentId::of::<C>()]).is_some();
    let rung = match problem.k {
        0 if has_blocks => MatmulRung::RegisterBlocks,
        0 => MatmulRung::MmaSync,
        _ => rung,
    };
    let width = width::<U, C>(queue.device(), rung, &problem);
    let Tile { rows, .. } = tile(rung, width, size_of::<U>());
    let max_rows = MAX_BLOCKS.saturating_mul(rows);
    if problem.m > max_rows && TypeId::of::<E>() != TypeId::of::<Linear<U::Sum>>() {
        // A part would tell the epilogue wrong rows.
        let text = format!("A has {} rows: with an epilogue of your own, use at most {max_rows}", problem.m);
        return Err(MatrixError(text).into());
    }
    for (first_matrix, batch) in parts(problem.batch, MAX_BLOCKS) {
        for (first_row, m) in parts(problem.m, max_rows) {
            let at = |strides: Strides, row| strides.index(first_matrix as usize, row as usize, 0);
            let (a, b) = (tail(a, at(problem.a, first_row)), tail(b, at(problem.b, 0)));
            let c = c.part(at(problem.c, first_row), c.len() - at(problem.c, first_row));
            let problem = Problem { m, batch, ..problem };
            let arguments = Arguments { problem, a, b, c, ..arguments };
            let (config, call) = match rung {
                MatmulRung::Wgmma
                | MatmulRung::Pipelined
                | MatmulRung::Clustered
                | MatmulRung::SplitK
                | MatmulRung::ClusterSplit => warpgroups::kernel(queue, plan, rung, arguments, spare)?,
                _ => kernel(plan, rung, width, arguments),
            };
            queue.launch(config, call.ok_or_else(|| not_built_with::<U, C, E>(rung))?)?;
        }
    }
    Ok(())
}

/// Launches `matmul_vector` for a product with one row or one column, and returns true. Returns false if it is not
/// built with these types and this epilogue.
pub(super) fn launch_vector<
    U: WarpgroupOperand,
    C: Output<U::Sum> + TensorElement,
    E: Epilogue<U::Sum, C> + 'static,
>(
    queue: Queue<'_>,
    arguments: Arguments<'_, U, C, E>,
) -> Result<bool, AlgorithmError> {
    let Arguments { problem, a, b, c, bias, epilogue, exported } = arguments;
    let [along, across] = vector_block(problem.k, size_of::<U>());
    let blocks = problem.m.max(problem.n).div_ceil(across * VECTOR_LINES as u32);
    for (first, batch) in parts(problem.batch, MAX_BLOCKS) {
        let at = |strides: Strides| strides.index(first as usize, 0, 0);
        let (a, b) = (tail(a, at(problem.a)), tail(b, at(problem.b)));
        let c = c.part(at(problem.c), c.len() - at(problem.c));
        let problem = Problem { batch, ..problem };
        let call = matmul_vector::if_built_in::<U, C, E>(exported, problem, a, b, c, bias, epilogue);
        let Some(call) = call else { return Ok(false) };
        queue.launch(LaunchConfig::new((blocks, 1, batch), (along, across)), call)?;
    }
    Ok(true)
}

/// Returns the launch of the rung's kernel, or no call if the kernel is not built for these types.
fn kernel<'v, U: WarpgroupOperand, C: Output<U::Sum> + TensorElement, E: Epilogue<U::Sum, C> + 'static>(
    plan: &Plan,
    rung: MatmulRung,
    width: usize,
    arguments: Arguments<'v, U, C, E>,
) -> (LaunchConfig, Option<Call<'v>>) {
    let Arguments { problem, a, b, c, bias, epilogue, exported } = arguments;
    let Tile { rows, columns, threads, shared } = tile(rung, width, size_of::<U>());
    let grid = (problem.n.div_ceil(columns), problem.m.div_ceil(rows), problem.batch);
    let config = |block: Dim3| LaunchConfig::new(grid, block).shared_bytes(shared);
    let call = match (rung, width) {
        (MatmulRung::RegisterBlocks, 4) => {
            matmul_register_blocks::if_built_in::<U, C, E, 4>(exported, problem, a, b, c, bias, epilogue)
        }
        (MatmulRung::RegisterBlocks, _) => {
            matmul_register_blocks::if_built_in::<U, C, E, 8>(exported, problem, a, b, c, bias, epilogue)
        }
        (MatmulRung::AsyncCopies, _) => {
            matmul_async_copies::if_built_in::<U, C, E>(exported, problem, a, b, c, bias, epilogue)
        }
        (MatmulRung::MmaSync, _) if plan.has_wide_doubles => {
            matmul_mma_double::if_built_in::<U, C, E>(exported, problem, a, b, c, bias, epilogue)
        }
        (MatmulRung::MmaSync, _) => matmul_mma_sync::if_built_in::<U, C, E>(exported, problem, a, b, c, bias, epilogue),
        _ => {
            let call = rung.plain(problem, a, b, c, bias, epilogue);
            return (config((SIDE as u32, SIDE as u32).into()), call);
        }
    };
    (config(threads.into()), call)
}

/// Returns the tile of the rung's kernel for elements of `element_bytes` bytes. `width` selects one of several kernels.
pub(super) fn tile(rung: MatmulRung, width: usize, element_bytes: usize) -> Tile {
    match rung {
        MatmulRung::RegisterBlocks => register_blocks(width),
        MatmulRung::AsyncCopies => async_copies(element_bytes),
        MatmulRung::MmaSync => mma_sync(element_bytes),
        _ => Tile { rows: SIDE as u32, columns: SIDE as u32, threads: 256, shared: 0 },
    }
}

/// Returns the number of rows and columns of each thread in the kernel of the rung `RegisterBlocks`, and 0 for other
/// rungs. Small products have small tiles, which occupy more multiprocessors, if the kernel is built for them.
fn width<U: 'static, C: 'static>(device: &Device, rung: MatmulRung, problem: &Problem) -> usize {
    if rung != MatmulRung::RegisterBlocks {
        return 0;
    }
    let types = [ArgumentId::of::<U>(), ArgumentId::of::<C>()];
    let [large, small] = [8, 4];
    let is_built = |width: usize| {
        let last = [ArgumentId::value(width as i128)];
        rung.rung().entries().any(|entry| entry.arguments_begin_with(&types) && entry.arguments_end_with(&last))
    };
    let Tile { rows, columns, .. } = tile(rung, large, size_of::<U>());
    let tiles = u64::from(problem.m.div_ceil(rows)) * u64::from(problem.n.div_ceil(columns));
    let has_few_tiles = tiles.saturating_mul(problem.batch.into()) < u64::from(device.multiprocessors());
    if is_built(small) && (has_few_tiles || !is_built(large)) { small } else { large }
}

/// Launches the copies of a packing: one launch, unless the grid would be too large.
pub(super) fn pack<'v, T: Element, U: Element>(
    queue: Queue<'_>,
    packing: Packing,
    x: Global<'v, T>,
    to: GlobalMut<'v, U>,
    call: impl Fn(Packing, Global<'v, T>, GlobalMut<'v, U>) -> Option<Call<'v>>,
) -> Result<(), AlgorithmError> {
    let side = PACK as u32;
    // The padding is also written.
    let columns = u32::try_from(packing.to.row).unwrap_or(u32::MAX).div_ceil(side);
    for (first_matrix, count) in parts(packing.count, MAX_BLOCKS) {
        for (first_row, rows) in parts(packing.rows, MAX_BLOCKS * side) {
            let at = |strides: Strides| strides.index(first_matrix as usize, first_row as usize, 0);
            let (x, to) = (tail(x, at(packing.from)), to.part(at(packing.to), to.len() - at(packing.to)));
            let grid = (columns, rows.div_ceil(side), count);
            let part = Packing { rows, count, ..packing };
            let call = call(part, x, to).ok_or_else(|| not_built::<T, U>(MatmulRung::LAST))?;
            if columns > 0 {
                queue.launch(LaunchConfig::new(grid, (side, PACK_ROWS as u32)), call)?;
            }
        }
    }
    Ok(())
}

/// Divides `0..len` into parts of at most `most`, and returns the start and length of each part.
fn parts(len: u32, most: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..len).step_by(most as usize).map(move |start| (start, (len - start).min(most)))
}

/// Returns the view from element `start` on, which may be beyond the end of an empty view.
fn tail<T: Element>(x: Global<'_, T>, start: usize) -> Global<'_, T> {
    let start = start.min(x.len());
    x.part(start, x.len() - start)
}

/// Returns the error for a rung that has no kernel with the epilogue `E`.
pub(super) fn not_built_with<U: 'static, C: 'static, E>(rung: MatmulRung) -> AlgorithmError {
    let types = [ArgumentId::of::<U>(), ArgumentId::of::<C>()];
    if rung.rung().entry(&types).is_none() {
        return not_built::<U, C>(rung);
    }
    let name = std::any::type_name::<E>().rsplit("::").next().unwrap_or_default();
    let offered = "Linear; select no rung for an epilogue of your own".to_owned();
    crate::capabilities::refused(rung.rung(), format!("the epilogue {name}"), offered)
}
