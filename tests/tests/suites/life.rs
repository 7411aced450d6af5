//! Compares every rung of Life with the reference implementation, on every device.

use cuda_std::Ladder;
use gpu::life::{VECTOR_ROWS, life_bitpacked, life_global};
use launch::{Device, LaunchConfig};
use life::{Board, CpuSimulation, LifeRung, Rule, Simulation, Topology, reference};
use tests::{Turns, all_devices, devices, devices_and_turns, gpu, simulated};

/// Sizes of boards: one or two cells wide or high; sizes around a word, a block and a strip of rows; primes.
const SIZES: [(usize, usize); 22] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (1, 7),
    (7, 1),
    (3, 3),
    (31, 33),
    (32, 32),
    (33, 31),
    (64, 1),
    (1, 64),
    (63, 15),
    (64, 16),
    (65, 17),
    (95, 2),
    (96, 3),
    (97, 5),
    (127, 64),
    (129, 100),
    (257, 131),
    (300, 7),
];

fn advance(device: &Device, rung: LifeRung, board: &Board, generations: u64) -> Board {
    let mut life = Simulation::new(device, rung, board).unwrap();
    life.advance(generations).unwrap();
    let result = life.board().unwrap();
    assert_eq!(life.population().unwrap(), result.population());
    assert_eq!(life.generation(), generations);
    result
}

fn conforms(rung: LifeRung) {
    let devices: Vec<_> = devices_and_turns(1700).collect();
    for (i, (width, height)) in SIZES.into_iter().enumerate() {
        for (density, generations) in [(0.4, 1), (0.3, 2), (0.5, 7)] {
            let soup = Board::random(width, height, density, i as u64).unwrap();
            all_conform(&devices, rung, &soup, generations);
        }
    }
}

/// Compares the last board with the reference on each device whose turn it is to run an input of this size.
fn all_conform(devices: &[(Device, Turns)], rung: LifeRung, soup: &Board, generations: u64) {
    let expected = reference::advance(soup, generations);
    let (width, height) = (soup.width(), soup.height());
    for (device, _) in devices.iter().filter(|(_, turns)| turns.takes(width * height)) {
        let found = advance(device, rung, soup, generations);
        assert!(found == expected, "{rung}, {width}x{height}, generation {generations}, {}", device.name());
    }
}

#[test]
fn global_conforms() {
    conforms(LifeRung::Global);
}

#[test]
fn block_conforms() {
    conforms(LifeRung::Block);
}

#[test]
fn shared_conforms() {
    conforms(LifeRung::Shared);
}

#[test]
fn bitpacked_conforms() {
    conforms(LifeRung::Bitpacked);
}

/// Tests boards whose rows consist of whole vectors: one, two, three, or about as many as a warp has lanes. The heights
/// are near multiples of the height of a strip of rows.
#[test]
fn vectors_of_bitpacked_conform() {
    const WIDTHS: [usize; 6] = [128, 256, 384, 128 * 31, 128 * 32, 128 * 33];
    const ROWS: usize = VECTOR_ROWS;
    const HEIGHTS: [usize; 10] = [1, 2, 3, ROWS - 1, ROWS, ROWS + 1, 2 * ROWS - 1, 2 * ROWS, 2 * ROWS + 1, 100];
    let devices: Vec<_> = devices_and_turns(128 * 33 * 3).collect();
    let sizes = WIDTHS.into_iter().flat_map(|width| HEIGHTS.map(|height| (width, height)));
    for (i, (width, height)) in sizes.enumerate() {
        for (density, generations) in [(0.4, 1), (0.3, 3)] {
            let soup = Board::random(width, height, density, i as u64).unwrap();
            all_conform(&devices, LifeRung::Bitpacked, &soup, generations);
        }
    }
}

#[test]
fn temporal_conforms() {
    conforms(LifeRung::Temporal);
}

/// Tests the rung `temporal` on boards with several tiles in a row and in a column, for more generations than one
/// launch computes.
#[test]
fn tiles_of_temporal_conform_at_their_seams() {
    let devices: Vec<_> = devices_and_turns(240_000).collect();
    for (width, height) in [(960, 240), (961, 241), (959, 239), (32 * 61 + 5, 481), (1024, 10), (20, 500)] {
        let soup = Board::random(width, height, 0.4, 11).unwrap();
        all_conform(&devices, LifeRung::Temporal, &soup, 19);
    }
}

#[test]
fn streaming_conforms() {
    conforms(LifeRung::Streaming);
}

/// Tests odd and even numbers of exchanges of margins, on boards with several tiles in a row and in a column.
#[test]
fn resident_conforms() {
    conforms(LifeRung::Resident);
    let devices: Vec<_> = devices_and_turns(60_000).collect();
    for (width, height) in [(960, 8), (961, 41), (959, 40), (20, 200), (1, 100), (100, 1)] {
        let soup = Board::random(width, height, 0.4, 11).unwrap();
        for generations in [8, 25, 50] {
            all_conform(&devices, LifeRung::Resident, &soup, generations);
        }
    }
}

/// Tests rules that count neighbours. If a rule has births without neighbours (B0), the kernel alternates between two
/// rules.
#[test]
fn streaming_conforms_for_rules_that_count() {
    for rule in ["B36/S23", "B2/S", "B3678/S34678", "B0123478/S34678", "B01/S", "B/S012345678", "B1357/S1357"] {
        let rule: Rule = rule.parse().unwrap();
        for (width, height) in [(1, 1), (33, 20), (497, 13), (70, 90)] {
            let soup = Board::random(width, height, 0.4, 3).unwrap();
            for device in devices() {
                let mut life = Simulation::with_rule(&device, LifeRung::Streaming, &soup, &rule, 0).unwrap();
                for (from, generations) in [(0, 7), (7, 6), (13, 1)] {
                    let expected =
                        reference::advance_by(&life.board().unwrap(), &rule, Topology::default(), from, generations);
                    life.advance(generations).unwrap();
                    assert!(
                        life.board().unwrap() == expected,
                        "{rule}, {width}x{height}, from {from}, {}",
                        device.name()
                    );
                }
                assert!(Simulation::with_rule(&device, LifeRung::Temporal, &soup, &rule, 0).is_err());
            }
        }
    }
}

/// Tests boards that are about as wide as one tile, in few and in many folds, for more generations than one launch
/// computes.
#[test]
fn tiles_of_streaming_conform_at_their_seams() {
    let devices: Vec<_> = devices_and_turns(140_000).collect();
    let widths = [111, 112, 113, 240, 495, 496, 497, 512, 1008, 1009, 4079, 4080, 4081, 4083, 4084, 4085, 4096, 8161];
    for (i, width) in widths.into_iter().enumerate() {
        for height in [[1, 9], [2, 13]][i % 2] {
            let soup = Board::random(width, height, 0.4, i as u64).unwrap();
            all_conform(&devices, LifeRung::Streaming, &soup, 11);
        }
    }
    for (width, height) in [(20, 500), (113, 1201), (500, 260), (1, 4097)] {
        let soup = Board::random(width, height, 0.4, 11).unwrap();
        all_conform(&devices, LifeRung::Streaming, &soup, 19);
    }
}

#[test]
fn no_generation_changes_nothing() {
    let soup = Board::random(70, 40, 0.5, 1).unwrap();
    for device in all_devices() {
        for &rung in LifeRung::ALL {
            assert_eq!(advance(&device, rung, &soup, 0), soup, "{rung}");
        }
    }
}

#[test]
fn generations_add_up() {
    let soup = Board::random(45, 37, 0.4, 9).unwrap();
    for device in all_devices() {
        for &rung in LifeRung::ALL {
            let mut life = Simulation::new(&device, rung, &soup).unwrap();
            for generations in [1, 2, 0, 3, 1, 6] {
                life.advance(generations).unwrap();
            }
            assert_eq!(life.board().unwrap(), reference::advance(&soup, 13), "{rung}");
        }
    }
}

/// Tests boards whose margins are whole vectors, so that no kernel has to write the margins first. The boards have one
/// or several tiles, and one or several folds.
#[test]
fn whole_margins_of_streaming_conform() {
    let devices: Vec<_> = devices_and_turns(100_000).collect();
    for (width, height) in [(104, 1000), (1000, 640), (4120, 200), (16, 24)] {
        let soup = Board::random(width, height, 0.4, 2).unwrap();
        for generations in [6, 25] {
            all_conform(&devices, LifeRung::Streaming, &soup, generations);
        }
    }
    let (rule, soup): (Rule, _) = ("B03/S23".parse().unwrap(), Board::random(104, 1000, 0.4, 3).unwrap());
    let expected = reference::advance_by(&soup, &rule, Topology::default(), 1, 19);
    for (device, _) in devices.iter().filter(|(_, turns)| turns.takes(104_000)) {
        let mut life = Simulation::with_rule(device, LifeRung::Streaming, &soup, &rule, 1).unwrap();
        [12, 7].into_iter().for_each(|generations| life.advance(generations).unwrap());
        assert!(life.board().unwrap() == expected, "{}", device.name());
    }
}

/// Tests a board of 16384² cells on a GPU. The result is compared with the result of the CPU engine, because the plain
/// reference would take minutes.
#[test]
fn large_boards_conform_on_a_gpu() {
    let Some(device) = tests::gpu() else {
        println!("not run: there is no GPU here");
        return;
    };
    let soup = Board::random(16_384, 16_384, 0.3, 5).unwrap();
    let mut cores = CpuSimulation::new(&soup).unwrap();
    cores.advance(2);
    let expected = cores.board().unwrap();
    for rung in [LifeRung::Global, LifeRung::Block, LifeRung::Bitpacked, LifeRung::Temporal] {
        assert!(advance(&device, rung, &soup, 2) == expected, "{rung}");
    }
    cores.advance(8);
    assert!(advance(&device, LifeRung::Streaming, &soup, 10) == cores.board().unwrap());
}

/// Tests a board on a GPU with so many strips of rows that CUDA's largest grid has too few blocks along y. The grid
/// must use z, too.
#[test]
fn tall_boards_of_vectors_conform_on_a_gpu() {
    let Some(device) = tests::gpu() else {
        println!("not run: there is no GPU here");
        return;
    };
    let soup = Board::random(128, 65_535 * VECTOR_ROWS + 1, 0.4, 3).unwrap();
    assert!(advance(&device, LifeRung::Bitpacked, &soup, 1) == reference::advance(&soup, 1));
}

/// Tests grids that are too small for the board, in each direction. The grid-stride loops of the kernels must reach
/// every cell.
#[test]
fn small_grids_reach_every_cell() {
    let (width, height) = (70, 400);
    let soup = Board::random(width, height, 0.4, 3).unwrap();
    let expected = reference::advance(&soup, 1);
    let cells =
        |board: &Board| -> Vec<u8> { (0..width * height).map(|i| u8::from(board.get(i % width, i / width))).collect() };
    for device in devices() {
        for grid in [(1, 1), (2, 3), (5, 1)] {
            let config = LaunchConfig::new(grid, (32, 8));
            let (from, mut to) = (device.upload(&cells(&soup)).unwrap(), device.alloc(width * height).unwrap());
            device.launch(config, life_global(from.view(), to.view_mut(), width, height)).unwrap();
            assert!(to.download().unwrap() == cells(&expected), "{grid:?}, {}", device.name());

            let config = LaunchConfig::new(grid, (2, 4));
            let (from, mut to) = (device.upload(soup.words()).unwrap(), device.alloc(soup.words().len()).unwrap());
            device.launch(config, life_bitpacked(from.view(), to.view_mut(), width, height)).unwrap();
            assert!(to.download().unwrap() == expected.words(), "{grid:?}, {}", device.name());
        }
    }
}

/// Tests, on a GPU, a board with more rows than CUDA's tallest grid covers, and a tall board in the simulator. The
/// GPU's board has 17 columns. For this width, blocks have 8 rows.
#[test]
fn tall_boards_conform() {
    for (device, width, height) in
        [(simulated(0), 3, 60_000)].into_iter().chain(gpu().map(|gpu| (gpu, 17, 8 * 65_535 + 100)))
    {
        let soup = Board::random(width, height, 0.4, 3).unwrap();
        let expected = reference::advance(&soup, 1);
        for rung in [LifeRung::Global, LifeRung::Bitpacked, LifeRung::Temporal, LifeRung::Streaming] {
            assert!(advance(&device, rung, &soup, 1) == expected, "{rung}");
        }
    }
}
