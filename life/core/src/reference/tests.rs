//! Checks the reference implementation against known facts about rules and topologies.

use super::*;
use crate::RuleAndTopology;

/// Makes a board of the size in the rule's suffix. Places `rows` with their upper left corner at (x, y). An `o` is a
/// live cell, and a digit is a state.
fn board(rule: &str, x: usize, y: usize, rows: &[&str]) -> (RuleAndTopology, Board) {
    let rule: RuleAndTopology = rule.parse().unwrap();
    let grid = rule.grid.unwrap();
    let mut board = Board::with_states(grid.width, grid.height, rule.rule.states()).unwrap();
    for (dy, row) in rows.iter().enumerate() {
        for (dx, cell) in row.chars().enumerate() {
            match cell {
                'o' => board.set(x + dx, y + dy, true),
                _ => board.set_state(x + dx, y + dy, cell.to_digit(10).unwrap_or(0) as u8),
            }
        }
    }
    (rule, board)
}

fn after((rule, board): &(RuleAndTopology, Board), generations: u64) -> Board {
    advance_by(board, &rule.rule, rule.grid.unwrap().topology, 0, generations)
}

const GLIDER: [&str; 3] = [".o.", "..o", "ooo"];

#[test]
fn the_general_step_is_the_fast_one() {
    for (width, height) in [(1, 1), (1, 5), (2, 2), (3, 2), (31, 7), (64, 64)] {
        let soup = Board::random(width, height, 0.4, 3).unwrap();
        assert_eq!(advance_by(&soup, &Rule::LIFE, Topology::TORUS, 0, 9), advance(&soup, 9), "{width}x{height}");
    }
}

/// Checks Nathan Thompson's replicator of HighLife. After 12 generations there are two copies. After 24 generations
/// there are again two copies, at twice the distance.
#[test]
fn highlife_has_a_replicator() {
    let rows = ["..ooo", ".o..o", "o...o", "o..o.", "ooo.."];
    let start = board("HighLife:P60,60", 27, 27, &rows);
    assert_eq!(after(&start, 12).population(), 24);
    let copies = after(&start, 24).population();
    assert_eq!(copies, 24);
    assert_eq!(after(&start, 36).population(), 48);
    // The same pattern does not replicate in Life.
    let (_, pattern) = start;
    let life = ("B3/S23:P60,60".parse().unwrap(), pattern);
    assert_ne!(after(&life, 12).population(), 24);
}

#[test]
fn seeds_kills_every_cell_at_once() {
    let start = board("Seeds:T32,32", 10, 10, &["o.o", ".o."]);
    let mut now = start.clone();
    for _ in 0..10 {
        let next = after(&now, 1);
        assert!(next.cells().all(|(x, y)| !now.1.get(x, y)));
        now.1 = next;
    }
    // Two adjacent cells become two cells above and two below.
    let domino = board("Seeds:T32,32", 10, 10, &["oo"]);
    assert_eq!(after(&domino, 1).cells().collect::<Vec<_>>(), [(10, 9), (11, 9), (10, 11), (11, 11)]);
}

/// Checks that two live cells in front of two dying cells move by one cell per generation.
#[test]
fn brians_brain_has_a_spaceship() {
    let (rule, start) = board("Brian's Brain:T40,20", 5, 5, &["21", "21"]);
    let moved = after(&(rule, start), 10);
    let (_, expected) = board("Brian's Brain:T40,20", 15, 5, &["21", "21"]);
    assert_eq!(moved, expected);
}

#[test]
fn star_wars_ages_its_cells() {
    let lone = board("Star Wars:T9,9", 4, 4, &["1"]);
    let states: Vec<u8> = (0..5).map(|generation| after(&lone, generation).state(4, 4)).collect();
    assert_eq!(states, [1, 2, 3, 0, 0]);
}

#[test]
fn a_hexagonal_neighbourhood_has_six() {
    let start = board("B1/SH:T9,9", 4, 4, &["o"]);
    let mut born: Vec<_> = after(&start, 1).cells().collect();
    born.sort_unstable();
    assert_eq!(born, [(3, 3), (3, 4), (4, 3), (4, 5), (5, 4), (5, 5)]);
    let start = board("B1/SV:T9,9", 4, 4, &["o"]);
    assert_eq!(after(&start, 1).cells().collect::<Vec<_>>(), [(4, 3), (3, 4), (5, 4), (4, 5)]);
}

/// Checks that the table of a hexagonal rule has the same effect as in Golly. Under this rule a live cell without
/// neighbours survives, and a dead cell is born if the cell above it is alive. If the same table is part of a
/// Generations rule, a dead cell is instead born if the cell to its lower right is alive.
#[test]
fn a_hexagonal_map_begins_at_the_lower_row() {
    const TABLE: &str = "MAPQIAAAAAAAAAAAAAAAAAAAA";
    let next = |rule: &str| after(&board(rule, 4, 4, &["o"]), 1).cells().collect::<Vec<_>>();
    assert_eq!(next(&format!("{TABLE}:T9,9")), [(4, 4), (4, 5)]);
    assert_eq!(next(&format!("{TABLE}/3:T9,9")), [(3, 3), (4, 4)]);
}

/// Checks that Wolfram's rule 30 produces these rows from one cell: 1, 111, 11001, 1101111, …
#[test]
fn wolframs_rules_grow_downwards() {
    let rows = after(&board("W30:P21,12", 10, 0, &["o"]), 11);
    let row = |y: usize| (0..21).filter(|&x| rows.get(x, y)).map(|x| x as i32 - 10).collect::<Vec<_>>();
    assert_eq!(row(1), [-1, 0, 1]);
    assert_eq!(row(2), [-2, -1, 2]);
    assert_eq!(row(3), [-3, -2, 0, 1, 2, 3]);
    assert_eq!(row(4), [-4, -3, 0, 4]);
}

#[test]
fn a_glider_comes_back_where_the_edges_lead() {
    // A glider moves one cell in both directions per 4 generations. After 80 generations it has crossed both edges of a
    // torus of 20 × 20 cells once.
    let glider = |suffix: &str| board(&format!("B3/S23{suffix}"), 8, 8, &GLIDER);
    let torus = glider(":T20,20");
    assert_eq!(after(&torus, 80), torus.1);
    // On a shifted torus the glider returns displaced by the shift.
    let shifted = glider(":T20+1,20");
    let moved = board("B3/S23:T20", 9, 8, &GLIDER).1;
    assert_eq!(after(&shifted, 80), moved);
    // On a plane the glider becomes a block in the corner.
    let plane = glider(":P20,20");
    assert_eq!(after(&plane, 200).cells().collect::<Vec<_>>(), [(18, 18), (19, 18), (18, 19), (19, 19)]);
    assert_eq!(after(&glider(":T20,20"), 200).population(), 5);
}

#[test]
fn a_glider_on_a_klein_bottle_comes_back_mirrored() {
    // The glider crosses the lower edge, which is joined in reverse. It starts at column 8 of 40 and returns mirrored.
    let klein = board("B3/S23:K40*,20", 8, 8, &GLIDER);
    let back = after(&klein, 80);
    // Without the reversal, the glider would arrive at (28, 28), 20 cells to the right and down. With left and right
    // exchanged, its left column is 39 - 28 - 2 and its upper row is 8.
    let mirrored: Vec<String> = GLIDER.iter().map(|row| row.chars().rev().collect()).collect();
    let mirrored: Vec<&str> = mirrored.iter().map(String::as_str).collect();
    assert_eq!(back, board("B3/S23:T40,20", 39 - 28 - 2, 8, &mirrored).1);
    assert_eq!(after(&klein, 160).population(), 5);
}

/// Checks that a spaceship on a cross-surface is reflected when it crosses an edge. When it crosses an edge again, it
/// must have its first orientation.
#[test]
fn a_spaceship_on_a_cross_surface_comes_back_after_two_rounds() {
    let rows = [".o..o", "o....", "o...o", "oooo."];
    let ship = board("B3/S23:C20,20", 8, 3, &rows);
    // The spaceship moves 2 cells to the left per 4 generations.
    let once = after(&ship, 40);
    let flipped: Vec<&str> = rows.iter().rev().copied().collect();
    assert_eq!(once, board("B3/S23:T20,20", 8, 20 - 3 - 4, &flipped).1);
    assert_eq!(after(&ship, 80), ship.1);
}

/// Checks that a spaceship that leaves a sphere's board by the upper edge returns by the left edge.
#[test]
fn a_spaceship_on_a_sphere_turns() {
    // The spaceship moves up in the columns 18 to 21.
    let rows = [".ooo", "o..o", "...o", "...o", "o.o."];
    let ship = board("B3/S23:S40", 18, 8, &rows);
    let turned = after(&ship, 60);
    assert_eq!(turned.population(), 9);
    // The spaceship moves 30 cells: 8 cells up to the edge, and then to the right.
    assert!(turned.cells().all(|(x, y)| x > 15 && (16..24).contains(&y)), "{turned:?}");
}

/// Checks B0123478/S01234678, which is Life with live and dead cells exchanged. As in Golly, its empty board is shown
/// as empty in every generation.
#[test]
fn anti_life_is_life() {
    let glider = board("AntiLife:T20,20", 8, 8, &GLIDER);
    assert_eq!(after(&glider, 80), glider.1);
    // Without S8, odd generations are shown inverted.
    let (rule, start) = board("B03/S23:T20,20", 8, 8, &GLIDER);
    let real = |cells: Vec<u8>| step_by(&rule.rule, Topology::TORUS, &cells, 20, 20);
    let mut cells: Vec<u8> = (0..400).map(|i| u8::from(start.get(i % 20, i / 20))).collect();
    for generation in 1..=6 {
        cells = real(cells);
        let shown = advance_by(&start, &rule.rule, Topology::TORUS, 0, generation);
        let flip = (generation % 2) as u8;
        assert!((0..400).all(|i| u8::from(shown.get(i % 20, i / 20)) == cells[i] ^ flip), "{generation}");
    }
    let halfway = advance_by(&start, &rule.rule, Topology::TORUS, 0, 3);
    let both = advance_by(&halfway, &rule.rule, Topology::TORUS, 3, 3);
    assert_eq!(both, advance_by(&start, &rule.rule, Topology::TORUS, 0, 6));
}
