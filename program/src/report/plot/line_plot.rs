//! Draws a plot of lines.

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::Circle;
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::{Color, RGBColor};

use super::axis::{self, Axis};
use super::{Drawn, Picture, colour, frame};

const SIZE: (u32, u32) = (1000, 620);

/// The maximum number of points of a line with markers.
const MAX_MARKERS: usize = 64;

/// A plot of lines over a common axis. A line of few points has a marker at each point.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinePlot {
    /// The title, with the name of the device.
    pub title: String,
    /// The label of the x axis, with its unit.
    pub x_label: String,
    /// The label of the y axis, with its unit.
    pub y_label: String,
    /// True for an x axis of powers of two. A point whose x is not above 0 is then left out.
    pub x_log2: bool,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
}

/// A line of a plot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    /// The name of the line in the legend.
    pub name: String,
    /// The points of the line from left to right. A point that is not finite is left out.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// Adds a point to the series called `name`, and creates the series if it is missing.
    pub fn add(all: &mut Vec<Series>, name: &str, point: (f64, f64)) {
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series { name: name.to_owned(), points: vec![point] }),
        }
    }
}

/// A line with its style.
pub(super) struct Line<'a> {
    pub series: &'a Series,
    pub colour: RGBColor,
    /// The width of the line in pixels.
    pub width: u32,
    /// The radius of the markers at the line's points; `None` for a dashed line without markers.
    pub markers: Option<u32>,
}

impl Picture for LinePlot {
    fn size(&self) -> (u32, u32) {
        size(self.series.len())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        // Many markers would form a band.
        let markers = |series: &Series| if series.points.len() <= MAX_MARKERS { 4 } else { 0 };
        let line = |(number, series)| Line { series, colour: colour(number), width: 3, markers: Some(markers(series)) };
        let lines: Vec<Line<'_>> = self.series.iter().enumerate().map(line).collect();
        draw(area, &self.title, [&self.x_label, &self.y_label], self.x_log2, &lines)
    }
}

/// Returns the size in pixels of a plot of `lines` lines.
pub(super) fn size(lines: usize) -> (u32, u32) {
    (SIZE.0, SIZE.1.max(frame::height_of_legend(lines)))
}

/// Draws lines over a common x axis. If `x_log2` is true, the axis is one of powers of two.
pub(super) fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    labels: [&str; 2],
    x_log2: bool,
    lines: &[Line<'_>],
) -> Drawn<B> {
    let legend = lines.iter().map(|line| (line.series.name.clone(), line.colour)).collect::<Vec<_>>();
    let rest = frame::draw(area, title, &legend)?;
    let all = || lines.iter().flat_map(|line| &line.series.points);
    let x = all().map(|point| point.0);
    let x = if x_log2 { Axis::powers_of_two(x) } else { Axis::linear(x) };
    let y = Axis::linear(all().map(|point| point.1));
    let x_mark = if x_log2 { axis::power_mark } else { axis::mark };
    let mut chart = frame::chart(&rest, [x, y], labels, [&|x| x_mark(*x), &|y| axis::mark(*y)], true)?;
    for Line { series, colour, width, markers } in lines {
        let place = |&(x, y): &(f64, f64)| (if x_log2 { x.log2() } else { x }, y);
        let is_finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let points: Vec<_> = series.points.iter().map(place).filter(is_finite).collect();
        let Some(radius) = *markers else {
            chart.draw_series(DashedLineSeries::new(points, 9, 6, colour.stroke_width(*width)))?;
            continue;
        };
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(*width)))?;
        if radius > 0 {
            chart.draw_series(points.into_iter().map(|point| Circle::new(point, radius, colour.filled())))?;
        }
    }
    Ok(())
}
