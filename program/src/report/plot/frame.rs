//! The frame of every plot: background, title, legend, and the styles of texts.

use anyhow::anyhow;
use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle, WHITE, register_font as register};

use super::{Drawn, colour};

/// The family under which the typeface is registered. An SVG names it, and the viewer chooses the typeface.
const FAMILY: &str = "sans-serif";

pub(super) const TEXT: RGBColor = RGBColor(34, 34, 34);
pub(super) const GRID: RGBColor = RGBColor(225, 225, 225);

/// Heights of text, in pixels.
pub(super) const TITLE: i32 = 24;
pub(super) const LABEL: i32 = 19;
pub(super) const TICK: i32 = 17;

const MARGIN: i32 = 16;
const SWATCH: i32 = 22;
const LEGEND_LINE: i32 = TICK + 9;

/// Pixels that the title takes at the top.
pub(super) const TOP: u32 = (2 * MARGIN + TITLE) as u32;

/// Pixels around a chart, and at its axes for their marks and descriptions.
pub(super) const CHART_MARGIN: u32 = 10;
pub(super) const X_LABELS: u32 = 60;
pub(super) const Y_LABELS: u32 = 88;

/// Returns the height of a picture that has room for a legend of this many names.
pub(super) fn height_of_legend(names: usize) -> u32 {
    TOP + MARGIN as u32 + u32::try_from(names).unwrap_or(u32::MAX).min(600) * LEGEND_LINE as u32
}

/// Registers the typeface with the drawing library. Repeated calls do no harm.
pub(super) fn register_font() -> anyhow::Result<()> {
    let bytes = include_bytes!("../../../assets/roboto/Roboto-Regular-subset.ttf");
    register(FAMILY, FontStyle::Normal, bytes).map_err(|_| anyhow!("the plots' typeface cannot be read"))
}

/// Returns the style of text that is `height` pixels high.
pub(super) fn text(height: i32) -> TextStyle<'static> {
    (FAMILY, height).into_font().color(&TEXT)
}

/// Returns the approximate width of a text in pixels.
fn width(content: &str, height: i32) -> i32 {
    // If the typeface cannot be measured: the average width of a letter.
    let guess = || content.chars().count() as i32 * height * 6 / 10;
    (FAMILY, height).into_font().box_size(content).map_or_else(|_| guess(), |(width, _)| width as i32)
}

/// Paints the background, the title and, to the right, a legend of `names`. Returns the remaining area.
pub(super) fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    names: &[String],
) -> Drawn<B, DrawingArea<B, Shift>> {
    draw_with(area, title, names, colour)
}

/// The same, with the colour that `colour` gives for a name's number.
pub(super) fn draw_with<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    title: &str,
    names: &[String],
    colour: impl Fn(usize) -> RGBColor,
) -> Drawn<B, DrawingArea<B, Shift>> {
    area.fill(&WHITE)?;
    let (full_width, _) = area.dim_in_pixel();
    // A title that is too long is drawn smaller.
    let room = full_width as i32 - 2 * MARGIN;
    let height = if width(title, TITLE) > room { (TITLE * room / width(title, TITLE).max(1)).max(10) } else { TITLE };
    let middle = text(height).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(title.to_owned(), (full_width as i32 / 2, MARGIN + TITLE / 2), middle))?;
    let legend = match names.iter().map(|name| width(name, TICK)).max() {
        Some(widest) => widest + SWATCH + 3 * MARGIN / 2,
        None => MARGIN,
    };
    let (_, below) = area.split_vertically(TOP as i32);
    let (rest, beside) = below.split_horizontally(full_width as i32 - legend);
    for (number, name) in names.iter().enumerate() {
        let y = MARGIN + number as i32 * LEGEND_LINE;
        let swatch = [(0, y - 5), (SWATCH - 7, y + 5)];
        beside.draw(&Rectangle::new(swatch, colour(number).filled()))?;
        let left = text(TICK).pos(Pos::new(HPos::Left, VPos::Center));
        beside.draw(&Text::new(name.clone(), (SWATCH, y), left))?;
    }
    Ok(rest)
}
