//! `host life`: Life's boards advanced, watched, recorded, searched and counted.

pub mod command;
pub mod memory;

mod agree;
mod animation;
mod begin;
mod cells;
mod census;
mod checkpoint;
mod cores;
mod duty;
mod engine;
mod files;
mod frames;
mod growth;
mod long_run;
mod place;
mod recording;
mod run;
mod setting;
mod shape;
mod stable;
mod start;
mod stats;
mod summary;
