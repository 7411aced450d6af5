//! Patterns on the unbounded plane, which the host's cores advance where they are alive.
//!
//! A [`Plane`] is the engine. The functions of this module make planes for a [`Rule`] of this crate, and copy boards to
//! and from a plane.

use life_cpu::FirstBoard;
pub use life_cpu::plane::{
    Bounds, GENERATIONS_PER_VISIT, LIMIT, Plane, PlaneError, Run, TILE, TILE_BYTES, Tile, check_position,
};

use super::{Board, Rule};
use crate::cpu::engine_rule;
use crate::error::LifeError;

/// Makes a dead plane at generation `generation`. For rules with births without neighbours, even and odd generations
/// differ ([`Rule::phases`]).
pub fn dead(rule: &Rule, generation: u64) -> Plane {
    Plane::new(&engine_rule(rule), generation)
}

/// Replaces the cells of a rectangle by those of `board`. The upper left cell of `board` is placed at column `x` and
/// row `y`.
///
/// # Errors
/// [`LifeError::Plane`] if a cell is outside the plane, or the host has too little memory.
pub fn put(plane: &mut Plane, (x, y): (i64, i64), board: &Board) -> Result<(), LifeError> {
    let (width, height) = (board.width(), board.height());
    let first = FirstBoard { width, height, words: board.words(), ages: board.ages(), generation: 0 };
    Ok(plane.put(x, y, &first)?)
}

/// Returns the cells of a rectangle.
///
/// # Errors
/// [`LifeError::Board`] if no board can have this size, and [`LifeError::CpuMemory`] if the host has too little memory.
pub fn window(plane: &Plane, area: Bounds) -> Result<Board, LifeError> {
    let (width, height) = (area.width as usize, area.height as usize);
    Board::check_size(width, height)?;
    let (words, ages) = plane.window(area.x, area.y, width, height)?;
    Ok(Board::from_words_and_ages(width, height, words, ages)?)
}

/// Continues `plane` with another rule. Cells in states that the new rule does not have become dead.
///
/// # Errors
/// [`LifeError::Plane`] if the host has too little memory. The plane is unchanged then.
pub fn change_rule(plane: &mut Plane, rule: &Rule) -> Result<(), LifeError> {
    Ok(plane.change_rule(&engine_rule(rule))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Topology, reference};

    #[test]
    fn boards_go_to_the_plane_and_back() {
        for text in ["Life", "B36/S23", "B2-a/S12", "B2/S34H", "345/2/4", "B03/S23", "AntiLife"] {
            let rule: Rule = text.parse().unwrap();
            let mut board = Board::with_states(100, 80, rule.states()).unwrap();
            for (i, (x, y)) in Board::random(40, 20, 0.4, 5).unwrap().cells().enumerate() {
                board.set_state(x + 30, y + 30, (1 + i % usize::from(rule.states() - 1)) as u8);
            }
            let mut plane = dead(&rule, 1);
            put(&mut plane, (-70, 9), &board).unwrap();
            let area = Bounds { x: -70, y: 9, width: 100, height: 80 };
            assert_eq!(window(&plane, area).unwrap(), board);
            plane.advance(21).unwrap();
            let expected = reference::advance_by(&board, &rule, Topology::Plane, 1, 21);
            assert!(window(&plane, area).unwrap() == expected, "{text}");
        }
    }
}
