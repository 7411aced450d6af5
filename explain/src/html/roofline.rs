//! Draws the rungs under the roofs of the GPU, and of the machines whose memory was measured.

use std::fmt::Write;

use super::escaped;
use crate::explanation::Explanation;
use crate::gpus::{Gpu, SpeedSource};
use crate::roofline::Roofline;
use crate::summary::Summary;

/// The width and height of the drawing.
const SIZE: (f64, f64) = (720.0, 340.0);
/// The left, right, upper and lower edge of the plot.
const PLOT: (f64, f64, f64, f64) = (64.0, 700.0, 16.0, 292.0);
/// Points whose distance is at most this share one label.
const NEAR: f64 = 9.0;
/// The width of a character of a label, at most, and the height of a line.
const CHARACTER: (f64, f64) = (7.5, 14.0);

/// The logarithmic axes: from and to a power of 2 of instructions per sector, and of 10⁹ instructions per second.
struct Axes {
    x: (i32, i32),
    y: (i32, i32),
}

impl Axes {
    /// Returns axes on which all points, and the ends of the slopes, have a place.
    fn of(points: &[(f64, f64)], roofs: &[Roofline]) -> Self {
        let exponents = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.filter(|value| *value > 0.0).map(f64::log2).collect();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if low > high { (0, 1) } else { (low.floor() as i32 - 1, high.ceil() as i32 + 1) }
        };
        let ridges = roofs.iter().map(|roof| roof.peak / roof.sectors_per_second);
        let x = exponents(&mut points.iter().map(|point| point.0).chain(ridges));
        let start = f64::from(x.0).exp2();
        let ends = roofs.iter().flat_map(|roof| [roof.roof(start), roof.peak]);
        let y = exponents(&mut points.iter().map(|point| point.1).chain(ends).map(|rate| rate / 1e9));
        Self { x, y }
    }

    /// Returns the position of a point in the drawing.
    fn at(&self, (intensity, rate): (f64, f64)) -> (f64, f64) {
        let share = |value: f64, (low, high): (i32, i32)| {
            ((value.log2() - f64::from(low)) / f64::from(high - low)).clamp(0.0, 1.0)
        };
        let (left, right, top, bottom) = PLOT;
        let (x, y) = (share(intensity, self.x), share(rate / 1e9, self.y));
        (left + x * (right - left), bottom - y * (bottom - top))
    }

    /// Adds the grid and the labels of the axes.
    fn draw(&self, svg: &mut String) {
        let (left, right, top, bottom) = PLOT;
        for power in self.x.0..=self.x.1 {
            let (x, _) = self.at((f64::from(power).exp2(), 1e9));
            let label = if power < 0 { format!("1/{}", 1u64 << -power) } else { format!("{}", 1u64 << power) };
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {top}V{bottom}\"/><text x=\"{x:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{label}</text>",
                bottom + 16.0
            );
        }
        let step = ((self.y.1 - self.y.0) / 6).max(1) as usize;
        for power in (self.y.0..=self.y.1).step_by(step) {
            let (_, y) = self.at((1.0, 1e9 * f64::from(power).exp2()));
            let label = units::number(f64::from(power).exp2());
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{label}</text>",
                left - 6.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">requests and warp operations per sector</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\">10⁹ per second</text>",
            bottom + 36.0,
            left + 6.0,
            top + 12.0
        );
    }

    /// Adds the roofs of a GPU: the slope of its memory and the level of its load/store units.
    fn roof(&self, svg: &mut String, roof: &Roofline, class: &str) {
        let start = f64::from(self.x.0).exp2();
        let ends = [start, roof.peak / roof.sectors_per_second, f64::from(self.x.1).exp2()];
        let points = ends.map(|x| self.at((x, roof.roof(x)))).map(|(x, y)| format!("{x:.1},{y:.1}"));
        let _ = writeln!(svg, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }
}

/// Adds the drawing, if a rung moves a sector.
pub(super) fn add(page: &mut String, explanation: &Explanation) {
    let point = |roofline: &Roofline| Some((roofline.intensity?, roofline.rate));
    let placed = explanation.rungs.iter().filter_map(|rung| Some((rung.names.rung, point(&rung.roofline)?)));
    let placed: Vec<(&str, (f64, f64))> = placed.filter(|(_, (x, y))| *x > 0.0 && *y > 0.0).collect();
    if placed.is_empty() {
        return;
    }
    let gpu = explanation.gpu;
    let is_other = |there: &&Gpu| there.speed == SpeedSource::MeasuredCopy && there.id != gpu.id;
    let others: Vec<&Gpu> = Gpu::ALL.iter().filter(is_other).collect();
    let roof = |gpu: &Gpu| Roofline::of(&Summary { max_blocks: u64::MAX, ..Summary::default() }, gpu);
    let mut roofs = vec![roof(gpu)];
    roofs.extend(others.iter().map(|gpu| roof(gpu)));
    let axes = Axes::of(&placed.iter().map(|(_, point)| *point).collect::<Vec<_>>(), &roofs);
    let (width, height) = SIZE;
    let mut svg =
        format!("<svg class=\"roofline\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Roofline\">\n");
    axes.draw(&mut svg);
    roofs.iter().skip(1).for_each(|roof| axes.roof(&mut svg, roof, "other"));
    axes.roof(&mut svg, &roofs[0], "roof");
    let labels: Vec<_> = labels(&axes, &placed).into_iter().map(|(at, names)| (at, names.join(", "))).collect();
    for ((at, text), start) in labels.iter().zip(starts(&labels)) {
        let (x, y) = *at;
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{x:.1} {y:.1}L{0:.1} {1:.1}\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>\
             <text class=\"name\" x=\"{0:.1}\" y=\"{1:.1}\">{2}</text>",
            start.0,
            start.1,
            escaped(text)
        );
    }
    svg.push_str("</svg>\n");
    let sources: Vec<String> =
        others.iter().map(|gpu| format!("{} {:.0} GB/s", gpu.name, gpu.gigabytes_per_second)).collect();
    let thin = match sources.is_empty() {
        true => String::new(),
        false => format!(" Thin lines: the measured copies of {}.", sources.join(" and ")),
    };
    let _ = writeln!(
        page,
        "<h2>Roofline</h2>\n{svg}<p class=\"quiet\">The slope is the memory of the {name} ({speed:.0} GB/s, {source}), \
         and the level its load/store units, which begin one instruction of a warp per clock and multiprocessor.{thin} \
         Counted are requests to memory, shuffles, votes and synchronisations of warps; arithmetic is not counted. A \
         rung below the roofs has bank conflicts, or uses one multiprocessor.</p>",
        name = escaped(gpu.name),
        speed = gpu.gigabytes_per_second,
        source = gpu.speed
    );
}

/// Returns the positions of the points, each with the names of the rungs that are there.
fn labels<'a>(axes: &Axes, placed: &[(&'a str, (f64, f64))]) -> Vec<((f64, f64), Vec<&'a str>)> {
    let mut labels: Vec<((f64, f64), Vec<&str>)> = Vec::new();
    for &(name, point) in placed {
        let at = axes.at(point);
        let is_near = |there: (f64, f64)| (there.0 - at.0).hypot(there.1 - at.1) <= NEAR;
        match labels.iter_mut().find(|(there, _)| is_near(*there)) {
            Some((_, names)) => names.push(name),
            None => labels.push((at, vec![name])),
        }
    }
    labels
}

/// Returns the lower left corner of each label: on the right of its point, below it, and below the labels of higher
/// points with which it would overlap.
fn starts(labels: &[((f64, f64), String)]) -> Vec<(f64, f64)> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| labels[a].0.1.total_cmp(&labels[b].0.1));
    let width = |at: usize| CHARACTER.0 * labels[at].1.chars().count() as f64;
    let mut starts = vec![(0.0, f64::NEG_INFINITY); labels.len()];
    for at in order {
        let (x, y) = labels[at].0;
        let (x, mut y) = ((x + 9.0).min(PLOT.1 - width(at)).max(PLOT.0), y + 16.0);
        let overlaps = |there: usize, y: f64| {
            let (left, line): (f64, f64) = starts[there];
            left < x + width(at) && x < left + width(there) && (line - y).abs() < CHARACTER.1
        };
        while let Some(there) = (0..labels.len()).find(|&there| overlaps(there, y)) {
            y = starts[there].1 + CHARACTER.1;
        }
        starts[at] = (x, y);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_keep_their_place_under_the_roofs() {
        let roof = Roofline::of(&Summary { max_blocks: 2, ..Summary::default() }, Gpu::default_gpu());
        let points = [(0.25, roof.roof(0.25)), (8.0, roof.peak)];
        let axes = Axes::of(&points, &[roof]);
        let (left, right, top, bottom) = PLOT;
        for point in points {
            let (x, y) = axes.at(point);
            assert!(left < x && x < right && top < y && y < bottom, "{x} {y}");
        }
        assert!(axes.at(points[0]).0 < axes.at(points[1]).0 && axes.at(points[0]).1 > axes.at(points[1]).1);
        let named = labels(&axes, &[("a", points[0]), ("b", points[0]), ("c", points[1])]);
        assert_eq!(named.iter().map(|(_, names)| names.join("+")).collect::<Vec<_>>(), ["a+b", "c"]);
    }

    #[test]
    fn labels_do_not_overlap() {
        let labels = [(100.0, 100.0), (110.0, 95.0), (690.0, 40.0)].map(|at| (at, "unrolled".to_owned()));
        assert_eq!(starts(&labels), [(109.0, 125.0), (119.0, 111.0), (640.0, 56.0)]);
    }
}
