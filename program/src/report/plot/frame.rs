//! Draws the frame of every plot: background, title and legend.

use anyhow::anyhow;
use plotters::backend::DrawingBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::DrawingArea;
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TRANSPARENT, TextStyle, WHITE, register_font as register};

use super::Drawn;
use super::axis::Axis;

/// The font family under which the typeface is registered. An SVG file names this family, and the viewer chooses a
/// typeface.
const FAMILY: &str = "sans-serif";

const TEXT: RGBColor = RGBColor(34, 34, 34);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// The height of the title's text, in pixels.
const TITLE: i32 = 24;
/// The height of the axes' labels, in pixels.
const LABEL: i32 = 19;
/// The height of the texts of marks and legends, in pixels.
pub(super) const TICK: i32 = 17;

const MARGIN: i32 = 16;
const SWATCH: i32 = 22;
const LEGEND_LINE: i32 = TICK + 9;

/// The height of the title at the top of a plot, in pixels.
pub(super) const TOP: u32 = (2 * MARGIN + TITLE) as u32;

/// The margin around a chart, in pixels.
pub(super) const CHART_MARGIN: u32 = 10;
/// The height of the space below a chart for marks and the label, in pixels.
pub(super) const X_LABELS: u32 = 60;
/// The width of the space beside a chart for marks and the label, in pixels.
const Y_LABELS: u32 = 88;

/// Returns the height of a picture that has room for a legend with `names` names.
pub(super) fn height_of_legend(names: usize) -> u32 {
    TOP + MARGIN as u32 + u32::try_from(names).unwrap_or(u32::MAX).min(600) * LEGEND_LINE as u32
}

/// Registers the typeface with the drawing library. Repeated calls do no harm.
pub(super) fn register_font() -> anyhow::Result<()> {
    let bytes = include_bytes!("../../../assets/roboto/Roboto-Regular-subset.ttf");
    register(FAMILY, FontStyle::Normal, bytes).map_err(|_| anyhow!("the plots' typeface cannot be read"))
}

/// Returns the style of text that is `height` pixels high.
fn text(height: i32) -> TextStyle<'static> {
    (FAMILY, height).into_font().color(&TEXT)
}

/// Returns the approximate width of a text in pixels.
fn width(content: &str, height: i32) -> i32 {
    // The width if the typeface cannot be measured, from the average width of a letter.
    let guess = || content.chars().count() as i32 * height * 6 / 10;
    (FAMILY, height).into_font().box_size(content).map_or_else(|_| guess(), |(width, _)| width as i32)
}

/// Paints the background, the title and, at the right, a legend of names with their colours. Returns the area that
/// remains for the chart.
pub(super) fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    legend: &[(String, RGBColor)],
) -> Drawn<B, DrawingArea<B, Shift>> {
    area.fill(&WHITE)?;
    let (full_width, _) = area.dim_in_pixel();
    // A title that is too long is drawn smaller.
    let room = full_width as i32 - 2 * MARGIN;
    let height = if width(title, TITLE) > room { (TITLE * room / width(title, TITLE).max(1)).max(10) } else { TITLE };
    let middle = text(height).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(title.to_owned(), (full_width as i32 / 2, MARGIN + TITLE / 2), middle))?;
    let legend_width = match legend.iter().map(|(name, _)| width(name, TICK)).max() {
        Some(widest) => widest + SWATCH + 3 * MARGIN / 2,
        None => MARGIN,
    };
    let (_, below) = area.split_vertically(TOP as i32);
    let (rest, beside) = below.split_horizontally(full_width as i32 - legend_width);
    for (number, (name, colour)) in legend.iter().enumerate() {
        let y = MARGIN + number as i32 * LEGEND_LINE;
        let swatch = [(0, y - 5), (SWATCH - 7, y + 5)];
        beside.draw(&Rectangle::new(swatch, colour.filled()))?;
        let left = text(TICK).pos(Pos::new(HPos::Left, VPos::Center));
        beside.draw(&Text::new(name.clone(), (SWATCH, y), left))?;
    }
    Ok(rest)
}

/// Draws the x and y axes with their labels, and returns the chart. `x_text` and `y_text` return the texts of the
/// marks.
pub(super) fn chart<'a, B: DrawingBackend>(
    area: &'a DrawingArea<B, Shift>,
    axes: [Axis; 2],
    [x_label, y_label]: [&str; 2],
    [x_text, y_text]: [&dyn Fn(&f64) -> String; 2],
    has_y_grid: bool,
) -> Drawn<B, ChartContext<'a, B, Cartesian2d<Axis, Axis>>> {
    let [x_marks, y_marks] = [0, 1].map(|axis| axes[axis].marks.len());
    let [x, y] = axes;
    let mut builder = ChartBuilder::on(area);
    builder.margin(CHART_MARGIN).x_label_area_size(X_LABELS).y_label_area_size(Y_LABELS);
    let mut chart = builder.build_cartesian_2d(x, y)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(x_label).y_desc(y_label).axis_desc_style(text(LABEL)).label_style(text(TICK));
    mesh.x_labels(x_marks).y_labels(y_marks).axis_style(TEXT).bold_line_style(GRID).light_line_style(TRANSPARENT);
    if !has_y_grid {
        mesh.disable_y_mesh();
    }
    mesh.x_label_formatter(x_text).y_label_formatter(y_text).draw()?;
    Ok(chart)
}
