//! Saxpy of vectors that are split over a team, the devices of all ranks.

use launch::Buffer;

use crate::error::MultiError;
use crate::team::Team;
use gridstride::saxpy::{SaxpyElement, SaxpyRung, saxpy};

/// Computes `y[i] = a·x[i] + y[i]` for every element of this rank's segments. On GPUs this function returns before the
/// kernels have finished.
///
/// # Errors
/// Returns the errors of [`saxpy`], and an error if `x` or `y` does not have one buffer per device of this rank.
pub fn split_saxpy<T: SaxpyElement>(
    team: &Team<'_>,
    rung: SaxpyRung,
    a: T,
    x: &[Buffer<T>],
    y: &mut [Buffer<T>],
) -> Result<(), MultiError> {
    team.check("add a·x to segments", x)?;
    team.check("add to segments", y)?;
    Ok(team.devices().iter().zip(x.iter().zip(y)).try_for_each(|(device, (x, y))| saxpy(device, rung, a, x, y))?)
}
