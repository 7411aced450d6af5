//! Cell updates per second and core of each kind of instructions: `cargo run --release -p life_cpu --example speed`. For as
//! many cores as RAYON_NUM_THREADS says.

use std::time::Instant;

use life_cpu::{Instructions, Torus};

fn main() -> Result<(), life_cpu::OutOfMemory> {
    for (width, height) in [(256, 256), (1024, 1024), (4096, 4096), (4000, 4000), (16384, 16384), (65536, 8192)] {
        let words: Vec<u32> = (0..width / 32 * height).map(|i: usize| (i as u32).wrapping_mul(0x9e37_79b9)).collect();
        for instructions in Instructions::available() {
            let mut life = Torus::with(instructions, width, height, &words)?;
            let mut generations = 16;
            let seconds = loop {
                let begun = Instant::now();
                life.advance(generations);
                let took = begun.elapsed().as_secs_f64();
                if took > 0.5 {
                    break took;
                }
                generations *= 2;
            };
            let rate = (width * height) as f64 * generations as f64 / seconds;
            println!("{width}x{height}, {instructions}, {} cores: {rate:.3e} cells/s", Torus::threads());
        }
    }
    Ok(())
}
