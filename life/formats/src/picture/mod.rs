//! Pictures of boards: reads and writes PNG, writes animated GIF.

mod read;
mod write;

pub use read::parse;
pub use write::{Gif, write_png, write_png_in_parts, zoom};
