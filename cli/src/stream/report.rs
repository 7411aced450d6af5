//! The report of `host stream`.

use std::time::Duration;

use anyhow::anyhow;
use serde::Serialize;

use workbench::stream::{BYTES_TO_DEVICE, BYTES_TO_HOST, Link, Times, median};

use super::A;
use crate::report::plot::{LinePlot, Series};
use crate::report::{self, Bytes};
use workbench::deviation::Deviation;

/// The result of one program of `host stream`.
#[derive(Serialize, Debug)]
pub struct Report {
    device: String,
    program: &'static str,
    n: usize,
    a: f32,
    seed: u64,
    /// The number of bytes that cross the link in a run.
    pub bytes: u64,
    /// The link's speed, measured in the same run.
    pub link: LinkSpeed,
    /// The measurements, one per row.
    pub rows: Vec<Measurement>,
}

/// A row of the report: the medians of the timed runs.
#[derive(Serialize, Debug)]
pub struct Measurement {
    /// The number of streams, if the program varies it.
    pub streams: Option<usize>,
    /// The number of chunks, if the data is divided.
    pub chunks: Option<usize>,
    /// The number of timed runs.
    pub runs: usize,
    /// The time of the copies to the device in seconds, if they are timed as a separate stage.
    pub host_to_device_seconds: Option<f64>,
    /// The time of the kernel in seconds, if it is timed as a separate stage.
    pub kernel_seconds: Option<f64>,
    /// The time of the copies back in seconds, if they are timed as a separate stage.
    pub device_to_host_seconds: Option<f64>,
    /// The time of a run by the wall clock, in seconds.
    pub seconds: f64,
    /// The bytes that cross the link per second of the run, in units of 10⁹.
    pub gigabytes_per_second: f64,
    /// The minimum time of the copies divided by the time of the run. For this minimum, each direction has the speed
    /// that it reaches while the other is idle.
    pub share_of_link: f64,
    /// The minimum time of the copies divided by the time of the run. For this minimum, the link has its speed while
    /// both directions are busy.
    pub share_of_two_way: f64,
    /// The deviation of the results of all runs from the reference, including the first run, which is not timed.
    #[serde(flatten)]
    pub deviation: Deviation,
}

/// The link's speed, in GB of 10⁹ bytes per second.
#[derive(Serialize, Debug)]
pub struct LinkSpeed {
    /// The speed to the device, while nothing is copied back.
    pub host_to_device_gigabytes_per_second: f64,
    /// The speed back to the host, while nothing is copied to the device.
    pub device_to_host_gigabytes_per_second: f64,
    /// The speed of both directions together, with two bytes to the device for each byte back.
    pub both_gigabytes_per_second: f64,
    #[serde(skip)]
    link: Link,
}

/// The runs of one row.
#[derive(Debug)]
pub(super) struct Runs {
    streams: Option<usize>,
    chunks: Option<usize>,
    times: Vec<Times>,
    deviation: Deviation,
}

impl Runs {
    pub fn new(streams: Option<usize>, chunks: Option<usize>) -> Self {
        Self { streams, chunks, times: Vec::new(), deviation: Deviation::default() }
    }

    /// Adds a run. Run 0 warms up and is not timed.
    pub fn add(&mut self, run: usize, times: Times, deviation: Deviation) {
        if run > 0 {
            self.times.push(times);
        }
        self.deviation = std::mem::take(&mut self.deviation).merge(deviation);
    }

    /// Returns the median time of a stage in seconds, or `None` if the stage was not timed separately.
    fn stage(&self, stage: impl Fn(&Times) -> Option<Duration>) -> Option<f64> {
        let times: Option<Vec<_>> = self.times.iter().map(stage).collect();
        times.filter(|times| !times.is_empty()).map(|times| median(times).as_secs_f64())
    }
}

impl Report {
    /// Returns the plot of a run's time over the number of streams or chunks, with the minimum time of the copies for
    /// comparison.
    pub fn plot(&self) -> LinePlot {
        let series = |name: &str, seconds: fn(&Measurement) -> f64| Series {
            name: name.to_owned(),
            points: self
                .rows
                .iter()
                .filter_map(|row| Some((row.streams.or(row.chunks)? as f64, 1e3 * seconds(row))))
                .collect(),
        };
        LinePlot {
            title: format!("saxpy on data of the host, n = {}, {}", self.n, self.device),
            x_label: if self.rows.iter().any(|row| row.streams.is_some()) { "streams" } else { "chunks" }.to_owned(),
            y_label: "wall clock in ms".to_owned(),
            x_log2: self.rows.iter().all(|row| row.streams.is_none()),
            series: vec![
                series("copies and kernels overlapped", |row| row.seconds),
                series("the link, busy both ways", |row| row.seconds * row.share_of_two_way),
            ],
        }
    }

    pub(super) fn new(device: &str, program: &'static str, n: usize, seed: u64, link: Link) -> Self {
        let link = LinkSpeed {
            host_to_device_gigabytes_per_second: link.host_to_device / 1e9,
            device_to_host_gigabytes_per_second: link.device_to_host / 1e9,
            both_gigabytes_per_second: link.both / 1e9,
            link,
        };
        let bytes = (n as u64).saturating_mul(BYTES_TO_DEVICE + BYTES_TO_HOST);
        Self { device: device.to_owned(), program, n, a: A, seed, bytes, link, rows: Vec::new() }
    }

    /// Adds a row.
    pub(super) fn add(&mut self, runs: Runs) {
        let seconds = runs.stage(|times| Some(times.wall)).unwrap_or_default();
        let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        self.rows.push(Measurement {
            streams: runs.streams,
            chunks: runs.chunks,
            runs: runs.times.len(),
            host_to_device_seconds: runs.stage(|times| times.host_to_device),
            kernel_seconds: runs.stage(|times| times.kernel),
            device_to_host_seconds: runs.stage(|times| times.device_to_host),
            seconds,
            gigabytes_per_second: per_second(self.bytes as f64 / 1e9),
            share_of_link: per_second(self.link.link.floor(self.n)),
            share_of_two_way: per_second(self.link.link.two_way(self.n)),
            deviation: runs.deviation,
        });
    }

    /// Prints the report.
    ///
    /// # Errors
    /// If a result is wrong, or the report cannot be written.
    pub fn finish(&self, json: bool) -> anyhow::Result<()> {
        report::print_either(json, self, &self.text())?;
        self.check()
    }

    /// Fails if a result is wrong.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match self.rows.iter().find_map(|row| Some((row.streams, row.chunks, row.deviation.wrong.as_ref()?))) {
            Some((Some(count), _, wrong)) => Err(anyhow!("the result of {count} streams is wrong: {wrong}")),
            Some((None, Some(count), wrong)) => Err(anyhow!("the result of {count} chunks is wrong: {wrong}")),
            Some((None, None, wrong)) => Err(anyhow!("the result of {} is wrong: {wrong}", self.program)),
            None => Ok(()),
        }
    }

    /// Returns the table for the terminal.
    pub fn text(&self) -> String {
        let milliseconds =
            |seconds: Option<f64>| seconds.map_or("–".to_owned(), |seconds| format!("{:.3}", 1e3 * seconds));
        let number = |count: Option<usize>| count.map_or("–".to_owned(), |count| count.to_string());
        let rows = self.rows.iter().map(|row| {
            [
                self.program.to_owned(),
                number(row.streams),
                number(row.chunks),
                milliseconds(row.host_to_device_seconds),
                milliseconds(row.kernel_seconds),
                milliseconds(row.device_to_host_seconds),
                milliseconds(Some(row.seconds)),
                format!("{:.1}", row.gigabytes_per_second),
                format!("{:.1}%", 100.0 * row.share_of_link),
                format!("{:.1}%", 100.0 * row.share_of_two_way),
                row.runs.to_string(),
                format!("{:.2}", row.deviation.of_bound),
            ]
        });
        let heading = [
            "program",
            "streams",
            "chunks",
            "h2d ms",
            "kernel ms",
            "d2h ms",
            "wall ms",
            "GB/s",
            "of link",
            "of two-way",
            "runs",
            "error of allowed",
        ];
        format!(
            "saxpy on data of the host, f32, n = {}, on {}: {} over the link\nthe link copies page-locked memory at \
             {:.1} GB/s to the device and {:.1} GB/s back, and both at once at {:.1} GB/s\n{}",
            self.n,
            self.device,
            Bytes(self.bytes),
            self.link.host_to_device_gigabytes_per_second,
            self.link.device_to_host_gigabytes_per_second,
            self.link.both_gigabytes_per_second,
            report::table(heading, rows),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { host_to_device: 50e9, device_to_host: 50e9, both: 72e9 };

    fn times(wall: u64, stages: Option<u64>) -> Times {
        let stage = stages.map(Duration::from_millis);
        Times { host_to_device: stage, kernel: stage, device_to_host: stage, wall: Duration::from_millis(wall) }
    }

    #[test]
    fn the_plot_has_the_streams_and_the_link() {
        let report = report();
        let plot = report.plot();
        for series in &plot.series {
            assert_eq!(series.points.len(), report.rows.iter().filter(|row| row.streams.is_some()).count());
        }
        let row = &report.rows[0];
        if let Some(streams) = row.streams {
            assert_eq!(plot.series[0].points[0], (streams as f64, 1e3 * row.seconds));
        }
        assert!(plot.series[1].points.iter().zip(&plot.series[0].points).all(|(link, all)| link.1 <= all.1));
    }

    fn report() -> Report {
        let mut report = Report::new("GPU X", "streams", 50_000_000, 7, LINK);
        let mut one = Runs::new(Some(1), Some(1));
        for (run, wall) in [90, 16, 14, 18].into_iter().enumerate() {
            one.add(run, times(wall, Some(wall / 4)), Deviation::default());
        }
        report.add(one);
        let mut two = Runs::new(Some(2), Some(64));
        for run in 0..2 {
            two.add(run, times(10, None), Deviation::default());
        }
        report.add(two);
        report
    }

    #[test]
    fn the_table_has_medians_rate_and_share() {
        let text = report().text();
        for part in [
            "n = 50000000, on GPU X: 572.2 MiB over",
            "50.0 GB/s to the device and 50.0 GB/s back, and both at once at 72.0 GB/s",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let cells: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.trim_start().starts_with("streams"))
            .map(|line| line.split_whitespace().collect())
            .collect();
        // The run moves 600 MB in 16 ms. The copies take at least 8 ms, and 8.33 ms at the speed of both directions
        // together.
        assert_eq!(cells[0][1..9], ["1", "1", "4.000", "4.000", "4.000", "16.000", "37.5", "50.0%"]);
        assert_eq!(cells[0][9..], ["52.1%", "3", "0.00"]);
        assert_eq!(cells[1][1..], ["2", "64", "–", "–", "–", "10.000", "60.0", "80.0%", "83.3%", "1", "0.00"]);
    }

    #[test]
    fn json_has_the_same() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!((&json["program"], &json["bytes"]), (&"streams".into(), &600_000_000_u64.into()));
        assert_eq!(json["link"]["host_to_device_gigabytes_per_second"], 50.0);
        assert_eq!(json["link"]["both_gigabytes_per_second"], 72.0);
        let rows = &json["rows"];
        assert_eq!((&rows[0]["streams"], &rows[0]["runs"]), (&1.into(), &3.into()));
        assert_eq!(rows[1]["chunks"], 64);
        assert_eq!((&rows[0]["seconds"], &rows[0]["kernel_seconds"]), (&0.016.into(), &0.004.into()));
        assert!(rows[1]["kernel_seconds"].is_null());
        assert_eq!((&rows[1]["share_of_link"], &rows[1]["of_bound"]), (&0.8.into(), &0.0.into()));
    }

    #[test]
    fn a_wrong_result_is_a_failure() {
        let mut report = report();
        assert!(report.check().is_ok());
        let mut deviation = Deviation::default();
        deviation.add(3, 1.0, 2.0, 0.5);
        let mut runs = Runs::new(Some(3), Some(3));
        // The untimed run counts, too.
        runs.add(0, times(1, None), deviation);
        report.add(runs);
        let message = report.check().unwrap_err().to_string();
        assert_eq!(message, "the result of 3 streams is wrong: element 3 is 1, and should be 2");
    }

    #[test]
    fn no_elements_and_no_time_have_no_rate() {
        let mut report = Report::new("GPU X", "mapped", 0, 0, LINK);
        for wall in [0, 10] {
            let mut runs = Runs::new(None, None);
            runs.add(1, times(wall, None), Deviation::default());
            report.add(runs);
        }
        for row in &report.rows {
            assert_eq!((row.gigabytes_per_second, row.share_of_link, row.share_of_two_way), (0.0, 0.0, 0.0));
        }
    }
}
