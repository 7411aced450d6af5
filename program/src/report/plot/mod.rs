//! Writes plots as files: lines over an axis, ladders, and timelines.
//!
//! The extension of the file chooses the format, SVG or PNG. Both have an opaque light background, dark text, and
//! colours that differ for any colour vision. A transparent plot would need middle tones, which stand out on neither a
//! light nor a dark page.
//!
//! The program contains the typeface for text in PNG files. SVG files name the viewer's sans-serif typeface. Neither
//! format needs a font that is installed on this machine.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::RGBColor;

use crate::error::UsageError;
use crate::files::WholeFile;
use crate::report;

mod axis;
mod frame;
mod ladder_plot;
mod line_plot;
mod timeline;

pub use ladder_plot::LadderPlot;
pub use line_plot::{LinePlot, Series};
pub use timeline::{Bar, Timeline};

/// The colours of the series, after M. Okabe and K. Ito. Further series use the colours again from the start.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// Returns the colour of a series.
fn colour(number: usize) -> RGBColor {
    COLOURS[number % COLOURS.len()]
}

/// The option `--plot FILE` of a command.
#[derive(Args, Clone, Debug)]
pub struct PlotOption {
    /// Also plot the result, into a .svg or .png file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl PlotOption {
    /// Fails if the plot cannot be written. Commands call this before long work.
    ///
    /// # Errors
    /// [`UsageError`] unless the extension is `.svg` or `.png`; another error if the file cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        self.plot.as_deref().map_or(Ok(()), check)
    }

    /// Writes the plot if the option names a file, and prints its path on standard error.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn draw<P: Picture>(&self, picture: impl FnOnce() -> P) -> anyhow::Result<()> {
        if let Some(path) = &self.plot {
            write(path, &picture())?;
            report::note(&format!("wrote {}", WholeFile::new(path)));
        }
        Ok(())
    }
}

/// Fails if a plot cannot be written to `path`.
///
/// # Errors
/// [`UsageError`] unless the extension is `.svg` or `.png`; another error if the file cannot be written.
pub fn check(path: &Path) -> anyhow::Result<()> {
    Format::of(path)?;
    WholeFile::new(path).check()
}

/// A picture that can be drawn.
pub trait Picture {
    /// Returns the width and height in pixels.
    fn size(&self) -> (u32, u32);

    /// Draws the picture on `area`, which has the size that [`size`](Self::size) returns.
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn<B>;
}

/// The result of drawing on a back end of the drawing library.
pub type Drawn<B, T = ()> = Result<T, DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// The format of a plot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Svg,
    Png,
}

impl Format {
    fn of(path: &Path) -> Result<Self, UsageError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            _ => {
                let text = format!("--plot: '{}' has no known extension: use .svg or .png", path.display());
                Err(UsageError(text))
            }
        }
    }
}

/// Writes `picture` to `path`, whole or not at all.
///
/// # Errors
/// [`UsageError`] unless `path` ends in `.svg` or `.png`; another error if the file cannot be written.
pub fn write(path: &Path, picture: &impl Picture) -> anyhow::Result<()> {
    let format = Format::of(path)?;
    let file = WholeFile::new(path);
    let mut out = file.create()?;
    let bytes = match format {
        Format::Svg => svg(picture)?.into_bytes(),
        Format::Png => png(picture)?,
    };
    out.write_all(&bytes).with_context(|| file.failed())?;
    file.keep(out)
}

fn svg(picture: &impl Picture) -> anyhow::Result<String> {
    frame::register_font()?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, picture.size()).into_drawing_area();
        draw(picture, &area)?;
    }
    Ok(text)
}

fn png(picture: &impl Picture) -> anyhow::Result<Vec<u8>> {
    frame::register_font()?;
    let (width, height) = picture.size();
    let mut pixels = vec![0; 3 * width as usize * height as usize];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        draw(picture, &area)?;
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().context("cannot draw the plot")?;
    writer.write_image_data(&pixels).context("cannot draw the plot")?;
    writer.finish().context("cannot draw the plot")?;
    Ok(bytes)
}

fn draw<B: DrawingBackend>(picture: &impl Picture, area: &DrawingArea<B, Shift>) -> anyhow::Result<()> {
    let done = picture.draw(area).and_then(|()| area.present());
    done.map_err(|error| anyhow!("cannot draw the plot: {error}"))
}

#[cfg(test)]
mod tests;
