//! The back end for NVIDIA GPUs, through `cust`.

mod backend;
mod background;
mod bare;
mod code;
mod context;
mod discovery;
mod events;
mod gpu;
mod graphs;
mod ipc;
mod kernels;
mod memory;
mod modules;
mod page_locked;
mod peers;
mod pool;
mod staging;
mod streams;
mod sys;

pub(crate) use code::compile;
pub(crate) use discovery::gpus;
pub(crate) use gpu::open;
