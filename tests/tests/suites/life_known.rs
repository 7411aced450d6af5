//! Tests the known evolution of well-known patterns of Life, in the simulator and on a GPU if there is one.

use cuda_std::Ladder;
use gpu::life::life_shared;
use launch::{Buffer, Device, LaunchConfig};
use life::{Board, CpuSimulation, LifeRung, Pattern, Simulation};
use life_formats::{Format, read_pattern};
use tests::{gpu, simulated};

fn one_of_each() -> impl Iterator<Item = Device> {
    [simulated(0)].into_iter().chain(gpu())
}

fn pattern(text: &str) -> Pattern {
    read_pattern(text, Format::Rle).unwrap()
}

fn centred(size: (usize, usize), text: &str) -> Board {
    let mut board = Board::new(size.0, size.1).unwrap();
    board.place_centered(&pattern(text)).unwrap();
    board
}

fn population_after(device: &Device, board: &Board, generations: u64) -> u64 {
    let mut life = Simulation::new(device, LifeRung::Bitpacked, board).unwrap();
    life.advance(generations).unwrap();
    life.population().unwrap()
}

#[test]
fn r_pentomino_has_116_cells_at_generation_1103() {
    // The gliders move away at a quarter of a cell per generation. The torus is so large that no glider returns in
    // time.
    let board = centred((700, 700), include_str!("../../../patterns/r-pentomino.rle"));
    for device in one_of_each() {
        assert_eq!(population_after(&device, &board, 1103), 116);
    }
}

/// Tests the population of the pattern acorn at generation 5206, on the CPU engine and on a GPU. The simulator runs
/// only the first 26 generations. The simulator's board must then equal the board of the CPU engine.
#[test]
fn acorn_has_633_cells_at_generation_5206() {
    // The gliders wrap around the torus, but they do not reach the remaining cells in the middle.
    let board = centred((2100, 2100), include_str!("../../../patterns/acorn.rle"));
    let mut expected = CpuSimulation::new(&board).unwrap();
    expected.advance(26);
    let mut simulated = Simulation::new(&simulated(0), LifeRung::Bitpacked, &board).unwrap();
    simulated.advance(26).unwrap();
    assert!(simulated.board().unwrap() == expected.board().unwrap());
    expected.advance(5206 - 26);
    assert_eq!(expected.population(), 633);
    if let Some(device) = gpu() {
        assert_eq!(population_after(&device, &board, 5206), 633);
    }
}

#[test]
fn diehard_dies_at_generation_130() {
    let board = centred((100, 100), include_str!("../../../patterns/diehard.rle"));
    for device in one_of_each() {
        assert_ne!(population_after(&device, &board, 129), 0);
        assert_eq!(population_after(&device, &board, 130), 0);
    }
}

#[test]
fn gosper_gun_adds_a_glider_every_30_generations() {
    let board = centred((500, 500), include_str!("../../../patterns/gosper-glider-gun.rle"));
    for device in one_of_each() {
        for kernel in [LifeRung::Global, LifeRung::Bitpacked] {
            let mut life = Simulation::new(&device, kernel, &board).unwrap();
            for glider in 0..=8 {
                assert_eq!(life.population().unwrap(), 36 + 5 * glider, "{kernel}");
                life.advance(30).unwrap();
            }
        }
    }
}

#[test]
fn a_glider_comes_back_around_the_torus() {
    let size = 37;
    let board = centred((size, size), include_str!("../../../patterns/glider.rle"));
    for device in one_of_each() {
        for &kernel in LifeRung::ALL {
            let mut life = Simulation::new(&device, kernel, &board).unwrap();
            life.advance(4 * size as u64 - 1).unwrap();
            assert_ne!(life.board().unwrap(), board, "{kernel}");
            life.advance(1).unwrap();
            assert_eq!(life.board().unwrap(), board, "{kernel}");
        }
    }
}

/// Tests a million generations of a 32 × 32 torus in one launch, a run from Tuomanen's textbook. The simulator runs
/// fewer generations. The board contains a glider, which returns every 128 generations.
#[test]
fn a_million_generations_in_one_launch() {
    let (width, height) = (32, 32);
    let board = centred((width, height), include_str!("../../../patterns/glider.rle"));
    let bytes: Vec<u8> = (0..width * height).map(|i| u8::from(board.get(i % width, i / width))).collect();
    for device in one_of_each() {
        let cells = device.upload(&bytes).unwrap();
        let run = |from: &Buffer<u8>, generations| {
            let mut to = device.zeroed::<u8>(bytes.len()).unwrap();
            // The block is one warp. The kernel works with any block, and the simulator is fastest if few threads wait
            // at a barrier.
            let config = LaunchConfig::new(1, 32).shared_bytes(2 * bytes.len() as u32);
            device.launch(config, life_shared(from.view(), to.view_mut(), width, height, generations)).unwrap();
            to
        };
        // Both numbers of generations are 64 more than a multiple of 128. The glider is then half a torus away, and
        // returns after 64 more generations.
        let far = run(&cells, if device.is_simulated() { 100_032 } else { 1_000_000 });
        let cells_far = far.download().unwrap();
        assert_eq!(cells_far.iter().map(|&cell| usize::from(cell)).sum::<usize>(), 5);
        assert_ne!(cells_far, bytes);
        assert_eq!(run(&far, 64).download().unwrap(), bytes);
    }
}
