//! Life on a torus, by generation.
//!
//! A run is of several generations, as a simulation is: a small board stays in the caches from one to the next. The bytes of
//! a generation are those that it cannot do without if it reads and writes the board, a bit a cell: a rung that runs several
//! generations a launch may do with fewer, and one that keeps a byte a cell moves more.

use super::Work;
use crate::bench::{Bench, Point};
use crate::life::{Board, LifeKernel, Simulation};

/// Generations of a run, and of one that takes long.
const GENERATIONS: u64 = 64;
const FEW_GENERATIONS: u64 = 8;

/// A run of few generations that takes longer than this, in seconds, is not made longer.
const LONG: f64 = 0.01;

/// The most cells for a rung whose one block works through the whole board.
const MOST_OF_ONE_BLOCK: usize = 1 << 26;

/// Live cells of a soup.
const DENSITY: f64 = 0.25;

/// Measures the rungs on every board.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let device = bench.device();
    let most_of_one_block = if device.is_simulated() { 1 << 12 } else { MOST_OF_ONE_BLOCK };
    for &shape in &work.shapes {
        let (width, height) = (shape.width, shape.height.unwrap_or(1));
        let cells = shape.elements();
        // Two boards of a byte a cell.
        if !bench.has_room(work, shape, 2 * cells as u64 + cells as u64 / 8)? {
            continue;
        }
        let board = Board::random(width, height, DENSITY, bench.seed())?;
        for kernel in LifeKernel::ALL {
            let is_one_block = kernel.generations_per_launch() == u64::MAX;
            if kernel.check_size(width, height, &device).is_err() || (is_one_block && cells > most_of_one_block) {
                bench.pass_over();
                continue;
            }
            let mut life = Simulation::new(&device, kernel, &board)?;
            life.advance(FEW_GENERATIONS)?;
            let (advanced, time) = device.time(|| Ok(life.advance(FEW_GENERATIONS)))?;
            advanced?;
            let is_long = device.is_simulated() || time.as_secs_f64() > LONG;
            let generations = if is_long { FEW_GENERATIONS } else { GENERATIONS };
            let mut point = Point::new(work, kernel.name(), is_last(kernel), shape, cells as u64 / 4);
            point.generations = generations;
            bench.point(point, || life.advance(generations))?;
        }
    }
    Ok(())
}

/// Whether no later rung runs as many generations a launch: the last of all, and the last of those that run one.
fn is_last(kernel: LifeKernel) -> bool {
    let has_one = |kernel: &LifeKernel| kernel.generations_per_launch() == 1;
    let last = LifeKernel::ALL.into_iter().next_back();
    let last_of_one = LifeKernel::ALL.into_iter().rfind(has_one);
    [last, last_of_one].contains(&Some(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rungs_are_of_one_generation_a_launch_and_of_several() {
        let last: Vec<_> = LifeKernel::ALL.into_iter().filter(|&kernel| is_last(kernel)).collect();
        assert_eq!(last.len(), 2);
        assert_eq!(last[0].generations_per_launch(), 1);
        assert!(last[1].generations_per_launch() > 1);
    }
}
