//! The divergence kernels, and references for their results.

use gpu::probe::{Path, by_thread, by_warp, divergence_by_thread, divergence_by_warp};
use launch::{Buffer, Device, Kernel, LaunchConfig};
use thiserror::Error;

/// The number of threads per block.
pub const BLOCK: u32 = 256;

/// The index whose parity decides which branch a thread takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The index of the thread.
    Thread,
    /// The index of the warp.
    Warp,
}

impl Decision {
    /// Launches the divergence kernel of this decision with `grid` blocks.
    ///
    /// # Errors
    /// The error of the launch.
    pub fn launch(self, device: &Device, grid: u32, rounds: u32, y: &mut Buffer<f32>) -> Result<(), launch::Error> {
        let config = LaunchConfig::new(grid, BLOCK);
        match self {
            Self::Thread => device.launch(config, divergence_by_thread(rounds, y.view_mut())),
            Self::Warp => device.launch(config, divergence_by_warp(rounds, y.view_mut())),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Thread => <divergence_by_thread as Kernel>::INFO.name,
            Self::Warp => <divergence_by_warp as Kernel>::INFO.name,
        }
    }
}

/// Returns element `i` of the kernel's result, computed on the CPU.
pub fn reference(decision: Decision, i: usize, rounds: u32) -> f32 {
    let decides = match decision {
        Decision::Thread => by_thread(i),
        Decision::Warp => by_warp(i),
    };
    let path = if decides.is_multiple_of(2) { Path::EVEN } else { Path::ODD };
    let mut value = (i % 256) as f32;
    for _ in 0..rounds {
        value = value.mul_add(path.factor, path.addend);
    }
    value
}

/// The error of a result that has a wrong element.
#[derive(Clone, PartialEq, Debug, Error)]
#[error("the result of {kernel} with {rounds} rounds is wrong: element {i} is {found}, and should be {expected}")]
pub struct WrongElement {
    kernel: &'static str,
    rounds: u32,
    i: usize,
    found: f32,
    expected: f32,
}

/// Checks that `found` equals the reference, which has a period of 256 elements.
///
/// # Errors
/// [`WrongElement`] for the first wrong element.
pub fn check(decision: Decision, rounds: u32, found: &[f32]) -> Result<(), WrongElement> {
    let period: Vec<f32> = (0..BLOCK as usize).map(|i| reference(decision, i, rounds)).collect();
    match found.iter().zip(period.iter().cycle()).position(|(found, expected)| found != expected) {
        Some(i) => Err(WrongElement {
            kernel: decision.name(),
            rounds,
            i,
            found: found[i],
            expected: period[i % period.len()],
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_follows_the_paths() {
        assert_eq!(reference(Decision::Thread, 6, 0), 6.0);
        assert_eq!(reference(Decision::Thread, 6, 1), (6.0_f64 * f64::from(0.9995_f32) + 0.25) as f32);
        assert_eq!(reference(Decision::Thread, 7, 1), (7.0_f64 * f64::from(0.9998_f32) - 0.125) as f32);
        assert_eq!(reference(Decision::Warp, 7, 1), (7.0_f64 * f64::from(0.9995_f32) + 0.25) as f32);
        assert_eq!(reference(Decision::Warp, 32, 1), (32.0_f64 * f64::from(0.9998_f32) - 0.125) as f32);
        for i in [1, 2] {
            let near = |rounds| f64::from(reference(Decision::Thread, i, rounds));
            let (factor, addend) = if i == 1 { (0.9998_f64, -0.125) } else { (0.9995, 0.25) };
            let limit = addend / (1.0 - factor);
            let expected = limit + (i as f64 - limit) * factor.powi(1000);
            assert!((near(1000) - expected).abs() < 0.05, "{} {expected}", near(1000));
        }
    }

    #[test]
    fn a_wrong_element_is_reported() {
        let mut found: Vec<f32> = (0..1000).map(|i| reference(Decision::Warp, i, 3)).collect();
        check(Decision::Warp, 3, &found).unwrap();
        assert!(check(Decision::Thread, 3, &found).is_err() && check(Decision::Warp, 4, &found).is_err());
        found[700] = f32::NAN;
        let message = check(Decision::Warp, 3, &found).unwrap_err().to_string();
        assert!(message.contains("divergence_by_warp with 3 rounds") && message.contains("element 700"), "{message}");
    }
}
