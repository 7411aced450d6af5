//! Reads and writes pictures of boards (PNG), and writes animated pictures (GIF).

mod read;
mod write;

pub use read::parse;
pub use write::{Gif, write_png, write_png_in_parts, zoom};
