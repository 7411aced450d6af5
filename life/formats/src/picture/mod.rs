//! Pictures of boards: PNG files are read and written, animated GIF files are written.

mod read;
mod write;

pub use read::parse;
pub use write::{Gif, write_png, write_png_in_parts, zoom};
