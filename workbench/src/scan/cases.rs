//! The cases of scan: every rung with its planned launches, and in grids smaller than the vector. The single-pass rungs
//! also run with a tail, with more tiles than a warp reads at once, and with elements of several words.

use cuda_std::{Ladder, bf16, f16};
use gpu::operator::{Affine, Compose, Maximum, Min, Minimum, Operator, Sum};
use gpu::scan::{
    CHUNKS, PIPELINED_THREADS, RING_BYTES, THREADS, down_sweep_nodes, scan_down_sweep, scan_look_back, scan_naive_step,
    scan_pipelined, scan_shifted_copy, scan_up_sweep, state_words, tile_elements, up_sweep_nodes,
};
use launch::LaunchConfig;

use super::reference;
use crate::case::{Case, CaseError, Stage, bits, equal, right};
use crate::inputs::RandomVector;
use gridstride::numbers::Number;
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, tile};

const KINDS: [ScanKind; 2] = [ScanKind::Inclusive, ScanKind::Exclusive];

/// The kernel of the rung `look_back` for most types and operators.
const LOOK_BACK: &[&str] = &["scan_look_back"];
/// The kernel of the rung `look_back` for 16-bit floats and operators that propagate NaN.
const WIDENED: &[&str] = &["scan_widened"];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in ScanRung::ALL {
        let families = if rung == ScanRung::LookBack { LOOK_BACK } else { rung.families() };
        let mut add = |what: &str, work: fn(&Stage, ScanRung) -> Result<(), CaseError>| {
            cases.push(Case::new("scan", rung.name(), families, what, move |stage| work(stage, rung)));
        };
        match rung {
            ScanRung::LookBack | ScanRung::Pipelined => {
                add("sum of i32, two whole tiles and a partial one", |stage, rung| {
                    both_kinds(stage, rung, 2 * small_tile(rung, 4) + 77)
                });
                add("sum of f32, one partial tile", |stage, rung| check_sums::<f32>(stage, rung, 777));
                add("minimum of f64, a whole tile and a partial one", |stage, rung| {
                    check::<f64, Min>(stage, rung, ScanKind::Exclusive, &input(small_tile(rung, 8) + 9))
                });
                add("composition of affine maps, three tiles", |stage, rung| {
                    let maps = maps(2 * small_tile(rung, 8) + 1001);
                    check::<Affine, Compose>(stage, rung, ScanKind::Inclusive, &maps)
                });
                add("sum of u64, 35 tiles", |stage, rung| {
                    check::<u64, Sum>(stage, rung, ScanKind::Inclusive, &input(34 * small_tile(rung, 8) + 5))
                });
                add("sum of i32, one block per tile, views that are not aligned", check_not_aligned);
            }
            _ => {
                let lengths: fn(&Stage, ScanRung) -> Result<(), CaseError> = |stage, rung| {
                    for n in [1, 2, 33, 1000] {
                        for kind in KINDS {
                            check::<i32, Sum>(stage, rung, kind, &input(n))?;
                        }
                    }
                    Ok(())
                };
                add("sum of i32, 1 to 1000 elements, the planned launches", lengths);
                add("sum of f64, 300 elements, the planned launches", |stage, rung| {
                    let x = input::<f64>(300);
                    let found = found::<f64, Sum>(stage, rung, ScanKind::Inclusive, &x)?;
                    right(reference::compare_sums(rung, ScanKind::Inclusive, |index| x[index], &found))
                });
            }
        }
        match rung {
            ScanRung::Naive => {
                add("2 blocks of 32 threads, with a grid-stride loop in one step", |stage, _| naive_step_wraps(stage))
            }
            ScanRung::WorkEfficient => {
                add("2 blocks of 32 threads, with a grid-stride loop in each level", |stage, _| sweeps_wrap(stage))
            }
            ScanRung::NaiveBlock | ScanRung::LookBack | ScanRung::Pipelined => {}
        }
    }
    add_widened(&mut cases);
    cases
}

/// Adds the cases of the kernel with an accumulator, which the rung `look_back` launches for some types and operators.
fn add_widened(cases: &mut Vec<Case>) {
    let mut add = |what: &str, work: fn(&Stage, ScanRung) -> Result<(), CaseError>| {
        let rung = ScanRung::LookBack;
        cases.push(Case::new("scan", rung.name(), WIDENED, what, move |stage| work(stage, rung)));
    };
    add("sum of f16, two whole tiles and a partial one", |stage, rung| {
        check_sums::<f16>(stage, rung, 2 * small_tile(rung, 2) + 77)
    });
    add("sum of bf16, one partial tile", |stage, rung| check_sums::<bf16>(stage, rung, 777));
    add("sum of f16, a view that is not aligned", check_halves_not_aligned);
    add("minimum of f32 with NaN, 35 tiles", |stage, rung| {
        let mut x = input(34 * small_tile(rung, 4) + 5);
        x[2 * small_tile(rung, 4)] = f32::NAN;
        let found = found::<f32, Minimum>(stage, rung, ScanKind::Inclusive, &x)?;
        let bits = |x: Vec<f32>| x.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        equal("y", &bits(found), &bits(reference::scan::<f32, Minimum>(ScanKind::Inclusive, &x)))
    });
    add("maximum of f64, a whole tile and a partial one", |stage, rung| {
        check::<f64, Maximum>(stage, rung, ScanKind::Exclusive, &input(small_tile(rung, 8) + 9))
    });
}

fn input<T: Number>(n: usize) -> Vec<T> {
    let inputs = RandomVector::new(4, 0);
    (0..n).map(|index| inputs.element(index)).collect()
}

fn maps(n: usize) -> Vec<Affine> {
    (0..n).map(|i| Affine { factor: bits(i) as u32 | 1, offset: (bits(i) >> 32) as u32 }).collect()
}

fn found<T: ScanElement<O>, O: Operator<T>>(
    stage: &Stage,
    rung: ScanRung,
    kind: ScanKind,
    x: &[T],
) -> Result<Vec<T>, CaseError> {
    let (dx, mut dy) = (stage.device.upload(x)?, stage.device.alloc(x.len())?);
    Scanner::<T, O>::new(&stage.device, rung, x.len())?.scan(kind, &dx, &mut dy)?;
    Ok(dy.download()?)
}

fn check<T, O>(stage: &Stage, rung: ScanRung, kind: ScanKind, x: &[T]) -> Result<(), CaseError>
where
    T: ScanElement<O> + PartialEq + std::fmt::Debug,
    O: Operator<T>,
{
    equal("y", &found::<T, O>(stage, rung, kind, x)?, &reference::scan::<T, O>(kind, x))
}

fn both_kinds(stage: &Stage, rung: ScanRung, n: usize) -> Result<(), CaseError> {
    KINDS.into_iter().try_for_each(|kind| check::<i32, Sum>(stage, rung, kind, &input(n)))
}

/// Returns the number of elements in a tile of a scan that has few tiles.
fn small_tile(rung: ScanRung, element_bytes: usize) -> usize {
    tile(rung, 1, element_bytes)
}

fn check_sums<T: Number + ScanElement<Sum>>(stage: &Stage, rung: ScanRung, n: usize) -> Result<(), CaseError>
where
    Sum: Operator<T>,
{
    let (kind, x) = (ScanKind::Inclusive, input::<T>(n));
    right(reference::compare_sums(rung, kind, |index| x[index], &found::<T, Sum>(stage, rung, kind, &x)?))
}

fn check_halves_not_aligned(stage: &Stage, rung: ScanRung) -> Result<(), CaseError> {
    let (kind, n) = (ScanKind::Exclusive, small_tile(rung, 2) + 100);
    let x = input::<f16>(n + 1);
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.zeroed::<f16>(n + 3)?);
    let mut scanner = Scanner::<f16, Sum>::new(&stage.device, rung, n)?;
    scanner.scan_views(stage.device.queue(), kind, dx.view().part(1, n), dy.view_mut().part(2, n))?;
    let y = dy.download()?;
    equal("y", &[y[0], y[1], y[n + 2]], &[f16::ZERO; 3])?;
    right(reference::compare_sums(rung, kind, |index| x[index + 1], &y[2..n + 2]))
}

fn check_not_aligned(stage: &Stage, rung: ScanRung) -> Result<(), CaseError> {
    let n = tile_elements(CHUNKS, 4) + 1000;
    let x = input::<i32>(n + 1);
    let tiles = n.div_ceil(tile(rung, usize::MAX, 4));
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.zeroed(n + 1)?);
    let mut states = stage.device.zeroed(state_words::<i32>(tiles))?;
    let (part, tiles) = (dx.view().part(1, n), tiles as u32);
    if rung == ScanRung::LookBack {
        let call = scan_look_back::<i32, Sum, 4>(part, dy.view_mut().part(1, n), 0, CHUNKS as u32, states.view_mut());
        stage.device.launch(LaunchConfig::new(tiles, THREADS), call)?;
    } else {
        // In the views, three elements precede the first whole vector.
        let (y, head, rest) = (dy.view_mut(), (1, 3), (4, n - 3));
        let [head_x, x] = [head, rest].map(|(first, n)| dx.view().part(first, n));
        let [head_y, y] = [head, rest].map(|(first, n)| y.part(first, n));
        let call = scan_pipelined::<i32, Sum, 4>(head_x, head_y, x, y, 0, states.view_mut());
        stage.device.launch(LaunchConfig::new(tiles, PIPELINED_THREADS).shared_bytes(RING_BYTES), call)?;
    }
    let y = dy.download()?;
    equal("y", &y[..1], &[0])?;
    equal("y", &y[1..], &reference::scan::<i32, Sum>(ScanKind::Inclusive, &x[1..]))
}

/// The number of blocks and the number of threads per block of a small grid. The threads of this grid process several
/// elements each. Plans choose such a grid only for very many elements.
const SMALL: (u32, u32) = (2, 32);

fn naive_step_wraps(stage: &Stage) -> Result<(), CaseError> {
    let x = input::<i32>(203);
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.alloc(x.len())?);
    let call = scan_naive_step::<i32, Sum>(dx.view(), dy.view_mut(), 4, 1);
    stage.device.launch(LaunchConfig::new(SMALL.0, SMALL.1), call)?;
    let moved = |index: usize| index.checked_sub(1).map_or(0, |index| x[index]);
    let expected = |i: usize| moved(i).wrapping_add(i.checked_sub(4).map_or(0, moved));
    equal("y", &dy.download()?, &(0..x.len()).map(expected).collect::<Vec<_>>())
}

/// Runs the launches of a work-efficient scan in small grids. The threads of these grids process several elements each.
fn sweeps_wrap(stage: &Stage) -> Result<(), CaseError> {
    let (device, config) = (&stage.device, LaunchConfig::new(SMALL.0, SMALL.1));
    let x = input::<i32>(451);
    let n = x.len();
    let (dx, mut dy) = (device.upload(&x)?, device.alloc(n)?);
    device.launch(config, scan_shifted_copy::<i32, Sum>(dx.view(), dy.view_mut(), 0))?;
    let widths = (0..n.ilog2()).map(|level| 1_usize << level);
    for width in widths.clone().filter(|&width| up_sweep_nodes(n, width) > 0) {
        device.launch(config, scan_up_sweep::<i32, Sum>(dy.view_mut(), width))?;
    }
    for width in widths.rev().filter(|&width| down_sweep_nodes(n, width) > 0) {
        device.launch(config, scan_down_sweep::<i32, Sum>(dy.view_mut(), width))?;
    }
    equal("y", &dy.download()?, &reference::scan::<i32, Sum>(ScanKind::Inclusive, &x))
}
