//! Compares boards of active tiles with the plain definition.

use std::collections::HashSet;

use life_cpu::{ActiveBoard, Instructions, Rule, Stop};

/// Makes a rule from the numbers of neighbours for birth and survival.
fn counts(birth: u32, survival: u32) -> Rule {
    table(|i| (if i & 0o020 == 0 { birth } else { survival }) >> (i & 0o757).count_ones() & 1 == 1)
}

fn table(is_alive: impl Fn(usize) -> bool) -> Rule {
    let mut table = [0; 8];
    (0..512).filter(|&i| is_alive(i)).for_each(|i| table[i / 64] |= 1 << (i % 64));
    Rule { phases: [table; 2], states: 2 }
}

type Cells = HashSet<(usize, usize)>;

fn next(cells: &Cells, rule: &Rule, generation: u64, (width, height): (usize, usize)) -> Cells {
    let table = rule.phases[(generation & 1) as usize];
    let around = |x: usize, y: usize| (0..9).map(move |i| (x + i % 3, y + i / 3)).map(|(x, y)| (x - 1, y - 1));
    let near: Cells = cells.iter().flat_map(|&(x, y)| around(x, y)).collect();
    let is_alive = |&(x, y): &(usize, usize)| {
        let i = around(x, y).fold(0, |i, cell| i << 1 | usize::from(cells.contains(&cell)));
        table[i / 64] >> (i % 64) & 1 == 1
    };
    near.into_iter().filter(|&(x, y)| x > 0 && y > 0 && x < width && y < height).filter(is_alive).collect()
}

fn read(board: &ActiveBoard) -> Cells {
    let mut words = Vec::new();
    board.cells(&mut words);
    let (width, height) = board.size();
    let all = (0..width).flat_map(|x| (0..height).map(move |y| (x, y)));
    all.filter(|&(x, y)| words[x / 64 * height + y] >> (x % 64) & 1 == 1).collect()
}

/// Returns a random square of cells in the middle of a board.
fn soup((width, height): (usize, usize), side: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut is_alive = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state & 3 == 0
    };
    let (left, top) = ((width - side) / 2, (height - side) / 2);
    let all = (0..side * side).map(|i| (left + i % side, top + i / side));
    all.filter(|_| is_alive()).collect()
}

#[test]
fn every_generation_is_the_definitions() {
    let scattered = table(|i| i > 0 && i.count_ones() < 5 && (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 1);
    let emulated = Rule { phases: [counts(1 << 3, 12).phases[0], counts(1 << 2, 1 << 3).phases[0]], states: 2 };
    let rules = [Rule::LIFE, counts(1 << 3 | 1 << 6, 12), scattered, emulated];
    for instructions in Instructions::available() {
        for (number, rule) in rules.iter().enumerate() {
            let mut board = ActiveBoard::with(instructions, (192, 512), 8, rule).unwrap();
            for seed in 1..4 {
                board.clear();
                let first = soup(board.size(), 24, seed);
                board.put(first.iter().copied(), true);
                let mut cells: Cells = first.into_iter().collect();
                for generation in 0..60 {
                    cells = next(&cells, rule, generation, board.size());
                    let _ = board.advance(generation + 1);
                    if board.generation() == generation {
                        break;
                    }
                    let at = format!("{instructions}, rule {number}, seed {seed}, generation {generation}");
                    assert!(read(&board) == cells, "{at}");
                }
            }
        }
    }
}

#[test]
fn long_runs_end_as_by_definition() {
    for instructions in Instructions::available() {
        let mut board = ActiveBoard::with(instructions, (320, 512), 8, &Rule::LIFE).unwrap();
        for seed in 10..14 {
            board.clear();
            let first = soup(board.size(), 16, seed);
            board.put(first.iter().copied(), true);
            let stop = board.advance(300);
            let mut cells: Cells = first.into_iter().collect();
            (0..board.generation()).for_each(|generation| cells = next(&cells, &Rule::LIFE, generation, board.size()));
            assert!(read(&board) == cells, "{instructions}, seed {seed}");
            let mut later = cells.clone();
            let period = match stop {
                Stop::Quiet => 2,
                Stop::Repeats(period) => period,
                Stop::Reached | Stop::Rim => continue,
            };
            (0..period).for_each(|generation| later = next(&later, &Rule::LIFE, generation, board.size()));
            assert!(later == cells, "{instructions}, seed {seed}, {stop:?}");
        }
    }
}

/// Returns the cells of rows of text.
fn cells(rows: &[&str], at: (usize, usize)) -> Vec<(usize, usize)> {
    let row = |(y, row): (usize, &&str)| {
        row.bytes().enumerate().filter(|cell| cell.1 == b'O').map(|(x, _)| (at.0 + x, at.1 + y)).collect::<Vec<_>>()
    };
    rows.iter().enumerate().flat_map(row).collect()
}

#[test]
fn periods_are_found() {
    let pentadecathlon = ["OOOOOOOOOO"];
    let figure_eight = ["OOO...", "OOO...", "OOO...", "...OOO", "...OOO", "...OOO"];
    for instructions in Instructions::available() {
        for (rows, at, period) in
            [(&pentadecathlon[..], (122, 63), 30), (&figure_eight, (125, 254), 8), (&["OOO"], (126, 300), 2)]
        {
            let mut board = ActiveBoard::with(instructions, (320, 512), 8, &Rule::LIFE).unwrap();
            board.put(cells(rows, at), true);
            // The tiles of this blinker are not active.
            board.put(cells(&["OOO"], (230, 470)), true);
            let stop = board.advance(10_000);
            let expected = if period == 2 { Stop::Quiet } else { Stop::Repeats(period) };
            assert_eq!(stop, expected, "{instructions}, {rows:?}");
            let (mut ever, mut all) = (Vec::new(), Cells::new());
            board.cells_ever_alive(period, &mut ever);
            for _ in 0..period {
                all.extend(read(&board));
                let _ = board.advance(board.generation() + 1);
            }
            let (width, height) = board.size();
            let is_ever = |&(x, y): &(usize, usize)| ever[x / 64 * height + y] >> (x % 64) & 1 == 1;
            let found: Cells = (0..width).flat_map(|x| (0..height).map(move |y| (x, y))).filter(is_ever).collect();
            assert!(found == all, "{instructions}, {rows:?}");
        }
    }
}

#[test]
fn the_rim_is_reported_and_ships_can_be_removed() {
    for instructions in Instructions::available() {
        let mut board = ActiveBoard::with(instructions, (320, 512), 40, &Rule::LIFE).unwrap();
        board.put(cells(&[".O.", "..O", "OOO"], (150, 250)), true);
        board.put(cells(&["OO", "OO"], (140, 200)), true);
        let mut stop = board.advance(10_000);
        while board.generation() < 600 {
            assert_eq!(stop, Stop::Rim, "{instructions}");
            stop = board.advance(10_000);
        }
        let glider: Vec<_> = read(&board).into_iter().filter(|&(_, y)| y > 300).collect();
        assert_eq!(glider.len(), 5);
        board.put(glider, false);
        assert_eq!(board.advance(10_000), Stop::Quiet);
        assert_eq!(read(&board), cells(&["OO", "OO"], (140, 200)).into_iter().collect());
        board.clear();
        assert_eq!((board.generation(), read(&board).len()), (0, 0));
        assert_eq!(board.advance(10), Stop::Quiet);
    }
}
