//! Life's files, pictures and animation, and its command.

pub mod command;
pub mod format;
pub mod picture;
pub mod plaintext;
pub mod rle;

mod animation;
mod census;
mod checkpoint;
mod duty;
mod engine;
mod files;
mod long_run;
mod memory;
mod recording;
mod run;
mod stable;
mod start;
mod stats;
mod summary;
