//! Life's files, pictures and animation, and its command.

pub mod command;
pub mod format;
pub mod memory;
pub mod picture;

mod animation;
mod cells;
mod census;
mod checkpoint;
mod duty;
mod engine;
mod files;
mod growth;
mod long_run;
mod recording;
mod run;
mod setting;
mod stable;
mod start;
mod stats;
mod summary;
