//! `host access`: measures the cost of misaligned and strided access.

use std::ops::{Add, Range};

use anyhow::{Context, anyhow};
use clap::Args;
use gpu::probe::{access_offset, access_strided};
use launch::{Buffer, Device, LaunchConfig};
use serde::Serialize;

use crate::error::UsageError;
use crate::measure::{self, Timing};
use crate::options::parse_count;
use crate::report::plot::{LinePlot, Series};
use crate::report::{self, Bytes};
use gridstride::numbers::Number;
use workbench::inputs;

use super::{ProbeOptions, Thorough, percent};

/// The number of threads per block.
const BLOCK: u32 = 256;

/// The largest offset and the largest stride, in elements.
const MAX_STEP: usize = 32;

/// The number of elements that are compared with the expected values at a time.
const PIECE: usize = 1 << 14;

/// The remedy for too little memory.
const FEWER: &str = "use fewer elements with --n";

/// Measure what misaligned and strided access to a GPU's memory cost
///
/// Follows NVIDIA's article "How to Access Global Memory Efficiently": one thread per element adds 1 to element i +
/// offset, or to element i·stride. Bandwidth counts these elements' own bytes, read and written, in GB of 10⁹ bytes.
/// Times are medians of runs that are repeated until they are steady. Every run is checked.
#[derive(Args, Debug)]
pub struct AccessOptions {
    /// Elements to access, such as 1_000_000 or 2^25; the array has up to 32 times as many
    #[arg(long, value_name = "N", default_value = "2^25", value_parser = parse_count)]
    n: usize,

    #[command(flatten)]
    thorough: Thorough,

    #[command(flatten)]
    probe: ProbeOptions,
}

/// The rule by which a thread finds its element.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Pattern {
    Offset,
    Stride,
}

impl Pattern {
    const fn name(self) -> &'static str {
        match self {
            Self::Offset => "offset",
            Self::Stride => "stride",
        }
    }

    /// Returns the offsets or strides, the aligned one first.
    fn steps(self) -> Range<usize> {
        match self {
            Self::Offset => 0..MAX_STEP + 1,
            Self::Stride => 1..MAX_STEP + 1,
        }
    }

    /// Returns the indices of the elements that `n` threads access, without the indices outside `part`.
    fn places(self, step: usize, n: usize, part: &Range<usize>) -> impl Iterator<Item = usize> {
        let (first, end, step) = match self {
            Self::Offset => (part.start.max(step), n.saturating_add(step), 1),
            Self::Stride => (part.start.next_multiple_of(step), n.saturating_mul(step), step),
        };
        (first..end.min(part.end)).step_by(step)
    }
}

/// The result that the command prints.
#[derive(Serialize, Debug)]
struct Summary {
    device: String,
    n: usize,
    measurements: Vec<Measurement>,
}

/// The measurement of one offset or stride.
#[derive(Clone, Copy, Serialize, Debug)]
struct Measurement {
    pattern: Pattern,
    step: usize,
    element: &'static str,
    runs: usize,
    seconds: f64,
    gigabytes_per_second: f64,
}

/// Launches the kernel of a pattern on `n` elements.
fn launch<T>(device: &Device, pattern: Pattern, n: usize, step: usize, a: &mut Buffer<T>) -> anyhow::Result<()>
where
    T: Number + Add<Output = T> + From<u8>,
{
    let call = match pattern {
        Pattern::Offset => access_offset::if_built::<T>(n, step, a.view_mut()),
        Pattern::Stride => access_strided::if_built::<T>(n, step, a.view_mut()),
    };
    let config = LaunchConfig::new(u32::try_from(n.div_ceil(BLOCK as usize)).unwrap_or(u32::MAX), BLOCK);
    Ok(device.launch(config, call.context("the kernel is not built for this type")?)?)
}

impl AccessOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] in the simulator and for wrong options; another error if the device fails or has too little
    /// memory, or a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        if self.n == 0 {
            return Err(UsageError("--n: 0 elements leave nothing to measure: use at least 1".into()).into());
        }
        let device = self.probe.open_gpu("access", "")?;
        let mut measurements = Vec::new();
        for pattern in [Pattern::Offset, Pattern::Stride] {
            measurements.extend(self.measure::<f32>(&device, pattern)?);
            measurements.extend(self.measure::<f64>(&device, pattern)?);
        }
        let summary = Summary { device: device.name().to_owned(), n: self.n, measurements };
        self.probe.finish(&summary, &summary.text(), || summary.plot())
    }

    /// Returns the length of the array for a pattern.
    fn len(&self, pattern: Pattern) -> usize {
        match pattern {
            Pattern::Offset => self.n.saturating_add(MAX_STEP),
            Pattern::Stride => self.n.saturating_mul(MAX_STEP),
        }
    }

    /// Measures every offset or stride on one array, and then checks how often each element was incremented.
    fn measure<T>(&self, device: &Device, pattern: Pattern) -> anyhow::Result<Vec<Measurement>>
    where
        T: Number + Add<Output = T> + From<u8>,
    {
        let len = self.len(pattern);
        measure::check_memory(device, (len as u64).saturating_mul(size_of::<T>() as u64), FEWER)?;
        let mut host = inputs::host_memory::<T>(len, FEWER)?;
        let mut a = device.zeroed::<T>(len)?;
        let mut timings = Vec::new();
        for step in pattern.steps() {
            let mut run = || launch(device, pattern, self.n, step, &mut a);
            run()?;
            let timing = self.thorough.time(device, run)?;
            timings.push((step, timing));
        }
        a.download_into(&mut host)?;
        if let Some(wrong) = wrong(pattern, self.n, &timings, &host) {
            return Err(anyhow!("the result of {} access in {} is wrong: {wrong}", pattern.name(), T::TYPE));
        }
        let bytes = 2.0 * self.n as f64 * size_of::<T>() as f64;
        let measurement = |(step, Timing { seconds, runs })| Measurement {
            pattern,
            step,
            element: T::TYPE.name(),
            runs,
            seconds,
            gigabytes_per_second: bytes / seconds / 1e9,
        };
        Ok(timings.into_iter().map(measurement).collect())
    }
}

/// Returns a description of the first wrong element, or `None` if all are right. `timings` has the number of timed runs
/// for each offset or stride. One untimed run came before the timed runs of each. Each run increments every element
/// that it accesses. The counts are far below 2²⁴, so floats represent them exactly.
fn wrong<T: Number>(pattern: Pattern, n: usize, timings: &[(usize, Timing)], found: &[T]) -> Option<String> {
    // Compares the elements in pieces that fit in a cache.
    let of_piece = |piece: Range<usize>| {
        let mut expected = vec![0; piece.len()];
        for (step, timing) in timings {
            pattern.places(*step, n, &piece).for_each(|place| expected[place - piece.start] += timing.runs + 1);
        }
        let wrong =
            |(place, expected): (usize, usize)| (found[place].to_f64() != expected as f64).then_some((place, expected));
        piece.zip(expected).find_map(wrong)
    };
    let of_part = |part: Range<usize>| {
        let end = part.end;
        part.step_by(PIECE).find_map(|start| of_piece(start..end.min(start + PIECE)))
    };
    let first = inputs::in_parts(found.len(), of_part).into_iter().flatten().next();
    first.map(|(place, expected)| format!("element {place} is {}, and should be {expected}", found[place]))
}

impl Summary {
    /// Returns the measurements of a pattern for one type.
    fn of(&self, pattern: Pattern, element: &str) -> impl Iterator<Item = &Measurement> {
        self.measurements.iter().filter(move |one| one.pattern == pattern && one.element == element)
    }

    fn text(&self) -> String {
        let [single, double] = [4, 8].map(|bytes| Bytes(2 * bytes * self.n as u64));
        let mut text = format!(
            "access on {}: {} elements read and written, {single} of f32 or {double} of f64; GB/s of 10⁹ bytes of \
             these elements, medians\n",
            self.device,
            report::grouped(self.n as u64)
        );
        for pattern in [Pattern::Offset, Pattern::Stride] {
            let aligned = |element| self.of(pattern, element).next().map_or(1.0, |one| one.gigabytes_per_second);
            let (aligned_single, aligned_double) = (aligned("f32"), aligned("f64"));
            let rows = self.of(pattern, "f32").zip(self.of(pattern, "f64")).map(|(single, double)| {
                let (single_rate, double_rate) = (single.gigabytes_per_second, double.gigabytes_per_second);
                [
                    single.step.to_string(),
                    format!("{single_rate:.1}"),
                    percent(single_rate, aligned_single),
                    format!("{double_rate:.1}"),
                    percent(double_rate, aligned_double),
                ]
            });
            let heading = [pattern.name(), "f32 GB/s", "of aligned", "f64 GB/s", "of aligned"];
            text += &format!("\n{}\n", report::table(heading, rows));
        }
        text
    }

    fn plot(&self) -> LinePlot {
        let lines = [Pattern::Offset, Pattern::Stride]
            .into_iter()
            .flat_map(|pattern| ["f32", "f64"].map(|element| (pattern, element)));
        let series = lines.map(|(pattern, element)| Series {
            name: format!("{}, {element}", pattern.name()),
            points: self.of(pattern, element).map(|one| (one.step as f64, one.gigabytes_per_second)).collect(),
        });
        LinePlot {
            title: format!("access on {}", self.device),
            x_label: "offset or stride (elements)".into(),
            y_label: "GB/s of the elements accessed".into(),
            x_log2: false,
            series: series.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_runs_that_access_an_element() {
        let n = 10;
        for pattern in [Pattern::Offset, Pattern::Stride] {
            let timings: Vec<_> = pattern.steps().map(|step| (step, Timing { seconds: 1.0, runs: step + 4 })).collect();
            let mut counts = vec![0.0_f32; n * MAX_STEP + MAX_STEP];
            for (step, timing) in &timings {
                for i in 0..n {
                    let place = if pattern == Pattern::Offset { i + step } else { i * step };
                    counts[place] += (timing.runs + 1) as f32;
                }
            }
            assert_eq!(wrong(pattern, n, &timings, &counts), None, "{pattern:?}");
            counts[9] += 1.0;
            assert!(wrong(pattern, n, &timings, &counts).unwrap().starts_with("element 9 is"), "{pattern:?}");
        }
    }

    #[test]
    fn tables_and_lines_compare_with_the_aligned_speed() {
        let mut measurements = Vec::new();
        for pattern in [Pattern::Offset, Pattern::Stride] {
            for element in ["f32", "f64"] {
                measurements.extend(pattern.steps().map(|step| Measurement {
                    pattern,
                    step,
                    element,
                    runs: 5,
                    seconds: 1.0,
                    gigabytes_per_second: 4000.0 / step.max(1) as f64,
                }));
            }
        }
        let summary = Summary { device: "NVIDIA H200".into(), n: 1 << 25, measurements };
        let text = summary.text();
        for part in ["33,554,432 elements", "256 MiB of f32 or 512 MiB of f64", "offset", "stride", "100.0%", "12.5%"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let plot = summary.plot();
        assert_eq!(plot.series.iter().map(|series| series.points.len()).collect::<Vec<_>>(), [33, 33, 32, 32]);
        assert_eq!(plot.series[3].points[1], (2.0, 2000.0));
    }
}
