//! saxpy of vectors split over members.

use launch::Buffer;

use super::{Real, SaxpyRung, saxpy};
use crate::error::AlgorithmError;
use crate::split::Team;

pub(super) mod scaling;

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
) -> Result<(), AlgorithmError> {
    team.check("add a·x to parts", x)?;
    team.check("add to parts", y)?;
    team.devices().iter().zip(x.iter().zip(y)).try_for_each(|(device, (x, y))| saxpy(device, rung, a, x, y))
}
