//! Computes `y = a·x + y` on slices.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::error::Error;

use gridstride::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let device = gridstride::open()?; // a GPU if there is one, otherwise the simulator
    println!("{}", device.summary());

    let x: Vec<f32> = (0..1_000_000).map(|i| i as f32).collect();
    let mut y = vec![0.5; x.len()];
    device.saxpy(2.0, &x, &mut y)?; // y[i] = 2·x[i] + y[i]

    println!("y[..4] = {:?}, y[999999] = {}", &y[..4], y[999_999]);
    Ok(())
}
