//! Evaluates a log of visits by select, partition, run-length encoding and reduction by key.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use gridstride::prelude::*;

fn main() -> Result<(), AlgorithmError> {
    let device = gridstride::open()?; // a GPU if there is one, otherwise the simulator
    println!("{}", device.summary());

    // A visit has the number of its page and its length in seconds. The log is sorted by page.
    let pages = device.upload(&(0..100_000_u32).map(|visit| visit / 700).collect::<Vec<_>>())?;
    let seconds: Vec<f32> = (0..100_000_u32).map(|visit| (visit * 37 % 101) as f32 * 0.5).collect();
    let seconds = device.upload(&seconds)?;

    let long = device.select(&seconds, within(30.0..))?;
    let (short, others) = device.partition(&seconds, within(..1.0))?;
    println!("{} long visits, {} short ones and {} others", long.len(), short.len(), others.len());

    let (page, visits) = device.run_length_encode(&pages)?;
    let (_, totals) = device.reduce_by_key(&pages, &seconds, Sum)?;
    let (page, visits, totals) = (page.download()?, visits.download()?, totals.download()?);
    println!("page {} has {} visits of {} seconds in total", page[142], visits[142], totals[142]);
    Ok(())
}
