//! Draws a timeline: bars over time, with a row for each multiprocessor or other place.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::Rectangle;
use plotters::style::Color;

use super::axis::{self, Axis};
use super::{Drawn, Picture, colour, frame};

const WIDTH: u32 = 1200;

/// The height of all rows together in pixels, as long as the height of a lane is within the limits of [`LANE_HEIGHT`].
const ROWS_HEIGHT: u32 = 900;
const LANE_HEIGHT: std::ops::RangeInclusive<u32> = 4..=30;

/// The number of pixels between two rows.
const GAP: u32 = 3;

/// The number of pixels above and below all rows together.
const AROUND: u32 = frame::TOP + 2 * frame::CHART_MARGIN + frame::X_LABELS;

/// A timeline: bars over time, with a row for each place where work ran.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timeline {
    /// The title, with the name of the device.
    pub title: String,
    /// The label of the time axis, with its unit.
    pub x_label: String,
    /// The label of the rows.
    pub y_label: String,
    /// The rows' names, from the top.
    pub rows: Vec<String>,
    /// The kinds of bars, in the order of the legend and of the colours.
    pub kinds: Vec<String>,
    /// The bars of all rows.
    pub bars: Vec<Bar>,
}

/// A bar of a timeline: a piece of work that ran in one place.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bar {
    /// The number of the bar's row.
    pub row: usize,
    /// The bar's lane in its row, from 0. Bars that overlap in time have different lanes.
    pub lane: usize,
    /// The number of the bar's kind.
    pub kind: usize,
    /// The time at which the work began.
    pub begin: f64,
    /// The time at which the work ended.
    pub end: f64,
}

impl Timeline {
    fn rows(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX).max(1)
    }

    fn lanes(&self) -> u32 {
        let lanes = self.bars.iter().map(|bar| bar.lane).max().unwrap_or(0);
        u32::try_from(lanes).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Returns the height in pixels of a bar and the gap below it.
    fn lane_height(&self) -> u32 {
        let height = (ROWS_HEIGHT / self.rows()).saturating_sub(GAP) / self.lanes();
        height.clamp(*LANE_HEIGHT.start(), *LANE_HEIGHT.end())
    }

    fn row_height(&self) -> u32 {
        self.lanes().saturating_mul(self.lane_height()).saturating_add(GAP)
    }
}

impl Picture for Timeline {
    fn size(&self) -> (u32, u32) {
        // The height is limited to what image viewers can show.
        let rows = self.rows().saturating_mul(self.row_height()).min(16_000);
        (WIDTH, (rows + AROUND).max(frame::height_of_legend(self.kinds.len())))
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let legend: Vec<_> = self.kinds.iter().cloned().zip((0..).map(colour)).collect();
        let rest = frame::draw(area, &self.title, &legend)?;
        let time = Axis::linear(self.bars.iter().flat_map(|bar| [bar.begin, bar.end]));
        let rows = self.rows() as usize;
        // If there is no room for all names, only every n-th row has a name.
        let every = (frame::TICK as u32 + 3).div_ceil(self.row_height()).max(1) as usize;
        let named = (0..rows).step_by(every).map(|row| row as f64 + 0.5).collect();
        let places = Axis { ends: (rows as f64, 0.0), marks: named };
        let name = |row: &f64| self.rows.get(row.floor() as usize).cloned().unwrap_or_default();
        let labels = [self.x_label.as_str(), &self.y_label];
        let mut chart = frame::chart(&rest, [time, places], labels, [&|time| axis::mark(*time), &name], false)?;
        let (row_height, lane_height) = (f64::from(self.row_height()), f64::from(self.lane_height()));
        chart.draw_series(self.bars.iter().map(|bar| {
            let top = bar.row as f64 + (1.0 + bar.lane as f64 * lane_height) / row_height;
            // A line of pixels stays free between two bars.
            let bottom = top + (lane_height - 1.0) / row_height;
            Rectangle::new([(bar.begin, top), (bar.end, bottom)], colour(bar.kind).filled())
        }))?;
        Ok(())
    }
}
