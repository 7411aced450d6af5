//! An NVIDIA GPU as a device, through `cust`.

mod discovery;
mod gpu;
mod memory;
mod modules;
mod page_locked;
mod streams;
mod sys;

pub(crate) use discovery::gpus;
pub(crate) use gpu::GpuDevice;
pub(crate) use memory::DeviceMemory;
pub(crate) use page_locked::PageLockedMemory;
pub(crate) use streams::{GpuEvent, GpuStream};
pub(crate) use sys::PageLock;
