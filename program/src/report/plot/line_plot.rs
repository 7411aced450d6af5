//! A plot of lines.

use plotters::backend::DrawingBackend;
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::Circle;
use plotters::series::LineSeries;
use plotters::style::{Color, TRANSPARENT};

use super::axis::{self, Axis};
use super::{Drawn, Picture, colour, frame};

const SIZE: (u32, u32) = (1000, 620);

/// The most points of a line that has markers.
const MAX_MARKERS: usize = 64;

/// Lines over a common axis. A line of few points has a marker at each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinePlot {
    /// The title: what it shows, on which device.
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

/// One line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points from left to right. A point that is not finite is left out.
    pub points: Vec<(f64, f64)>,
}

impl Picture for LinePlot {
    fn size(&self) -> (u32, u32) {
        (SIZE.0, SIZE.1.max(frame::height_of_legend(self.series.len())))
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let names: Vec<String> = self.series.iter().map(|series| series.name.clone()).collect();
        let rest = frame::draw(area, &self.title, &names)?;
        let all = || self.series.iter().flat_map(|series| &series.points);
        let x = all().map(|point| point.0);
        let x = if self.x_log2 { Axis::powers_of_two(x) } else { Axis::linear(x) };
        let y = Axis::linear(all().map(|point| point.1));
        let x_mark = if self.x_log2 { axis::power_mark } else { axis::mark };
        let (x_marks, y_marks) = (x.marks.len(), y.marks.len());
        let mut builder = ChartBuilder::on(&rest);
        builder.margin(frame::CHART_MARGIN).x_label_area_size(frame::X_LABELS).y_label_area_size(frame::Y_LABELS);
        let mut chart = builder.build_cartesian_2d(x, y)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(self.x_label.clone()).y_desc(self.y_label.clone()).axis_desc_style(frame::text(frame::LABEL));
        mesh.label_style(frame::text(frame::TICK)).x_labels(x_marks).y_labels(y_marks);
        mesh.axis_style(frame::TEXT).bold_line_style(frame::GRID).light_line_style(TRANSPARENT);
        mesh.x_label_formatter(&|x| x_mark(*x)).y_label_formatter(&|y| axis::mark(*y)).draw()?;
        for (number, points) in self.points().enumerate() {
            chart.draw_series(LineSeries::new(points.clone(), colour(number).stroke_width(3)))?;
            // Many markers would form a band.
            let marked = if points.len() <= MAX_MARKERS { points } else { Vec::new() };
            chart.draw_series(marked.into_iter().map(|point| Circle::new(point, 4, colour(number).filled())))?;
        }
        Ok(())
    }
}

impl LinePlot {
    /// Returns the points of each line as they are drawn.
    fn points(&self) -> impl Iterator<Item = Vec<(f64, f64)>> {
        self.series.iter().map(|series| {
            let place = |&(x, y): &(f64, f64)| (if self.x_log2 { x.log2() } else { x }, y);
            series.points.iter().map(place).filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
        })
    }
}
