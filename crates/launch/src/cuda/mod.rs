//! An NVIDIA GPU as a device, through `cust`.

mod bare;
mod discovery;
mod gpu;
mod graphs;
mod kernels;
mod memory;
mod modules;
mod page_locked;
mod streams;
mod sys;

pub(crate) use bare::BareGpuLaunch;
pub(crate) use discovery::gpus;
pub(crate) use gpu::GpuDevice;
pub(crate) use graphs::{GpuGraph, GpuWork};
pub(crate) use memory::DeviceMemory;
pub(crate) use page_locked::PageLockedMemory;
pub(crate) use streams::{GpuEvent, GpuStream};
pub(crate) use sys::PageLock;
