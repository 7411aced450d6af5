//! Measures the generations per second of an animation over the last second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A meter for the speed of an animation in generations per second. The meter includes the time in which the animation
/// waits.
#[derive(Debug, Default)]
pub struct SpeedMeter {
    samples: VecDeque<(Instant, u64)>,
}

impl SpeedMeter {
    const WINDOW: Duration = Duration::from_secs(1);

    /// Records that the animation reached the generation `generation` at the time `now`.
    pub fn record(&mut self, now: Instant, generation: u64) {
        self.samples.push_back((now, generation));
        // The oldest samples are removed, so that the first sample is the newest one that still covers the window.
        while self.samples.get(1).is_some_and(|&(time, _)| now.duration_since(time) >= Self::WINDOW) {
            self.samples.pop_front();
        }
    }

    /// Returns the number of generations per second, or 0 if there are fewer than two samples.
    pub fn rate(&self) -> f64 {
        match (self.samples.front(), self.samples.back()) {
            (Some(&(from, first)), Some(&(to, last))) if to > from => {
                last.saturating_sub(first) as f64 / to.duration_since(from).as_secs_f64()
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let (mut meter, begun) = (SpeedMeter::default(), Instant::now());
        assert_eq!(meter.rate(), 0.0);
        for tenth in 0..=30u32 {
            // The speed is 10 generations per second for two seconds, and 1000 afterwards.
            let generation = if tenth <= 20 { u64::from(tenth) } else { 20 + u64::from(tenth - 20) * 100 };
            meter.record(begun + Duration::from_millis(100) * tenth, generation);
            if tenth == 20 {
                assert!((meter.rate() - 10.0).abs() < 1e-9);
            }
        }
        assert!((meter.rate() - 1000.0).abs() < 1e-9, "{}", meter.rate());
        meter = SpeedMeter::default();
        assert_eq!(meter.rate(), 0.0);
    }

    #[test]
    fn frames_longer_than_the_window_count_as_well() {
        let (mut meter, begun) = (SpeedMeter::default(), Instant::now());
        for frame in 0..4u32 {
            meter.record(begun + Duration::from_secs(4) * frame, u64::from(frame));
        }
        assert!((meter.rate() - 0.25).abs() < 1e-9);
    }
}
