//! saxpy of vectors split over members.

use launch::Buffer;

use crate::error::MultiError;
use crate::team::Team;
use gridstride::saxpy::{Real, SaxpyRung, saxpy};

/// Computes `y[i] = a·x[i] + y[i]` for every element of this rank's parts. On GPUs it returns at once.
///
/// # Errors
/// As for [`saxpy`]; when there is not a buffer of each for each of the rank's devices.
pub fn split_saxpy<T: Real>(
    team: &Team<'_>,
    rung: SaxpyRung,
    a: T,
    x: &[Buffer<T>],
    y: &mut [Buffer<T>],
) -> Result<(), MultiError> {
    team.check("add a·x to parts", x)?;
    team.check("add to parts", y)?;
    Ok(team.devices().iter().zip(x.iter().zip(y)).try_for_each(|(device, (x, y))| saxpy(device, rung, a, x, y))?)
}
