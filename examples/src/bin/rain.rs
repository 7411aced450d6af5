//! Computes statistics of a year of rain: sum, minimum and maximum by reductions, and running totals by a scan.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::error::Error;

use gridstride::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let device = gridstride::open()?; // a GPU if there is one, otherwise the simulator
    println!("{}", device.summary());

    // The rain of each day in millimetres.
    let rain: Vec<f64> = (0..365).map(|day| f64::from(day * day % 17) * 0.5).collect();

    // The vector is uploaded once. Every call uses the copy on the device.
    let rain = device.upload(&rain)?;
    let year = device.reduce(&rain, Sum)?;
    println!("{year} mm in the year, {} to {} mm a day", device.reduce(&rain, Min)?, device.reduce(&rain, Max)?);

    // Element i is the sum of days 0 to i. A scan of a buffer returns a buffer, and a scan of a slice returns a `Vec`.
    let totals = device.scan_inclusive(&rain, Sum)?.download()?;
    let half = totals.iter().position(|&total| 2.0 * total >= year).unwrap_or(0);
    println!("half of it had fallen by day {half}, {} mm", totals[half]);
    Ok(())
}
