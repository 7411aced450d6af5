//! `host explain`: shows what the memory system of a GPU would do for a kernel.
//!
//! The library [`explain`] computes the figures and sentences, and [`workbench::subjects`] finds kernels by their
//! names.

mod choice;
pub mod command;
