//! The speed of an animation: 2ⁿ generations per frame, or one generation in 2ⁿ frames.

use std::fmt;

/// The speed of an animation: 2ⁿ generations per frame. If n is negative, there is one generation in 2⁻ⁿ frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Speed {
    power: i8,
}

impl Speed {
    const SLOWEST: i8 = -6;
    const FASTEST: i8 = 30;

    /// Returns a speed twice as high, up to 2³⁰ generations per frame.
    pub fn faster(self) -> Self {
        Self { power: (self.power + 1).min(Self::FASTEST) }
    }

    /// Returns a speed half as high, down to one generation in 64 frames.
    pub fn slower(self) -> Self {
        Self { power: (self.power - 1).max(Self::SLOWEST) }
    }

    /// Returns the number of generations to compute in frame number `frame`.
    pub fn due(self, frame: u64) -> u64 {
        if self.power >= 0 { 1 << self.power } else { u64::from(frame.is_multiple_of(1 << -self.power)) }
    }
}

/// Prints the number of generations per frame.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.power {
            power if power >= 0 => write!(f, "×{}", 1u64 << power),
            power => write!(f, "×1/{}", 1u64 << -power),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faster_doubles_and_slower_halves() {
        let speed = Speed::default();
        assert_eq!(speed.due(17), 1);
        assert_eq!(speed.faster().faster().due(3), 4);
        assert_eq!(speed.faster().slower(), speed);
        let quarter = speed.slower().slower();
        assert_eq!((0..8).map(|frame| quarter.due(frame)).collect::<Vec<_>>(), [1, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(quarter.to_string(), "×1/4");
        assert_eq!(speed.faster().to_string(), "×2");
    }

    #[test]
    fn there_is_a_slowest_and_a_fastest() {
        let (mut fast, mut slow) = (Speed::default(), Speed::default());
        for _ in 0..300 {
            (fast, slow) = (fast.faster(), slow.slower());
        }
        assert_eq!(fast.due(0), 1 << 30);
        assert_eq!((0..640).map(|frame| slow.due(frame)).sum::<u64>(), 10);
    }
}
