//! `host explain`: what the memory system of a GPU would do for one of our kernels.
//!
//! The library [`explain`] has the figures and their sentences, [`workbench::subjects`] the kernels by name.

pub mod command;
