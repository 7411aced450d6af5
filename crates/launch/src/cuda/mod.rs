//! The back end for NVIDIA GPUs.
//!
//! # Design
//!
//! The driver's functions are found at run time (`sys/functions.rs`). With the feature `cust`, the crate `cust` makes
//! the context and the device's own stream (`primary_cust.rs` instead of `primary.rs`), and the table of functions has
//! those of `cust` that launch kernels. All else is the same.

mod backend;
mod background;
mod bare;
mod clusters;
mod code;
mod context;
mod discovery;
mod events;
mod foreign;
mod gpu;
mod graphs;
mod ipc;
mod kernels;
mod memory;
mod modules;
mod page_locked;
mod peers;
mod pool;
#[cfg(not(all(feature = "cust", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod primary;
#[cfg(all(feature = "cust", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "primary_cust.rs"]
mod primary;
mod staging;
mod streams;
mod sys;
mod tensor_maps;

pub(crate) use code::compile;
pub(crate) use discovery::gpus;
pub(crate) use foreign::open_context;
pub(crate) use gpu::open;
