//! Life's files, pictures and animation, and its command.

pub mod command;
pub mod format;
pub mod picture;
pub mod plaintext;
pub mod rle;

mod animation;
mod engine;
mod files;
mod run;
mod start;
mod summary;
