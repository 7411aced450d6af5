//! Life's files, pictures and animation, and its command.

pub mod command;
pub mod format;
pub mod picture;

mod animation;
mod engine;
mod files;
mod rule;
mod run;
mod start;
mod summary;
