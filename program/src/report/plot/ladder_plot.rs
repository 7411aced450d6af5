//! Draws the plot of a ladder: a line for each rung over the size of the problem, and lines for comparison.

use std::cmp::Ordering;

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::style::RGBColor;

use super::line_plot::{self, Line};
use super::{Drawn, Picture, Series};

/// The colours of the rungs, from the plainest to the last. They go from light to dark, so that their order is visible
/// for any colour vision.
const STEPS: [RGBColor; 5] = [
    RGBColor(232, 178, 38),
    RGBColor(120, 186, 80),
    RGBColor(38, 148, 138),
    RGBColor(50, 96, 150),
    RGBColor(68, 8, 92),
];

/// The colours of the reference lines, which are dashed. No rung has one of these colours.
const REFERENCES: [RGBColor; 3] = [RGBColor(120, 120, 120), RGBColor(205, 40, 30), RGBColor(20, 20, 20)];

/// A plot of a line per rung, and of lines for comparison, over the size of a problem. The x axis has powers of two.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LadderPlot {
    /// The title, with the name of the device.
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
    /// Returns the colour of line `number`, counted over the rungs and then the references.
    fn colour(&self, number: usize) -> RGBColor {
        match number.checked_sub(self.rungs.len()) {
            Some(reference) => REFERENCES[reference % REFERENCES.len()],
            None => shade(number, self.rungs.len()),
        }
    }
}

/// Returns the colour of rung `number` of `count`, interpolated between the colours of [`STEPS`].
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
        line_plot::size(self.rungs.len() + self.references.len())
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        let line = |(number, series): (usize, _)| {
            let (width, markers) = match (number + 1).cmp(&self.rungs.len()) {
                Ordering::Less => (2, Some(3)),
                Ordering::Equal => (4, Some(3)),
                Ordering::Greater => (3, None),
            };
            Line { series, colour: self.colour(number), width, markers }
        };
        let lines: Vec<Line<'_>> = self.rungs.iter().chain(&self.references).enumerate().map(line).collect();
        line_plot::draw(area, &self.title, [&self.x_label, &self.y_label], true, &lines)
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
