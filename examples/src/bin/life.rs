//! Conway's Life as a library: a glider crosses a torus and comes back to where it was.

use std::error::Error;
use std::io;

use host::life::{Board, LifeKernel, Simulation, plaintext};

fn main() -> Result<(), Box<dyn Error>> {
    let device = host::open()?; // a GPU where there is one, otherwise the simulator
    println!("{}", device.summary());

    let glider = plaintext::parse(".O.\n..O\nOOO")?;
    let mut board = Board::new(12, 8)?;
    board.place_centered(&glider)?;

    let mut life = Simulation::new(&device, LifeKernel::Bitpacked, &board)?;
    for _ in 0..=3 {
        println!("\ngeneration {}, {} cells alive", life.generation(), life.population()?);
        plaintext::write(&life.board()?, &mut io::stdout())?;
        life.advance(32)?; // by 8 cells: a glider needs 4 generations for one
    }
    Ok(())
}
