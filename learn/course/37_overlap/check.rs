//! Checks `overlap.rs`.

mod overlap;

use cuda_std::{GlobalMut, kernel, thread};
use learn::{Case, CaseResult, Error, Exercise, Run};
use overlap::enqueue;

/// The number of elements of a piece.
const PIECE: usize = 128;

fn main() -> std::process::ExitCode {
    exercise().main()
}

pub fn exercise() -> Exercise {
    Exercise::new(Case::new("overlap", case).check_sizes(&[2, 5]).explain_size(8).bench_size(1 << 6))
}

/// Squares `run.n()` pieces.
fn case(run: &Run) -> CaseResult {
    let n = run.n() * PIECE;
    let input: Vec<u32> = (2..n as u32 + 2).collect();
    let mut memory = run.device().alloc(n)?;
    let mut output = vec![0; n];
    run.measure(8 * n, || {
        let (x, pieces) = (memory.view_mut(), input.chunks(PIECE).zip(output.chunks_mut(PIECE)).enumerate());
        run.device().streams(2, |streams| {
            for (i, (from, into)) in pieces {
                enqueue(streams, i, (from, x.part(i * PIECE, PIECE), into))?;
            }
            Ok(())
        })
    })?;
    if !run.is_checked() {
        return Ok(());
    }
    if let Some(i) = (0..n).find(|i| output[*i] != input[*i] * input[*i]) {
        return Err(format!("the result is wrong: y[{i}] is {} instead of {}", output[i], input[i] * input[i]).into());
    }
    // A GPU does not report races.
    if run.device().is_simulated() { can_overlap(run) } else { Ok(()) }
}

/// Checks that two pieces can overlap: if both were in the same memory of the device, they would race.
fn can_overlap(run: &Run) -> CaseResult {
    let mut memory = run.device().alloc(PIECE)?;
    let (from, mut into) = ([1; PIECE], [0; 2 * PIECE]);
    let (x, (first, second)) = (memory.view_mut(), into.split_at_mut(PIECE));
    let raced = run.device().streams(2, |streams| {
        enqueue(streams, 0, (&from, x, first))?;
        enqueue(streams, 1, (&from, x, second))
    });
    match raced {
        Err(Error::StreamRace(_)) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Err(why_not(run)?.into()),
    }
}

/// Returns why two pieces cannot overlap. A copy in a third stream races with piece 0 unless the host has waited.
fn why_not(run: &Run) -> Result<String, Error> {
    let mut memory = run.device().alloc(PIECE)?;
    let (from, mut into) = ([1; PIECE], [0; PIECE]);
    let (x, into) = (memory.view_mut(), &mut into[..]);
    let raced = run.device().streams(3, |streams| {
        enqueue(&streams[..2], 0, (&from, x, into))?;
        streams[2].upload(x, &from)
    });
    let why = match raced {
        Err(Error::StreamRace(race)) => format!(
            "piece 1 waits for the work of piece 0 enqueued at {}, because both are in one stream, or because a stream \
             waits",
            race.earlier.location
        ),
        Err(error) => return Err(error),
        Ok(()) => "the host waits until all work of piece 0 is done".to_owned(),
    };
    Ok(format!("the pieces 0 and 1 cannot overlap: {why}"))
}

/// Squares each element of `x`; any grid.
#[kernel]
pub fn square(x: GlobalMut<u32>) {
    for i in thread::grid_stride(x.len()) {
        x.store(i, x.load(i) * x.load(i));
    }
}
