//! `host explain`: what the memory system of a GPU would do for a kernel.
//!
//! A kernel runs in the simulator as its algorithm runs it, on a device with as many multiprocessors as the GPU that it is
//! explained for, and the simulator's profiler counts requests, sectors, wavefronts and branches at each place of the source.
//! From these follow the [`figures`] of a kernel, what they mean in words, the [`summary`] of a rung and what it changes, the
//! [`occupancy`] and the floor on one of the [`gpus`].

pub mod command;
pub mod explanation;
pub mod figures;
pub mod gpus;
pub mod occupancy;
pub mod resources;
pub mod sites;
pub mod sources;
pub mod subjects;
pub mod summary;

mod html;
mod meaning;
mod text;
