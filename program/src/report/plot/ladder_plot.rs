//! The plot of a ladder: its rungs over the size of the problem, beside references.

use plotters::backend::DrawingBackend;
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::Circle;
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::{Color, RGBColor, TRANSPARENT};

use super::axis::{self, Axis};
use super::{Drawn, Picture, Series, frame};

const SIZE: (u32, u32) = (1000, 620);

/// The colours of the rungs, from the plainest to the last. They go from light to dark, so that their order is visible
/// for any colour vision.
const STEPS: [RGBColor; 5] = [
    RGBColor(232, 178, 38),
    RGBColor(120, 186, 80),
    RGBColor(38, 148, 138),
    RGBColor(50, 96, 150),
    RGBColor(68, 8, 92),
];

/// The colours of the references, which no rung has. Their lines are dashed.
const REFERENCES: [RGBColor; 3] = [RGBColor(120, 120, 120), RGBColor(205, 40, 30), RGBColor(20, 20, 20)];

/// Lines over the size of a problem, on an axis of powers of two.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LadderPlot {
    /// The title: what it shows, on which device.
    pub title: String,
    /// The label of the x axis. A point whose x is not above 0 is left out.
    pub x_label: String,
    /// The label of the y axis, with its unit.
    pub y_label: String,
    /// The rungs, the plainest first.
    pub rungs: Vec<Series>,
    /// The lines that the rungs are compared with.
    pub references: Vec<Series>,
}

impl LadderPlot {
    /// Returns the colour of a line; the rungs come first.
    fn colour(&self, number: usize) -> RGBColor {
        match number.checked_sub(self.rungs.len()) {
            Some(reference) => REFERENCES[reference % REFERENCES.len()],
            None => shade(number, self.rungs.len()),
        }
    }

    fn lines(&self) -> impl Iterator<Item = &Series> {
        self.rungs.iter().chain(&self.references)
    }
}

/// Returns the colour of step `number` of `count`, between those of [`STEPS`].
fn shade(number: usize, count: usize) -> RGBColor {
    let Some(last) = count.checked_sub(1).filter(|&last| last > 0) else { return STEPS[STEPS.len() - 1] };
    let place = number as f64 / last as f64 * (STEPS.len() - 1) as f64;
    let below = (place as usize).min(STEPS.len() - 2);
    let part = place - below as f64;
    let mix = |from: u8, to: u8| (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8;
    let (RGBColor(r, g, b), RGBColor(to_r, to_g, to_b)) = (STEPS[below], STEPS[below + 1]);
    RGBColor(mix(r, to_r), mix(g, to_g), mix(b, to_b))
}

impl Picture for LadderPlot {
    fn size(&self) -> (u32, u32) {
        (SIZE.0, SIZE.1.max(frame::height_of_legend(self.lines().count())))
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let names: Vec<String> = self.lines().map(|series| series.name.clone()).collect();
        let rest = frame::draw_with(area, &self.title, &names, |number| self.colour(number))?;
        let all = || self.lines().flat_map(|series| &series.points);
        let (x, y) = (Axis::powers_of_two(all().map(|point| point.0)), Axis::linear(all().map(|point| point.1)));
        let (x_marks, y_marks) = (x.marks.len(), y.marks.len());
        let mut builder = ChartBuilder::on(&rest);
        builder.margin(frame::CHART_MARGIN).x_label_area_size(frame::X_LABELS).y_label_area_size(frame::Y_LABELS);
        let mut chart = builder.build_cartesian_2d(x, y)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(self.x_label.clone()).y_desc(self.y_label.clone()).axis_desc_style(frame::text(frame::LABEL));
        mesh.label_style(frame::text(frame::TICK)).x_labels(x_marks).y_labels(y_marks);
        mesh.axis_style(frame::TEXT).bold_line_style(frame::GRID).light_line_style(TRANSPARENT);
        mesh.x_label_formatter(&|x| axis::power_mark(*x)).y_label_formatter(&|y| axis::mark(*y)).draw()?;
        for (number, series) in self.lines().enumerate() {
            let colour = self.colour(number);
            let place = |&(x, y): &(f64, f64)| (x.log2(), y);
            let is_finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
            let points: Vec<_> = series.points.iter().map(place).filter(is_finite).collect();
            if number < self.rungs.len() {
                let width = if number + 1 == self.rungs.len() { 4 } else { 2 };
                chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(width)))?;
                chart.draw_series(points.into_iter().map(|point| Circle::new(point, 3, colour.filled())))?;
            } else {
                chart.draw_series(DashedLineSeries::new(points, 9, 6, colour.stroke_width(3)))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lines_have_one_colour() {
        let series = |count| vec![Series::default(); count];
        let plot = LadderPlot { rungs: series(9), references: series(3), ..LadderPlot::default() };
        let colours: Vec<_> = (0..12).map(|number| plot.colour(number)).collect();
        for (number, colour) in colours.iter().enumerate() {
            assert!(!colours[..number].contains(colour), "{number}");
        }
        assert_eq!([plot.colour(0), plot.colour(8)], [STEPS[0], STEPS[4]]);
        assert_eq!(shade(0, 1), STEPS[4]);
    }

    #[test]
    fn both_formats_are_drawn_whatever_is_in_it() {
        let series = |name: &str, points: &[(f64, f64)]| Series { name: name.to_owned(), points: points.to_vec() };
        let plot = LadderPlot {
            title: "reduce, f32, NVIDIA H200".to_owned(),
            x_label: "elements".to_owned(),
            y_label: "GB/s".to_owned(),
            rungs: vec![series("naive", &[(1024.0, 3.0), (65536.0, 80.0)]), series("odd", &[(0.0, f64::NAN)])],
            references: vec![series("device copy", &[(1024.0, 4.0), (65536.0, 4000.0)]), series("CUB", &[(9.0, 1.0)])],
        };
        let text = super::super::svg(&plot).unwrap();
        for part in ["reduce, f32, NVIDIA H200", "naive", "device copy", "CUB", "elements", "GB/s"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(super::super::png(&plot).is_ok() && super::super::png(&LadderPlot::default()).is_ok());
    }
}
