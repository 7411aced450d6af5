//! Runs Conway's Life with the library. A glider crosses a torus and returns to its first position.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::error::Error;

use life::{Board, LifeExt};

fn main() -> Result<(), Box<dyn Error>> {
    let device = life::open()?; // a GPU if there is one, otherwise the simulator
    println!("{}", device.summary());

    let mut board = Board::new(12, 8)?;
    for (x, y) in [(5, 2), (6, 3), (4, 4), (5, 4), (6, 4)] {
        board.set(x, y, true);
    }

    let mut life = device.life(&board)?;
    for _ in 0..=3 {
        println!("\ngeneration {}, {} cells alive", life.generation(), life.population()?);
        let board = life.board()?;
        for y in 0..board.height() {
            println!("{}", (0..board.width()).map(|x| if board.get(x, y) { 'O' } else { '.' }).collect::<String>());
        }
        life.advance(32)?; // by 8 cells: a glider needs 4 generations for one
    }
    Ok(())
}
